import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { updateScript } from '../../src/au/refresh/update-sql.ts';
import { openQuickDesk } from '../au/commands/support.ts';
import { Postgres, POSTGRES_PROGRAMS } from '../support/postgres.ts';
import { type Block, readBlocks } from '../support/readme-blocks.ts';
import { type Finished, finished } from '../support/svc.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { succeeded } from '../support/run-here.ts';

const PAGE = fileURLToPath(new URL('../../docs/exports-and-results.md', import.meta.url));
const HEADER = 'token,new_token,new_expiration_year,new_expiration_month,result_code\n';
const DECEMBER = `${HEADER}a,a2,2030,4,UPD_ACCT_NUMBER\nb,b2,,,UPD_ACCT_NUMBER\nc,c2,31,05,UPD_ACCT_NUMBER\n`;
const JANUARY = `${HEADER}a2,a3,32,11,UPD_ACCT_NUMBER\n`;

const why = POSTGRES_PROGRAMS === undefined ? ' (skipped: postgresql is not installed)' : '';

function blockOf(wanted: (block: Block) => boolean): string {
  const found = readBlocks(readFileSync(PAGE, 'utf8')).filter(wanted);
  expect(found).toHaveLength(1);
  return found[0]?.text ?? '';
}

/** Returns the rows of a CSV file without quotes, below its header. */
function linesOf(file: string): string[][] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.slice(1).map((line) => line.split(','));
}

describe.skipIf(POSTGRES_PROGRAMS === undefined)(`the update of a table of cards about results${why}`, () => {
  let top: string;
  let script: string;
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await Postgres.start();
    top = temporaryDirectory();
    script = join(top, 'update.sql');
  });
  afterAll(() => postgres.stop());
  beforeEach(async () => {
    await postgres.lines('DROP TABLE IF EXISTS cards');
    await postgres.lines('CREATE TABLE cards (customer text, token text, expiration_year text, expiration_month text)');
    await insert('a', 'b', 'c', 'd');
  });

  async function insert(...tokens: readonly string[]): Promise<void> {
    const values = tokens.map((token) => `('customer of ${token}', '${token}', '27', '01')`);
    await postgres.lines(`INSERT INTO cards VALUES ${values.join(', ')}`);
  }

  function cards(): Promise<string[]> {
    return postgres.lines('SELECT token, expiration_year, expiration_month FROM cards ORDER BY customer, token');
  }

  function writeScript(replace: string): void {
    const { head, line, foot } = updateScript('postgres');
    const rows = replace.trimEnd().split('\n').slice(1);
    const lines = rows.map((row) => {
      const [token = '', new_token = '', new_expiration_year = '', new_expiration_month = ''] = row.split(',');
      return line({ token, new_token, new_expiration_year, new_expiration_month });
    });
    writeFileSync(script, head + lines.join('') + foot);
  }

  function update(replace: string): Promise<Finished> {
    writeScript(replace);
    return postgres.run('', '-f', script);
  }

  /** Begins a transaction with a statement, and returns how to commit it. */
  async function begin(statement: string): Promise<() => Promise<void>> {
    const session = postgres.start();
    session.stdin.write(`BEGIN;\n${statement};\n\\echo begun\n`);
    await once(session.stdout, 'data');
    return async () => {
      session.stdin.end('COMMIT;\n');
      expect(await finished(session)).toMatchObject({ code: 0 });
    };
  }

  /** Resolves once the update waits for a row that another transaction changed. */
  async function untilItWaits(): Promise<void> {
    const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    await expect.poll(() => postgres.lines(waiting)).toEqual(['1']);
  }

  it('the update of a table of cards by the recipe of the documentation, three nights in a row and killed in one, brings the new tokens and dates of a cycle into it once', async () => {
    const { home, svc, env } = await openQuickDesk();
    const tokens = linesOf(home.file('tokens.csv')).map(([token = '']) => token);
    await postgres.lines('TRUNCATE cards');
    await insert(...tokens);
    const line = blockOf(({ marks }) => marks.includes('postgresql'));
    const [, file = ''] = /^svc au refresh export\.csv --cycle 2026-12 && psql -Xqf (\S+)$/.exec(line) ?? [];
    const refresh = async (): Promise<void> => {
      succeeded(await svc(['au', 'refresh', 'tokens.csv', '--cycle', '2026-12'], env));
    };
    const apply = (): Promise<Finished> => postgres.run('', '-Xqf', home.file(file));
    await refresh();
    const [any = ''] = [...linesOf(home.file('refresh/2026-12/todo/replace.csv'))].map(([old = '']) => old);
    const commit = await begin(`UPDATE cards SET customer = customer WHERE token = '${any}'`);
    const killed = postgres.start('-Xqf', home.file(file));
    killed.stdin.end();
    await untilItWaits();
    killed.kill('SIGKILL');
    await finished(killed);
    await commit();
    const others = 'SELECT count(*) FROM pg_stat_activity WHERE backend_type = $$client backend$$';
    await expect.poll(() => postgres.lines(others)).toEqual(['1']);
    await refresh();
    const done = await apply();
    const replaced = new Map(linesOf(home.file('refresh/2026-12/todo/replace.csv')).map(([old, ...row]) => [old, row]));
    expect(replaced.size).toBeGreaterThan(10);
    expect(done.stdout).toContain(`${replaced.size} updated, 0 already applied, 0 not found\n`);
    const updated = tokens.toSorted().map((token) => {
      const [now = token, year = '', month = ''] = replaced.get(token) ?? [];
      return [now, year === '' ? '27' : year.slice(-2), month === '' ? '01' : month.padStart(2, '0')].join('|');
    });
    expect(await cards()).toEqual(updated);
    await refresh();
    expect((await apply()).stdout).toContain(`0 updated, ${replaced.size} already applied, 0 not found\n`);
    expect(await cards()).toEqual(updated);
  });

  it('the update of a table of cards, run twice, changes nothing more', async () => {
    expect(await update(DECEMBER)).toMatchObject({
      code: 0,
      stdout: '3 updated, 0 already applied, 0 not found\n',
      stderr: '',
    });
    const updated = ['a2|30|04', 'b2|27|01', 'c2|31|05', 'd|27|01'];
    expect(await cards()).toEqual(updated);
    expect(await update(DECEMBER)).toMatchObject({ code: 0, stdout: '0 updated, 3 already applied, 0 not found\n' });
    expect(await cards()).toEqual(updated);
  });

  it('the update of a table of cards, killed in the middle, has changed nothing, and the next run changes all', async () => {
    const commit = await begin("UPDATE cards SET customer = customer WHERE token = 'c'");
    writeScript(DECEMBER);
    const killed = postgres.start('-f', script);
    killed.stdin.end();
    await untilItWaits();
    killed.kill('SIGKILL');
    expect(await finished(killed)).toMatchObject({ signal: 'SIGKILL', stdout: '' });
    await commit();
    const others = 'SELECT count(*) FROM pg_stat_activity WHERE backend_type = $$client backend$$';
    await expect.poll(() => postgres.lines(others)).toEqual(['1']);
    expect(await cards()).toEqual(['a|27|01', 'b|27|01', 'c|27|01', 'd|27|01']);
    expect(await update(DECEMBER)).toMatchObject({ code: 0, stdout: '3 updated, 0 already applied, 0 not found\n' });
  });

  it('the update of a table of cards does not bring back a card that was deleted before it, or while it runs', async () => {
    await postgres.lines("DELETE FROM cards WHERE token = 'a'");
    const commit = await begin("DELETE FROM cards WHERE token = 'b'");
    const running = update(DECEMBER);
    await untilItWaits();
    await commit();
    expect(await running).toMatchObject({ code: 0, stdout: '1 updated, 0 already applied, 2 not found\n' });
    expect(await cards()).toEqual(['c2|31|05', 'd|27|01']);
  });

  it('the update of a table of cards, run for two months out of order, finds the rest when the later month is run again', async () => {
    expect(await update(JANUARY)).toMatchObject({ stdout: '0 updated, 0 already applied, 1 not found\n' });
    expect(await update(DECEMBER)).toMatchObject({ stdout: '3 updated, 0 already applied, 0 not found\n' });
    expect(await update(JANUARY)).toMatchObject({ stdout: '1 updated, 0 already applied, 0 not found\n' });
    const updated = ['a3|32|11', 'b2|27|01', 'c2|31|05', 'd|27|01'];
    expect(await cards()).toEqual(updated);
    expect(await update(DECEMBER)).toMatchObject({ stdout: '0 updated, 2 already applied, 1 not found\n' });
    expect(await cards()).toEqual(updated);
  });

  it.each([
    ['the file', `${DECEMBER}a,a9,,,UPD_ACCT_NUMBER\n`, ['e']],
    ['the table', DECEMBER, ['a']],
  ])(
    'the update of a table of cards fails, and changes nothing, if %s has a token twice',
    async (_where, rows, more) => {
      await insert(...more);
      const before = await cards();
      const { code, stdout, stderr } = await update(rows);
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(/ERROR: {2}a token matches twice; nothing was updated\n$/);
      expect(await cards()).toEqual(before);
    },
  );

  it('R91: the update of a table of cards refuses the new tokens of a rehearsal', async () => {
    const { code, stdout, stderr } = await update(DECEMBER.replace('b2', 'rehearsal-0123456789abcdef'));
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/ERROR: {2}these tokens were invented in a rehearsal; nothing was updated\n$/);
    expect(await cards()).toEqual(['a|27|01', 'b|27|01', 'c|27|01', 'd|27|01']);
  });
});
