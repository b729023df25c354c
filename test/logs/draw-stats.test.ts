import { describe, expect, it } from 'vitest';
import { StatsBackfill } from '../../src/logs/count.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SINCE = Date.UTC(2026, 1, 10);
const NIGHT = SINCE + 3 * HOUR;
const ALL = [{ from: SINCE - 40 * DAY, to: SINCE + 10 * DAY }];

/** A past with so many entries in the hour from 03:00 of each day before, the latest day first. */
function past(counts: readonly number[], covered: readonly { from: number; to: number }[] = ALL): StatsBackfill {
  const made = new StatsBackfill({ since: SINCE }, covered);
  for (const [index, count] of counts.entries())
    for (let one = 0; one < count; one += 1) add(made, NIGHT - (index + 1) * DAY + one, 'known');
  return made;
}

function add(made: StatsBackfill, at: number, actor: string, isCounted = true): void {
  made.add({ created_at: new Date(at).toISOString(), actor_id: actor }, at, isCounted);
}

const USUAL = Array.from({ length: 28 }, (_, index) => (index === 5 ? 20 : 10));

describe('an hour held against the same hour of the days before', () => {
  it.each([
    [412, '412 entries; the same hour had at most 20 in the 28 days before'],
    [41, '41 entries; the same hour had at most 20 in the 28 days before'],
    [40, null],
    [0, null],
  ])('with %i entries: %s', (count, note) => {
    expect(past(USUAL).noteHour(NIGHT, count)).toBe(note);
  });

  it('is also unusual with far fewer entries than ever', () => {
    const busy = past(USUAL.map((count) => count * 10));
    expect(busy.noteHour(NIGHT, 1)).toBe('1 entry; the same hour had at least 100 in the 28 days before');
    expect(busy.noteHour(NIGHT, 60)).toBeNull();
  });

  it('is not called quiet where the interval or the archive holds only a part of it', () => {
    const busy = USUAL.map((count) => count * 10);
    const cut = [{ from: SINCE - 40 * DAY, to: NIGHT + HOUR / 2 }];
    expect(past(busy, cut).noteHour(NIGHT, 1)).toBeNull();
    const late = new StatsBackfill({ since: NIGHT + 1 }, ALL);
    for (const day of USUAL.keys()) for (let one = 0; one < 100; one += 1) add(late, NIGHT - (day + 1) * DAY, 'a');
    expect(late.noteHour(NIGHT, 1)).toBeNull();
    expect(late.noteHour(NIGHT, 500)).toContain('at most 100');
  });

  it('is held against covered days only, and needs seven of them', () => {
    const week = [{ from: SINCE - 7 * DAY, to: SINCE + DAY }];
    expect(past(USUAL, week).noteHour(NIGHT, 412)).toContain('at most 20 in 7 of the 28 days before');
    const less = [{ from: SINCE - 6 * DAY, to: SINCE + DAY }];
    expect(past(USUAL, less).noteHour(NIGHT, 412)).toBeNull();
  });

  it('counts the days of a long interval among those before, and nothing that a filter leaves out', () => {
    const made = past(USUAL);
    for (let one = 0; one < 300; one += 1) add(made, NIGHT + one, 'known');
    for (let one = 0; one < 300; one += 1) add(made, NIGHT - DAY + one, 'known', false);
    expect(made.noteHour(NIGHT + DAY, 412)).toBeNull();
    expect(made.noteHour(NIGHT, 412)).toContain('at most 20');
  });
});

describe('an actor', () => {
  it('is new when none of its entries, counted or not, is from before', () => {
    const made = past(USUAL);
    add(made, SINCE - 1, 'left out', false);
    add(made, SINCE, 'new');
    expect(['known', 'left out', 'new'].map((actor) => made.noteActor(actor))).toEqual([
      null,
      null,
      'first seen in this archive',
    ]);
  });

  it('is not called new where the past is short, or holds too many actors', () => {
    const short = past(USUAL, [{ from: SINCE - 6 * DAY, to: SINCE }]);
    expect([short.isLong, short.noteActor('new')]).toEqual([false, null]);
    const made = past(USUAL);
    for (let actor = 0; actor < 100_001; actor += 1) add(made, SINCE - 1, `actor ${actor}`);
    expect(made.noteActor('new')).toBeNull();
  });
});
