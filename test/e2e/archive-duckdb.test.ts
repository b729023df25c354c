import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import type { Log } from '../../src/schema/log.ts';
import { buildArchive, TENANT } from '../logs/archive/build.ts';
import { type Block, readBlocks } from '../support/readme-blocks.ts';
import { rowsIn } from '../support/run-here.ts';

const PAGE = fileURLToPath(new URL('../../docs/formats.md', import.meta.url));
const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;
const OPERATIONS = ['create', 'read', 'update', 'delete'];

/** Entries of three days and several kinds, some with additional members, and one without a valid time. */
const LOGS: readonly Log[] = Array.from({ length: 500 }, (_, index) => ({
  tenant_id: TENANT,
  entity_type: index % 3 === 0 ? 'card' : 'token',
  operation: OPERATIONS[index % 4],
  message: `did "${index}"\n – ü`,
  created_at: index === 499 ? 'lately' : new Date(START + index * 0.1 * HOUR).toISOString(),
  ...(index % 7 === 0 ? { actor_id: 'a', extra: { depth: index } } : {}),
}));

const blocks = readBlocks(fs.readFileSync(PAGE, 'utf8')).filter(({ language }) => language === 'sql');
const [counts, view, days, parquet] = blocks.filter(({ marks }) => marks.length === 0);
const marked = (mark: string): Block | undefined => blocks.find(({ marks }) => marks.includes(mark));

/** Builds an archive with a raw file that no engine reads. */
async function archive(): Promise<string> {
  const late = LOGS.slice(100, 103);
  const rest = LOGS.filter((log) => !late.includes(log));
  const { top } = await buildArchive(START, [
    { to: START + 20 * HOUR, entries: rest.slice(0, 190) },
    { to: START + 60 * HOUR, entries: rest.slice(190), late },
  ]);
  fs.writeFileSync(path.join(top, `tenant=${TENANT}/date=2026-01-06/part-00000003-0.raw.gz`), 'not for an engine');
  return top;
}

/** Connects to a DuckDB that installs and loads no extension by itself. */
async function connect(): Promise<DuckDBConnection> {
  const offline = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' };
  return (await DuckDBInstance.create(':memory:', offline)).connect();
}

/** Runs the statements of a block of the page, and returns the rows of the last one. */
async function run(connection: DuckDBConnection, block: Block | undefined, ...replaced: [string, string][]) {
  const statements = await connection.extractStatements(inPlace(block, ...replaced));
  let rows: Record<string, unknown>[] = [];
  for (let index = 0; index < statements.count; index += 1) {
    const prepared = await statements.prepare(index);
    rows = (await prepared.runAndReadAll()).getRowObjectsJson();
  }
  return rows;
}

function inPlace(block: Block | undefined, ...replaced: [string, string][]): string {
  return replaced.reduce((text, [what, by]) => {
    expect(text).toContain(what);
    return text.replaceAll(what, by);
  }, block?.text ?? '');
}

/** Counts the entries of each key. */
function tally(logs: readonly Log[], keyOf: (log: Log) => string): Map<string, number> {
  const tallied = new Map<string, number>();
  for (const log of logs) tallied.set(keyOf(log), (tallied.get(keyOf(log)) ?? 0) + 1);
  return tallied;
}

function dayOf({ created_at: at }: Log): string {
  return at === 'lately' ? 'unknown' : at.slice(0, 10);
}

function tallied(rows: readonly Record<string, unknown>[]): Map<string, number> {
  return new Map(
    rows.map(({ entries, ...key }) => [Object.values(key).map(String).join(' '), Number(entries)] as const),
  );
}

const byOperation = tally(
  LOGS.filter((log) => dayOf(log) !== 'unknown'),
  (log) => `${dayOf(log)} ${log.operation}`,
);

/** ClickHouse as a package, which .ci/packages installs. It is too large to be a dependency of all who work on this project. */
const clickHouse = loadClickHouse();
const noClickHouse = clickHouse === undefined ? ' (skipped: .ci/packages did not install it)' : '';

function loadClickHouse(): { query: (sql: string, format: string) => string } | undefined {
  try {
    return createRequire(new URL('../../.cache/ci/clickhouse/', import.meta.url))('chdb') as typeof clickHouse;
  } catch {
    return undefined;
  }
}

describe('an archive is queried in place with the SQL in docs', () => {
  it('by DuckDB, over a directory', async () => {
    const [top, connection] = [await archive(), await connect()];
    const here: [string, string] = [`'audit/`, `'${top}/`];
    const changes = LOGS.filter(({ operation }) => operation !== 'read');
    const rows = await run(connection, counts, here);
    expect(tallied(rows)).toEqual(tally(changes, (log) => `${dayOf(log)} ${log.entity_type} ${log.operation}`));
    await run(connection, view, here);
    const deleted = LOGS.filter((log) => log.operation === 'delete' && dayOf(log) !== 'unknown');
    const found = (await run(connection, days)).map(({ actor_id, entries }) => ({ actor_id, entries }));
    expect(tallied(found)).toEqual(tally(deleted, ({ actor_id: id }) => id ?? 'null'));
    const copied = await run(connection, parquet, [`'audit-parquet`, `'${top}/.parquet`]);
    const timed = LOGS.filter((log) => dayOf(log) !== 'unknown');
    expect(tallied(copied)).toEqual(tally(timed, (log) => `${dayOf(log)} ${log.entity_type}`));
    connection.closeSync();
  });

  it('by DuckDB, as over a bucket: what follows the secret, over a directory', async () => {
    const [top, connection] = [await archive(), await connect()];
    const block = marked('bucket');
    // The whole block parses. Its first three statements set up an extension, which needs a network.
    expect((await connection.extractStatements(inPlace(block))).count).toBe(4);
    const query = { ...block!, text: block!.text.slice(block!.text.indexOf('SELECT')) };
    expect(tallied(await run(connection, query, [`'s3://bucket/audit/`, `'${top}/`])).get('2026-01-06 read')).toBe(60);
    connection.closeSync();
  });

  it.skipIf(clickHouse === undefined)(`by ClickHouse${noClickHouse}`, async () => {
    const top = await archive();
    const text = clickHouse?.query(inPlace(marked('clickhouse'), [`'audit/`, `'${top}/`]), 'JSONEachRow') ?? '';
    const rows = rowsIn(text);
    const unknown = [['unknown delete', 1]] as const;
    expect(tallied(rows)).toEqual(new Map([...byOperation, ...unknown]));
  });
});
