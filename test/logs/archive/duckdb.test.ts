import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import type { Log } from '../../../src/schema/log.ts';
import { readBlocks } from '../../support/readme-blocks.ts';
import { buildArchive, TENANT } from './build.ts';

const PAGE = fileURLToPath(new URL('../../../docs/archive-sql.md', import.meta.url));
const START = Date.UTC(2026, 0, 5, 20);
const HOUR = 3_600_000;
const OPERATIONS = ['create', 'read', 'update', 'delete'];

/** Entries of three days, of several kinds, some with members that others do not have. */
const logs: Log[] = Array.from({ length: 500 }, (_, index) => ({
  tenant_id: TENANT,
  entity_type: index % 3 === 0 ? 'card' : 'token',
  operation: OPERATIONS[index % 4],
  message: `did "${index}"\n – ü`,
  created_at: new Date(START + index * 0.1 * HOUR).toISOString(),
  ...(index % 7 === 0 ? { actor_id: 'a', extra: { depth: index } } : {}),
}));

// The directory of the archive is called as in docs.
async function archive(): Promise<string> {
  const late = logs.splice(100, 3);
  const { top } = await buildArchive(START, [
    { to: START + 20 * HOUR, entries: logs.slice(0, 190) },
    { to: START + 60 * HOUR, entries: logs.slice(190), late },
  ]);
  logs.push(...late);
  return top;
}

/** What a query answers. Offline: nothing may be loaded or looked up. */
async function query(connection: DuckDBConnection, sql: string): Promise<unknown[]> {
  return (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

describe('an archive', () => {
  it('is queried in place by an engine, with the query in docs, and the counts are right', async () => {
    const sql = readBlocks(readFileSync(PAGE, 'utf8')).find(({ language }) => language === 'sql');
    const top = await archive();
    const connection = await (
      await DuckDBInstance.create(':memory:', {
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
      })
    ).connect();
    const text = sql?.text.replaceAll(`'audit/`, `'${top}/`) ?? '';
    expect(text).toContain(`'${path.join(top, 'tenant=*')}`);
    const rows = await query(connection, text);
    const due = new Map<string, number>();
    for (const { entity_type, operation, created_at } of logs) {
      if (operation === 'read') continue;
      const key = `${created_at.slice(0, 10)} ${entity_type} ${operation}`;
      due.set(key, (due.get(key) ?? 0) + 1);
    }
    const found = (rows as Record<string, string>[]).map(
      ({ date, entity_type, operation, entries }) => [`${date} ${entity_type} ${operation}`, Number(entries)] as const,
    );
    expect(found.length).toBeGreaterThan(10);
    expect(new Map(found)).toEqual(due);
    const all = `read_json('${top}/tenant=*/date=*/*.jsonl.gz', hive_partitioning = true, union_by_name = true)`;
    expect(await query(connection, `SELECT count(*) AS n, min(tenant) AS tenant FROM ${all}`)).toEqual([
      { n: '500', tenant: TENANT },
    ]);
    expect(await query(connection, `SELECT count(*) AS n FROM ${all} WHERE actor_id = 'a'`)).toEqual([{ n: '72' }]);
    connection.closeSync();
  });
});
