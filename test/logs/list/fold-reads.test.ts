import { describe, expect, it } from 'vitest';
import { oneBatch } from '../../../src/cli/app/print.ts';
import { foldReads, foldsReads } from '../../../src/logs/list/fold-reads.ts';
import type { Log } from '../../../src/schema/log.ts';

function entry(minute: number, more: Partial<Log>): Log {
  return { created_at: `2026-11-23T21:${String(minute).padStart(2, '0')}:00Z`, ...more };
}

const read = (minute: number, actor: string) =>
  entry(minute, { operation: 'read', entity_type: 'log', actor_type: 'application', actor_id: actor });

async function folded(...batches: readonly (readonly Log[])[]): Promise<Log[]> {
  async function* all() {
    for (const batch of batches) yield* oneBatch(batch);
  }
  const rows: Log[] = [];
  for await (const batch of foldReads(all())) rows.push(...batch);
  return rows;
}

describe('a list for people', () => {
  it('a list folds consecutive reads of the logs by one actor, also across pages, and nothing else', async () => {
    const deletion = entry(50, { operation: 'delete', entity_type: 'card', actor_id: 'a' });
    const rows = await folded(
      [read(54, 'a'), read(53, 'a')],
      [read(52, 'a'), deletion, read(49, 'a'), read(48, 'b')],
      [read(47, 'b')],
    );
    const runs = rows.map((row) =>
      Object.getOwnPropertySymbols(row).map((symbol) => Reflect.get(row, symbol) as unknown),
    );
    expect(rows.map(({ created_at: at }) => at.slice(14, 16))).toEqual(['54', '50', '49', '48']);
    expect(runs).toEqual([
      [{ count: 3, oldest: Date.parse(read(52, 'a').created_at), newest: Date.parse(read(54, 'a').created_at) }],
      [],
      [],
      [expect.objectContaining({ count: 2 })],
    ]);
    expect(rows[1]).toBe(deletion);
  });

  it('a list keeps reads by nobody, and all reads where filters name them', async () => {
    const nameless = { operation: 'read', entity_type: 'log' };
    expect(await folded([entry(2, nameless), entry(1, nameless)])).toHaveLength(2);
    expect(foldsReads({ entityType: undefined, operation: [] })).toBe(true);
    expect(foldsReads({ entityType: 'log', operation: [] })).toBe(false);
    expect(foldsReads({ entityType: undefined, operation: ['read'] })).toBe(false);
  });
});
