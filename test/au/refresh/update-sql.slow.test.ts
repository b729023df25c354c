import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended, succeeded } from '../../support/run-here.ts';
import { SQL_DIALECTS, type SqlDialect, updateScript } from '../../../src/au/refresh/update-sql.ts';
import { HAS_MARIADB, MariaDb } from '../../support/mariadb.ts';
import { Postgres, POSTGRES_PROGRAMS } from '../../support/postgres.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const UUIDS = [1, 2, 3, 4, 5].map((at) => `0b7e2f5a-6f0d-4c57-9d0a-1f6f0f3c1a0${at}`);
const [A = '', B = '', C = '', D = '', GONE = ''] = UUIDS;

function next(token: string): string {
  return token.replace('0b7e', 'ffff');
}

function scriptOf(dialect: SqlDialect, more: readonly string[] = []): string {
  const { head, line, foot } = updateScript(dialect);
  const rows = [
    [A, '2030', '4'],
    [B, '', ''],
    [C, '31', '05'],
    [GONE, '31', '05'],
    ...more.map((token) => [token, '', '']),
  ].map(([token = '', year = '', month = '']) =>
    line({ token, new_token: next(token), new_expiration_year: year, new_expiration_month: month }),
  );
  return head + rows.join('') + foot;
}

const CARDS = [A, B, C, D].map((token) => `('${token}', '27', '01')`).join(', ');

function expected(year: (two: number) => string, month: (one: number) => string): string[] {
  return [[D, 27, 1] as const, [next(A), 30, 4] as const, [next(B), 27, 1] as const, [next(C), 31, 5] as const].map(
    ([token, y, m]) => `${token}|${year(y)}|${month(m)}`,
  );
}

it.each(SQL_DIALECTS)('todo/update.sql for %s has both parts of a new date or none', (dialect) => {
  const { line } = updateScript(dialect);
  const lineOf = (year: string, month: string): string =>
    line({ token: A, new_token: B, new_expiration_year: year, new_expiration_month: month });
  for (const [year = '', month = ''] of [
    ['2031', '13'],
    ['unknown', '5'],
    ['31', ''],
    ['', '5'],
    ['1931', '5'],
  ])
    expect(lineOf(year, month)).toBe(lineOf('', ''));
  expect(lineOf('2031', '5')).toContain('31');
  expect(lineOf('2031', '5')).toBe(lineOf('31', '05'));
});

describe.skipIf(POSTGRES_PROGRAMS === undefined)('todo/update.sql for PostgreSQL', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await Postgres.start();
  });
  afterAll(() => postgres.stop());

  it.each([
    ['text', 'text', 'text', (y: number) => `${y}`, (m: number) => `0${m}`],
    ['uuid and integer', 'uuid', 'integer', (y: number) => `${y}`, (m: number) => `${m}`],
    ['varchar and char', 'varchar(36)', 'char(2)', (y: number) => `${y}`, (m: number) => `0${m}`],
    ['uuid and smallint', 'uuid', 'smallint', (y: number) => `${y}`, (m: number) => `${m}`],
  ])('todo/update.sql updates columns of the types %s once', async (_, token, number, year, month) => {
    await postgres.lines('DROP TABLE IF EXISTS cards');
    await postgres.lines(
      `CREATE TABLE cards (token ${token}, expiration_year ${number}, expiration_month ${number}); INSERT INTO cards VALUES ${CARDS}`,
    );
    const rows = (): Promise<string[]> => postgres.lines('SELECT * FROM cards ORDER BY token');
    ended(await postgres.run(scriptOf('postgres')), 0, {
      stdout: '3 updated, 0 already applied, 1 not found\n',
      stderr: '',
    });
    expect(await rows()).toEqual(expected(year, month));
    ended(await postgres.run(scriptOf('postgres')), 0, { stdout: '0 updated, 3 already applied, 1 not found\n' });
    expect(await rows()).toEqual(expected(year, month));
  });

  it('todo/update.sql keeps years of four digits, and changes nothing where a token matches twice', async () => {
    await postgres.lines('DROP TABLE IF EXISTS cards');
    const values = [A, B, C, D].map((token) => `('${token}', 2027, 1)`).join(', ');
    await postgres.lines(
      `CREATE TABLE cards (token uuid, expiration_year int, expiration_month int); INSERT INTO cards VALUES ${values}`,
    );
    const before = await postgres.lines('SELECT * FROM cards ORDER BY token');
    ended(await postgres.run(scriptOf('postgres', [A])), 3, 'a token matches twice; nothing was updated', {
      stdout: '',
    });
    expect(await postgres.lines('SELECT * FROM cards ORDER BY token')).toEqual(before);
    succeeded(await postgres.run(scriptOf('postgres')));
    expect(await postgres.lines('SELECT * FROM cards ORDER BY token')).toEqual(
      expected(
        (y) => `20${y}`,
        (m) => `${m}`,
      ),
    );
  });
});

const hasSqlite = spawnSync('sqlite3', ['--version']).status === 0;

it.skipIf(!hasSqlite).each([
  ['text', (y: number) => `${y}`, (m: number) => `0${m}`],
  ['integer', (y: number) => `${y}`, (m: number) => `${m}`],
])(
  'todo/update.sql for SQLite updates a table with %s columns once, and nothing where a token matches twice',
  (type, year, month) => {
    const directory = temporaryDirectory();
    const run = (input: string) => spawnSync('sqlite3', [join(directory, 'cards.db')], { input, encoding: 'utf8' });
    run(
      `CREATE TABLE cards (token text, expiration_year ${type}, expiration_month ${type}); INSERT INTO cards VALUES ${CARDS};`,
    );
    const rows = (): string[] => run('SELECT * FROM cards ORDER BY token;').stdout.trim().split('\n');
    const before = rows();
    expect(run(scriptOf('sqlite', [A])).status).not.toBe(0);
    expect(rows()).toEqual(before);
    expect(run(scriptOf('sqlite'))).toMatchObject({ status: 0, stdout: '3 updated\n', stderr: '' });
    expect(rows()).toEqual(expected(year, month));
    expect(run(scriptOf('sqlite'))).toMatchObject({ status: 0, stdout: '0 updated\n' });
    expect(rows()).toEqual(expected(year, month));
  },
);

describe.skipIf(!HAS_MARIADB)('todo/update.sql for MariaDB', () => {
  let mariaDb: MariaDb;
  beforeAll(async () => {
    mariaDb = await MariaDb.start();
  });
  afterAll(() => mariaDb.stop());

  const run = (statements: string) => mariaDb.run(statements, '--skip-column-names');

  it.each([
    ['char(36)', 'int', (y: number) => `${y}`, (m: number) => `${m}`],
    ['uuid', 'smallint', (y: number) => `${y}`, (m: number) => `${m}`],
    ['varchar(64)', 'char(2)', (y: number) => `${y}`, (m: number) => `0${m}`],
  ])(
    'todo/update.sql updates a table of %s and %s once, and nothing where a token matches twice',
    (token, number, year, month) => {
      run(`DROP TABLE IF EXISTS cards; CREATE TABLE cards (token ${token}, expiration_year ${number}, expiration_month ${number});
      INSERT INTO cards VALUES ${CARDS};`);
      const rows = (): string[] =>
        run('SELECT * FROM cards ORDER BY token;').stdout.trim().replaceAll('\t', '|').split('\n');
      const before = rows();
      expect(before).toHaveLength(4);
      const twice = run(scriptOf('mysql', [A]));
      expect(twice.status).not.toBe(0);
      expect(twice.stderr).toContain('a_token_matches_twice');
      expect(rows()).toEqual(before);
      const first = run(scriptOf('mysql'));
      expect(first).toMatchObject({ status: 0, stdout: '3 updated\n' });
      expect(rows().toSorted()).toEqual(expected(year, month).toSorted());
      expect(run(scriptOf('mysql'))).toMatchObject({ status: 0, stdout: '0 updated\n' });
      expect(rows().toSorted()).toEqual(expected(year, month).toSorted());
    },
  );
});
