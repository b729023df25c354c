import { appendFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { openQuickDesk } from '../au/commands/support.ts';
import { readBlocks } from '../support/readme-blocks.ts';

const PAGE = fileURLToPath(new URL('../../docs/exports-and-results.md', import.meta.url));
const REPLACE = 'refresh/2026-12/todo/replace.csv';

async function rows(connection: DuckDBConnection, statement: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(statement)).getRowsJson();
}

async function runAll(connection: DuckDBConnection, text: string): Promise<void> {
  const statements = await connection.extractStatements(text);
  for (let index = 0; index < statements.count; index += 1) await (await statements.prepare(index)).run();
}

function customer(index: number): string {
  return `C-${String(index).padStart(3, '0')}`;
}

/** Returns the rows of a CSV file without quotes, below its header. */
function linesOf(file: string): string[][] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
}

it('the SQL of the page about results brings the new tokens and dates of a cycle into a table of cards, once', async () => {
  const { home, svc } = await openQuickDesk();
  const done = await svc('au refresh tokens.csv --cycle 2026-12');
  expect(done.code, done.stderr).toBe(0);
  // Years of four digits and months of one are the service's to choose.
  appendFileSync(home.file(REPLACE), 'b,b2,2030,4,UPD_EXP_DATE\n');
  const replaced = new Map(linesOf(home.file(REPLACE)).map(([token, ...cells]) => [token, cells]));
  expect(replaced.size).toBeGreaterThan(10);
  const blocks = readBlocks(readFileSync(PAGE, 'utf8')).filter(({ language }) => language === 'sql');
  expect(blocks).toHaveLength(1);
  const update = (blocks[0]?.text ?? '').replace(`'${REPLACE}`, `'${home.file(REPLACE)}`);
  const offline = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' };
  const connection = await (await DuckDBInstance.create(':memory:', offline)).connect();
  await runAll(
    connection,
    'CREATE TABLE cards (customer text, token text, expiration_year text, expiration_month text);',
  );
  const tokens = [...linesOf(home.file('tokens.csv')).map(([token = '']) => token), 'b', 'b', 'e'];
  const values = tokens.map((token, index) => `('${customer(index)}', '${token}', '27', '01')`);
  await runAll(connection, `INSERT INTO cards VALUES ${values.join(', ')};`);
  const updated = tokens.map((token, index) => {
    const [now = token, year = '', month = ''] = replaced.get(token) ?? [];
    return [customer(index), now, year === '' ? '27' : year.slice(-2), month === '' ? '01' : month.padStart(2, '0')];
  });
  await runAll(connection, update);
  expect(await rows(connection, 'FROM cards ORDER BY customer')).toEqual(updated);
  await runAll(connection, `DROP TABLE replaced; ${update}`);
  expect(await rows(connection, 'FROM cards ORDER BY customer')).toEqual(updated);
  connection.closeSync();
});
