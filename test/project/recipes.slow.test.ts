import { DuckDBInstance } from '@duckdb/node-api';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { HAS_MARIADB, MariaDb } from '../support/mariadb.ts';
import { Postgres, POSTGRES_PROGRAMS } from '../support/postgres.ts';
import { type Block, readBlocks } from '../support/readme-blocks.ts';
import { succeeded, svcHere } from '../support/run-here.ts';
import { temporaryDirectory } from '../support/directory.ts';

const PAGE = fileURLToPath(new URL('../../docs/exports-and-results.md', import.meta.url));
const recipes = readBlocks(readFileSync(PAGE, 'utf8')).filter(({ marks }) => marks[0] === 'export');

const A = '0b7e2f5a-6f0d-4c57-9d0a-1f6f0f3c1a01';
const B = '5c1d9a34-8a57-4a0e-b1b4-7d2e9c4f2b02';
const C = 'e2a4c6d8-3b5f-4e1a-8c7d-9f0b1a2c3d03';
const TABLE = `CREATE TABLE cards (token varchar(36), expiration_year int, expiration_month int, merchant_id varchar(20), customer varchar(40));
INSERT INTO cards VALUES ('${A}', 2031, 5, '007', 'Monitor 24"'), ('${B}', 2030, 11, NULL, '"Ann", Bob'), ('${C}', 2032, 1, '12', 'Caf\u00e9');
`;
const FILE = `token,expiration_year,expiration_month,merchant_id,customer
${A},2031,05,007,"Monitor 24"""
${B},2030,11,,"""Ann"", Bob"
${C},2032,01,12,Caf\u00e9
`;

function shell(script: string, cwd: string, env: Readonly<Record<string, string>> = {}): void {
  execFileSync('bash', ['-ec', script], {
    cwd,
    stdio: 'pipe',
    env: { PATH: '/usr/bin:/bin', HOME: cwd, LANG: 'C.UTF-8', ...env },
  });
}

function has(program: string, ...argv: readonly string[]): boolean {
  return spawnSync(program, argv, { stdio: 'ignore' }).status === 0;
}

interface Runner {
  readonly isThere: boolean;
  readonly run: (text: string, cwd: string) => unknown;
}

const RUNNERS: Readonly<Record<string, Runner>> = {
  postgres: {
    isThere: POSTGRES_PROGRAMS !== undefined,
    async run(text, cwd) {
      const postgres = await Postgres.start();
      onTestFinished(() => postgres.stop());
      await postgres.run(TABLE);
      shell(text, cwd, postgres.env);
    },
  },
  sqlite: {
    isThere: has('sqlite3', '-version'),
    run(text, cwd) {
      writeFileSync(join(cwd, 'table.sql'), TABLE);
      shell(`sqlite3 cards.db < table.sql\n${text}`, cwd);
    },
  },
  duckdb: {
    isThere: true,
    async run(text, cwd) {
      const connection = await (
        await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' })
      ).connect();
      for (const statement of `${TABLE}${text.replace("'export.csv'", `'${join(cwd, 'export.csv')}'`)}`.split(';\n'))
        if (statement.trim() !== '') await connection.run(statement);
    },
  },
  mariadb: {
    isThere: HAS_MARIADB,
    async run(text, cwd) {
      const mariaDb = await MariaDb.start();
      onTestFinished(() => mariaDb.stop());
      mariaDb.run(TABLE);
      writeFileSync(join(cwd, '.my.cnf'), `[client]\nsocket=${mariaDb.socket}\nuser=root\n`);
      shell(text, cwd);
    },
  },
  pandas: {
    isThere: has('/usr/bin/python3', '-c', 'import pandas'),
    run: (text, cwd) => execFileSync('/usr/bin/python3', ['-c', text], { cwd, stdio: 'pipe' }),
  },
  r: {
    isThere: has('Rscript', '--version'),
    run: (text, cwd) =>
      execFileSync('Rscript', ['-e', text], { cwd, stdio: 'pipe', env: { ...process.env, LANG: 'C.UTF-8' } }),
  },
};

it('exports-and-results.md has a recipe for each tool that the tests here run', () => {
  expect(recipes.map(({ marks: [, name = ''] }) => name).toSorted()).toEqual(Object.keys(RUNNERS).toSorted());
});

for (const { marks, text } of recipes as readonly Block[]) {
  const { isThere, run } = RUNNERS[marks[1] ?? ''] ?? { isThere: false, run: () => undefined };
  it.skipIf(!isThere)(
    `svc au prepare reads what the recipe of exports-and-results.md for ${marks[1]} writes`,
    async () => {
      const cwd = temporaryDirectory();
      writeFileSync(join(cwd, 'cards.csv'), FILE);
      await run(text, cwd);
      const options = marks.includes('no-quotes') ? ['--no-quotes'] : [];
      const words = ['au', 'prepare', 'export.csv', '--keep', 'customer', '--out', 'tokens.csv', ...options];
      succeeded(await svcHere(words, { cwd, home: cwd }));
      const rows = (name: string): string[] => readFileSync(join(cwd, name), 'utf8').trimEnd().split('\n').slice(1);
      expect(rows('tokens.csv')).toEqual([`${A},31,05,007`, `${B},30,11,`, `${C},32,01,12`]);
      expect(rows('tokens.keep.csv')).toEqual([`1,${A},"Monitor 24"""`, `2,${B},"""Ann"", Bob"`, `3,${C},Caf\u00e9`]);
    },
  );
}
