import { describe, expect, it } from 'vitest';
import { Coverage, isoRange } from '../../../src/logs/archive/records/coverage.ts';
import type { TimeRange } from '../../../src/logs/entry.ts';
import { DayReview, failedRange } from '../../../src/logs/report/review.ts';
import type { Log } from '../../../src/schema/log.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TODAY = Date.UTC(2026, 1, 10);
const ALL = [{ from: TODAY - 40 * DAY, to: TODAY + 2 * DAY }];

function entry(at: number, more: Partial<Log> = {}): Log {
  const known = { entity_type: 'card', operation: 'read', actor_type: 'user', actor_id: 'known' };
  return { ...known, created_at: new Date(at).toISOString(), ...more };
}

function coverageOf(covered: readonly TimeRange[], gaps: readonly TimeRange[] = []): Coverage {
  const coverage = new Coverage();
  const written_at = new Date(TODAY).toISOString();
  for (const range of covered) {
    const { from: read_from, to: read_to } = isoRange(range);
    coverage.add({ kind: 'segments', written_at, segments: [], read_from, read_to });
  }
  for (const range of gaps) coverage.add({ kind: 'gap', written_at, ...isoRange(range) });
  return coverage;
}

function reviewed(logs: readonly Log[], covered = ALL, gaps: readonly TimeRange[] = []) {
  const review = new DayReview(TODAY, coverageOf(covered, gaps));
  for (const log of [entry(TODAY - DAY), ...logs]) review.add(log);
  return review.findings();
}

/** Returns a number of entries within one hour. */
function burst(count: number): Log[] {
  return Array.from({ length: count }, () => entry(TODAY + 5 * HOUR));
}

describe('the review of a day', () => {
  it('the review finds nothing on an ordinary day', () => {
    expect(reviewed([entry(TODAY), entry(TODAY + DAY - 1)])).toMatchObject({
      entries: 2,
      missing: [],
      past_days: 30,
      deletions: [],
      changes: [],
      new_actors: [],
      new_operations: [],
      busy_hours: [],
    });
  });

  it('the review groups similar deletions into one row, the most active actor first', () => {
    const deletion = { operation: 'delete', entity_id: 'c-1' };
    const logs = [1, 2, 3].map((hour) => entry(TODAY + hour * HOUR, { ...deletion, actor_id: 'other' }));
    const { deletions } = reviewed([entry(TODAY, deletion), ...logs, entry(TODAY - 1, deletion)]);
    expect(deletions).toMatchObject([
      { actor_id: 'other', count: 3, first_at: '2026-02-10T01:00:00.000Z', last_at: '2026-02-10T03:00:00.000Z' },
      { actor_id: 'known', count: 1 },
    ]);
    expect(Object.keys(deletions[0] ?? {})).not.toContain('entity_id');
  });

  it.each([
    ['application', 'update', 1],
    ['application', 'read', 0],
    ['application', 'delete', 0],
    ['application_key', 'create', 1],
    ['API-Key', 'rotate', 1],
    ['tenant', 'update', 1],
    ['tenant_member', 'create', 1],
    ['monkey', 'create', 0],
    ['card', 'update', 0],
  ])('the review of a %s with the operation %s counts changes: %i', (entity_type, operation, count) => {
    expect(reviewed([entry(TODAY, { entity_type, operation })]).changes).toHaveLength(count);
  });

  it('the review reads no messages', () => {
    const message = 'application deleted, key created, tenant updated';
    expect(reviewed([entry(TODAY, { message })])).toMatchObject({ deletions: [], changes: [] });
  });

  it('the review calls new what the 30 days before do not have, and nothing older or of the next day', () => {
    const logs = [
      entry(TODAY - 31 * DAY, { actor_id: 'long ago' }),
      entry(TODAY - 30 * DAY, { actor_id: 'at the edge' }),
      entry(TODAY + DAY, { actor_id: 'tomorrow' }),
      ...['long ago', 'at the edge', 'new'].map((actor_id) => entry(TODAY + HOUR, { actor_id })),
      entry(TODAY, { operation: 'tokenize' }),
    ];
    const { new_actors: actors, new_operations: operations } = reviewed(logs);
    expect(actors?.map(({ actor_id }) => actor_id)).toEqual(['long ago', 'new']);
    expect(operations).toMatchObject([{ entity_type: 'card', operation: 'tokenize', actor_id: null, count: 1 }]);
  });

  it('the review calls nothing new when fewer than seven of the days before are covered', () => {
    const six = [{ from: TODAY - 6 * DAY, to: TODAY + DAY }];
    expect(reviewed([entry(TODAY, { actor_id: 'new' })], six)).toMatchObject({
      past_days: 6,
      new_actors: null,
      new_operations: null,
    });
    const apart = [
      { from: TODAY - 30 * DAY, to: TODAY - 26 * DAY },
      { from: TODAY - 3 * DAY, to: TODAY + DAY },
    ];
    expect(reviewed([entry(TODAY, { actor_id: 'new' })], apart).new_actors).toHaveLength(1);
  });

  it('the review names hours with more than four times the median of the covered ones', () => {
    const each = Array.from({ length: 24 }, (_, hour) => entry(TODAY + hour * HOUR));
    const usual = each.flatMap((log) => [log, log]);
    expect(reviewed([...usual, ...burst(6)]).busy_hours).toEqual([]);
    expect(reviewed([...usual, ...burst(7)])).toMatchObject({
      median: 2,
      busy_hours: [{ hour: '2026-02-10T05:00:00.000Z', count: 9 }],
    });
    // On a quiet day, a handful of entries in an hour is not unusual.
    expect(reviewed(burst(4)).busy_hours).toEqual([]);
    expect(reviewed(burst(5)).busy_hours).toHaveLength(1);
  });

  it('the review names the parts of the day that are not covered, and why', () => {
    const covered = [
      { from: TODAY + HOUR, to: TODAY + 2 * HOUR },
      { from: TODAY + 3 * HOUR, to: TODAY + 4 * HOUR },
    ];
    expect(reviewed([], covered).missing.map(({ from, reason }) => [from.slice(11, 13), reason])).toEqual([
      ['00', 'before the archive'],
      ['02', 'gap'],
      ['04', 'not archived yet'],
    ]);
    expect(reviewed([], []).missing).toHaveLength(1);
  });

  it('the review counts rows after the first thousand as others', () => {
    const many = Array.from({ length: 1_200 }, (_, at) => entry(TODAY, { operation: 'delete', actor_id: `${at}` }));
    const { deletions } = reviewed(many);
    expect(deletions).toHaveLength(1_001);
    expect(deletions[0]).toMatchObject({ entity_type: '(others)', count: 200 });
  });

  const HOURS = { from: TODAY + 3 * HOUR, to: TODAY + 4 * HOUR };
  const UNTIL = (to: number) => [{ from: TODAY - 40 * DAY, to }];
  const SINCE = (from: number) => [{ from, to: TODAY + 2 * DAY }];
  it.each<[string, readonly TimeRange[], readonly TimeRange[], number, string | undefined]>([
    ['a covered day', ALL, [], 2, undefined],
    ['a recorded gap', ALL, [HOURS], 2, 'gap'],
    ['a recorded gap before all that is covered', SINCE(HOURS.to), [{ ...HOURS, from: TODAY - DAY }], 2, 'gap'],
    ['an end before that of the day', UNTIL(TODAY + 23 * HOUR), [], 2, 'not archived yet'],
    ['an end before that of a day that is not over', UNTIL(TODAY + 3 * HOUR), [], 0.5, undefined],
    ['a beginning within the day', SINCE(TODAY + 9 * HOUR), [], 2, undefined],
    ['an end before the day', UNTIL(TODAY - HOUR), [], 2, 'not archived yet'],
    ['an end before a day that is not over', UNTIL(TODAY - HOUR), [], 0.5, 'not archived yet'],
    ['a beginning after the day', SINCE(TODAY + DAY), [], 2, 'before the archive'],
    ['an archive that has read nothing', [], [], 2, 'not archived yet'],
  ])('R76: the review names why it fails: %s', (_what, covered, gaps, daysLater, reason) => {
    const { missing } = reviewed([], [...covered], gaps);
    expect(failedRange(missing, TODAY, TODAY + daysLater * DAY)?.reason).toBe(reason);
  });
});
