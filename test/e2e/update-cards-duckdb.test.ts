import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { expect, it, onTestFinished } from 'vitest';
import { readBlocks } from '../support/readme-blocks.ts';
import { svcHere } from '../support/run-here.ts';

const PAGE = fileURLToPath(new URL('../../docs/account-updater-in-ci.md', import.meta.url));
const RESULTS = `token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code
a,27,01,a2,29,11,UPD_PAN
b,27,02,b2,2030,4,UPD_EXP_DATE
c,27,03,c2,,,UPD_PAN
d,27,04,,,,WRN_CLOSED_ACCOUNT
`;

async function rows(connection: DuckDBConnection, statement: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(statement)).getRowsJson();
}

async function runAll(connection: DuckDBConnection, text: string): Promise<void> {
  const statements = await connection.extractStatements(text);
  for (let index = 0; index < statements.count; index += 1) await (await statements.prepare(index)).run();
}

it('the SQL of the page about results brings new tokens and dates into a table of cards, once', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-cards-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'results.csv'), RESULTS);
  const report = await svcHere(['au', 'report', 'results.csv', '--split-into', 'todo'], { cwd });
  expect(report.code).toBe(0);
  const blocks = readBlocks(readFileSync(PAGE, 'utf8')).filter(({ language }) => language === 'sql');
  expect(blocks).toHaveLength(1);
  const update = (blocks[0]?.text ?? '').replace("'todo/", `'${join(cwd, 'todo')}/`);
  const offline = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' };
  const connection = await (await DuckDBInstance.create(':memory:', offline)).connect();
  await runAll(
    connection,
    `CREATE TABLE cards (customer text, token text, expiration_year text, expiration_month text);
     INSERT INTO cards VALUES ('A','a','27','01'), ('A too','a','27','01'), ('B','b','27','02'), ('C','c','27','03'),
       ('D','d','27','04'), ('E','e','27','05');`,
  );
  const updated = [
    ['A', 'a2', '29', '11'],
    ['A too', 'a2', '29', '11'],
    ['B', 'b2', '30', '04'],
    ['C', 'c2', '27', '03'],
    ['D', 'd', '27', '04'],
    ['E', 'e', '27', '05'],
  ];
  await runAll(connection, update);
  expect(await rows(connection, 'FROM cards ORDER BY customer')).toEqual(updated);
  await runAll(connection, `DROP TABLE replaced; ${update}`);
  expect(await rows(connection, 'FROM cards ORDER BY customer')).toEqual(updated);
  connection.closeSync();
});
