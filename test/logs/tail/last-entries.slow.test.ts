import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TailPosition } from '../../../src/logs/entry.ts';
import { Tail } from '../../../src/logs/tail/follow.ts';
import { lastEntries, type LastOptions } from '../../../src/logs/tail/last-entries.ts';
import {
  CALM as CALM_DAY,
  type Happening,
  Killed,
  logOf,
  type Manner,
  ModelClock,
  ModelService,
  nameOf,
} from '../model.ts';
import { cases } from '../../support/cases.ts';

const START = Date.UTC(2026, 0, 5, 12);
const SECOND = 1000;
const HOUR = 3_600_000;
const OVERLAP = 60 * SECOND;
const OPTIONS: LastOptions = { count: 10, mostRead: 20_000, overlapMs: OVERLAP, retentionMs: 48 * HOUR };
const CALM: Manner = { ...CALM_DAY, retentionMs: 48 * HOUR };

function serviceOf(happenings: readonly Happening[], manner: Partial<Manner> = {}, random = (): number => 0.5) {
  return new ModelService(new ModelClock(START), happenings, { ...CALM, ...manner }, random);
}

function ago(ms: number, words: string): Happening {
  return { at: START - ms, seenAt: START - ms, words };
}

function namesOf(happenings: readonly Happening[]): string[] {
  return happenings.map((happening) => nameOf(logOf(happening)));
}

it('R28: the last entries are the newest by time in any order of the service, and a tail after them loses and repeats nothing', async () => {
  const time = fc.oneof(fc.nat(20 * SECOND), fc.nat(5 * 60 * SECOND), fc.nat(30 * HOUR));
  const past = fc.array(fc.record({ at: time, words: fc.nat(5), copies: fc.integer({ min: 1, max: 30 }) }), {
    maxLength: 40,
  });
  const future = fc.array(fc.record({ at: fc.nat(100 * SECOND), late: fc.nat(OVERLAP / 2) }), { maxLength: 30 });
  const order = fc.constantFrom('newest first', 'oldest first', 'as seen', 'any');
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        past,
        future,
        order,
        count: fc.integer({ min: 1, max: 300 }),
        pageShare: fc.constantFrom(3, 100),
        repeatsCursor: fc.boolean(),
      }),
      async ({ past: groups, future: later, count, ...manner }) => {
        const before = groups.flatMap(({ at, words, copies }) =>
          Array.from({ length: copies }, () => ago(at + 5 * SECOND, `did ${words}`)),
        );
        const after = later.map(({ at, late }, index) => ({
          at: START + at,
          seenAt: START + at + late,
          words: `later ${index}`,
        }));
        const service = serviceOf([...before, ...after], manner);
        const last = await lastEntries(service, { ...OPTIONS, count });
        const shown = last.logs.map(nameOf);
        const times = shown.map(timeIn);
        expect(times).toEqual(times.toSorted());
        expect(shown.length).toBeGreaterThanOrEqual(Math.min(count, before.length));
        expect(shown.length).toBeLessThanOrEqual(count);
        const written = [...shown, ...(await followed(service, last.position))];
        // Entries in the second of the oldest match may be older than that match.
        const oldest = shown.length < count ? '' : (times[0] ?? '');
        const due = namesOf([...before, ...after]);
        const isDue = (name: string): boolean => timeIn(name) > oldest;
        expect(written.filter(isDue).toSorted()).toEqual(due.filter(isDue).toSorted());
      },
    ),
    { numRuns: cases(1_000) },
  );
});

it('the search for the last entries stops at its limit, and the tail after it does not report unread ones as new', async () => {
  const service = serviceOf(Array.from({ length: 5_000 }, (_, index) => ago(5 * SECOND + index * 5, `entry ${index}`)));
  const last = await lastEntries(service, { ...OPTIONS, mostRead: 1_000, keep: ({ message }) => message === 'none' });
  expect(last.logs).toEqual([]);
  expect(last.read).toBeGreaterThanOrEqual(1_000);
  expect(last.read).toBeLessThan(2_500);
  expect(last.readFrom).toBeGreaterThan(START - 30 * SECOND);
  expect(await followed(service, last.position)).toEqual([]);
});

function timeIn(name: string): string {
  return name.slice(0, 20);
}

/** Returns everything that a tail from this position returns until the log ends. */
async function followed(service: ModelService, begin: TailPosition): Promise<string[]> {
  const written: string[] = [];
  const tail = new Tail(service, {
    begin,
    overlapMs: OVERLAP,
    retentionMs: 48 * HOUR,
    onEvent: ({ kind }) => {
      if (kind === 'polled' && service.now() > START + 400 * SECOND) throw new Killed();
    },
  });
  try {
    for await (const batch of tail.batches()) written.push(...batch.map(nameOf));
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
  return written;
}
