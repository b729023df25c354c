import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogCounts, type StatsRow } from '../../src/logs/count.ts';
import type { Log } from '../../src/schema/log.ts';

const START = Date.UTC(2026, 0, 5, 12);
const HOUR = 3_600_000;
const DAY = { since: START, until: START + 24 * HOUR };

function logAt(at: number, more: Partial<Log> = {}): Log {
  return { entity_type: 'card', operation: 'read', created_at: new Date(at).toISOString(), ...more };
}

function counted(logs: readonly Log[], interval = DAY): StatsRow[] {
  const counts = new LogCounts();
  for (const log of logs) counts.add(log);
  return counts.rows(interval);
}

function by(rows: readonly StatsRow[], kind: StatsRow['by']): [value: string | null, count: number][] {
  return rows.filter((row) => row.by === kind).map(({ value, count }) => [value, count]);
}

describe('counts of log entries', () => {
  it('counts have a row for each hour of the interval, in order and without loss', () => {
    const rows = counted([logAt(START + 30 * 60_000), logAt(START + HOUR - 1), logAt(START + 23 * HOUR)]);
    const hours = by(rows, 'hour');
    expect(hours).toHaveLength(24);
    expect(hours[0]).toEqual(['2026-01-05T12:00:00Z', 2]);
    expect(hours[1]).toEqual(['2026-01-05T13:00:00Z', 0]);
    expect(hours[23]).toEqual(['2026-01-06T11:00:00Z', 1]);
    expect(rows[0]).toEqual({
      by: 'all',
      value: null,
      actor_type: null,
      count: 3,
      share: 1,
      first_at: '2026-01-05T12:30:00Z',
      last_at: '2026-01-06T11:00:00Z',
    });
  });

  it('counts have rows for missing and unreadable values, and name the type of an actor', () => {
    const rows = counted([
      logAt(START, { actor_id: 'a', actor_type: 'user' }),
      logAt(START, { actor_id: 'a', actor_type: 'user' }),
      logAt(START, { actor_id: 'b' }),
      logAt(START, { actor_id: null, operation: null }),
      { created_at: 'a while ago' },
    ]);
    expect(by(rows, 'hour').at(-1)).toEqual([null, 1]);
    expect(by(rows, 'operation')).toEqual([
      ['read', 3],
      [null, 2],
    ]);
    expect(rows.filter(({ by: kind }) => kind === 'actor')).toMatchObject([
      { value: null, actor_type: null, count: 2 },
      { value: 'a', actor_type: 'user', count: 2, share: 0.4 },
      { value: 'b', actor_type: null, count: 1 },
    ]);
  });

  it('counts of any entries add up to their number in every grouping', () => {
    const word = fc.constantFrom('a', 'b', '__proto__', 'constructor', '(others)', null);
    const log = fc.record({ at: fc.integer({ min: 0, max: 200 }), actor: word, type: word, operation: word });
    fc.assert(
      fc.property(fc.array(log, { maxLength: 60 }), fc.integer({ min: 1, max: 100 }), (entries, hours) => {
        const logs = entries.map(({ at, actor, type, operation }) =>
          logAt(START + at * 977_777, { actor_id: actor, actor_type: type, operation, entity_type: type }),
        );
        const rows = counted(logs, { since: START, until: START + hours * HOUR });
        for (const kind of ['hour', 'entity_type', 'operation', 'actor_type', 'actor'] as const) {
          const counts = by(rows, kind);
          expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(logs.length);
          expect(new Set(counts.map(([value]) => value)).size).toBe(counts.length);
        }
      }),
    );
  });

  it('counts need constant memory: actors beyond the first ten thousand are counted together', () => {
    const counts = new LogCounts();
    for (let actor = 0; actor < 12_000; actor += 1)
      counts.add(logAt(START + actor, { actor_id: `actor ${actor}`, actor_type: 'user' }));
    counts.add(logAt(START, { actor_id: 'actor 3' }));
    const actors = by(counts.rows(DAY), 'actor');
    expect(counts.hasOtherActors).toBe(true);
    expect(actors).toHaveLength(10_001);
    expect(actors[0]).toEqual(['actor 3', 2]);
    expect(actors.at(-1)).toEqual(['(others)', 2000]);
  });

  it('counts of a very long interval have rows only for hours with entries', () => {
    const rows = counted([logAt(START)], { since: 0, until: START + HOUR });
    expect(by(rows, 'hour')).toEqual([['2026-01-05T12:00:00Z', 1]]);
  });
});
