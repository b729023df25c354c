import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { type TailEvent, Tail } from '../../../src/logs/tail/follow.ts';
import { lastEntries, type LastOptions } from '../../../src/logs/tail/last-entries.ts';
import type { LogSource } from '../../../src/logs/read-range.ts';
import {
  CALM as CALM_DAY,
  type Happening,
  logOf,
  type Manner,
  ModelClock,
  ModelService,
  Killed,
  nameOf,
} from '../model.ts';
import * as fc from 'fast-check';
import type { TailPosition } from '../../../src/logs/entry.ts';
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

it('the last entries of a busy, a quiet and an empty log are found with few requests', async () => {
  const busy = serviceOf(Array.from({ length: 60_000 }, (_, index) => ago(index * 3, `entry ${index}`)));
  expect((await lastEntries(busy, OPTIONS)).logs).toHaveLength(10);
  expect(busy.requests).toBeLessThan(15);
  const quiet = serviceOf(Array.from({ length: 20 }, (_, index) => ago(index * HOUR, `entry ${index}`)));
  expect((await lastEntries(quiet, OPTIONS)).logs).toHaveLength(10);
  expect(quiet.requests).toBeLessThan(15);
  const empty = serviceOf([]);
  expect(await lastEntries(empty, OPTIONS)).toMatchObject({ logs: [], readFrom: 0, position: { passed: [] } });
  expect(empty.requests).toBeLessThan(15);
});

it('R30: the search for the last entries waits for the end of a reported outage, and fails with an unreported one', async () => {
  const outages = [{ from: START, to: START + 20 * SECOND }];
  const events: TailEvent[] = [];
  const onEvent = (event: TailEvent): void => void events.push(event);
  const waited = await lastEntries(serviceOf([ago(SECOND, 'one')], { outages }), { ...OPTIONS, onEvent });
  expect(waited.logs).toHaveLength(1);
  expect(events.map(({ kind }) => kind)).toEqual(['disconnected', 'caught up']);
  await expect(lastEntries(serviceOf([], { outages }), OPTIONS)).rejects.toThrow('no answer');
  const refused = { ...OPTIONS, onEvent };
  const service = serviceOf([]);
  service.pages = () => {
    throw new SvcError('unauthorized', 'refused');
  };
  await expect(lastEntries(service, refused)).rejects.toThrow('refused');
});

it.each([-56 * 365 * 24, -1, 4 * 365 * 24])(
  'R25: the last entries are those of the present when the first Date header is %i hours off',
  async (hours) => {
    const source = withOffsets(serviceOf([ago(30 * SECOND, 'two'), ago(20 * SECOND, 'one')]), [hours * HOUR, 0]);
    const last = await lastEntries(source, { ...OPTIONS, count: 2 });
    expect(last.logs.map(({ message }) => message)).toEqual(['two', 'one']);
    expect(Math.abs(last.position.readTo - START)).toBeLessThan(60 * SECOND);
  },
);

it.each([-26, -3, 26])(
  'R25: the last entries are those of the present when this machine is %i hours off, in a busy time of the log',
  async (hours) => {
    const busy = Array.from({ length: 200 }, (_, index) => ago(3 * HOUR + 5 * SECOND, `entry ${index}`));
    const source = withOffsets(serviceOf([...busy, ago(SECOND, 'one')]), [0], hours * HOUR);
    const last = await lastEntries(source, { ...OPTIONS, count: 1 });
    expect(last.logs.map(({ message }) => message)).toEqual(['one']);
    expect(Math.abs(last.position.readTo - START)).toBeLessThan(60 * SECOND);
  },
);

it('reading backwards goes on when each response shows another time', async () => {
  const offsets = Array.from({ length: 100 }, (_, index) => ((index + 1) % 2) * HOUR);
  const last = await lastEntries(withOffsets(serviceOf([ago(20 * SECOND, 'one')]), offsets), { ...OPTIONS, count: 1 });
  expect(last.logs).toHaveLength(1);
  expect(last.requests).toBeLessThan(20);
});

it('R70: reading backwards fails while the Date header is before the time to read from', async () => {
  const source = withOffsets(serviceOf([ago(SECOND, 'one')]), [-56 * 365 * 24 * HOUR]);
  const reading = lastEntries(source, { ...OPTIONS, since: START - HOUR });
  await expect(reading).rejects.toMatchObject({
    code: 'bad_response',
    message: expect.stringMatching(/^the service's clock shows 1970-.*, before the time to read from, 2026-/),
  });
});

/** Returns a source whose nth response has a `Date` header that is wrong by the nth offset, or by the last one. */
function withOffsets(service: ModelService, offsets: readonly number[], machineMs = 0): LogSource {
  let responses = 0;
  let offset = 0;
  const clock = { now: () => service.now() + machineMs, sleep: (ms: number) => service.clock.sleep(ms) };
  return {
    clock,
    signal: service.signal,
    now: () => clock.now() + offset,
    async *pages(...request) {
      for await (const page of service.pages(...request)) {
        offset = (offsets[responses] ?? offsets.at(-1) ?? 0) - machineMs;
        responses += 1;
        yield page;
      }
    },
  };
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

it('a tail after last entries that begin in this second does not read later than other tails', async () => {
  const service = serviceOf([ago(10 * SECOND, 'before'), ago(0, 'now')]);
  const { logs, position } = await lastEntries(service, { ...OPTIONS, count: 1 });
  expect(logs.map(({ message }) => message)).toEqual(['now']);
  const kinds: string[] = [];
  const onEvent = ({ kind }: TailEvent): void => {
    kinds.push(kind);
    if (kind === 'polled') throw new Killed();
  };
  const tail = new Tail(service, { begin: position, overlapMs: OVERLAP, retentionMs: 48 * HOUR, onEvent });
  await expect(tail.batches().next()).rejects.toThrow(Killed);
  expect(kinds).toEqual(['polled']);
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
