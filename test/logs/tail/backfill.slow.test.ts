import { expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import type { Page } from '../../../src/client/api/pages.ts';
import type { TimeRange } from '../../../src/logs/entry.ts';
import { Backfill } from '../../../src/logs/tail/backfill.ts';
import type { LogSource } from '../../../src/logs/read-range.ts';
import type { Log } from '../../../src/schema/log.ts';
import { CALM, type Happening, type Manner, ModelClock, ModelService } from '../model.ts';

type ReadRange = Awaited<ReturnType<Backfill['next']>>;

const START = Date.UTC(2026, 0, 5, 12);
const SECOND = 1000;
const HOUR = 3_600_000;

/** Returns `count` entries, one every `everyMs`; the last one is `everyMs` before START. */
function regularEntries(count: number, everyMs: number): Happening[] {
  return Array.from({ length: count }, (_, index) => {
    const at = START - (count - index) * everyMs;
    return { at, seenAt: at, words: `entry ${index}` };
  });
}

function serve(happenings: readonly Happening[], manner: Partial<Manner> = {}): ModelService {
  return new ModelService(new ModelClock(START), happenings, { ...CALM, ...manner }, () => 0.5);
}

/** Reads all ranges up to `end`, and retries each failed read. */
async function readAll(backfill: Backfill, end = START): Promise<{ ranges: ReadRange[]; failures: number }> {
  const ranges: ReadRange[] = [];
  let failures = 0;
  while ((ranges.at(-1)?.to ?? 0) < end) {
    try {
      ranges.push(await backfill.next(end));
    } catch (error) {
      failures += 1;
      if (failures > 500 || !(error instanceof SvcError)) throw error;
    }
  }
  return { ranges, failures };
}

function messagesOf(ranges: readonly ReadRange[]): (string | null | undefined)[] {
  return ranges.flatMap(({ entries }) =>
    entries.toSorted((one, other) => one.at - other.at).map(({ log }) => log.message),
  );
}

/** A source that returns a page only when the test calls its function in `respond`. */
class ManualSource implements LogSource {
  readonly clock = new ModelClock(START);
  readonly signal = new AbortController().signal;
  readonly requested: TimeRange[] = [];
  readonly respond: (() => void)[] = [];

  now(): number {
    return START;
  }

  async *pages(range: TimeRange): AsyncGenerator<Page<Log>> {
    this.requested.push(range);
    await new Promise<void>((resolve) => this.respond.push(resolve));
    const created_at = new Date(range.from).toISOString();
    yield { items: [{ created_at }], next: undefined };
  }
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

it('R28: catching up returns all entries in order of time, from ranges read concurrently', async () => {
  const service = serve(regularEntries(20_000, 4 * SECOND));
  const { ranges } = await readAll(new Backfill(service, START - 23 * HOUR));
  expect(messagesOf(ranges)).toEqual(messagesOf(ranges).toSorted(byNumber));
  expect(messagesOf(ranges)).toHaveLength(20_000);
  for (const [index, { from }] of ranges.entries()) expect(from).toBe(ranges[index - 1]?.to ?? START - 23 * HOUR);
  expect(service.mostAtOnce).toBe(16);
  // Each page is read once, and has more than 85 entries on average.
  expect(service.requests).toBeLessThan(20_000 / 85);
});

it.each([400, 700, 1_100])(
  'catching up reads few pages in vain where the log begins after the requested time (an entry every %i ms)',
  async (everyMs) => {
    const service = serve(regularEntries(8_000, everyMs));
    const { ranges } = await readAll(new Backfill(service, START - 23 * HOUR));
    expect(messagesOf(ranges)).toHaveLength(8_000);
    const kept = ranges.reduce((sum, { pages }) => sum + pages, 0);
    expect(service.requests - kept).toBeLessThan(8);
  },
);

it.each(['newest first', 'oldest first', 'as seen', 'any'] as const)(
  'R28: catching up returns all entries when ranges fail, contain too many entries or lose their cursor (%s)',
  async (order) => {
    const bursts = regularEntries(60, 97 * SECOND).flatMap((one) => Array.from({ length: 40 }, () => one));
    const dense = Array.from({ length: 3_000 }, (_, index) => {
      const at = START - 2 * HOUR + index * 20;
      return { at, seenAt: at, words: `dense ${index}` };
    });
    let state = 7;
    const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
    const manner: Manner = { ...CALM, order, pageShare: 10, failures: 50, expiries: 50 };
    const service = new ModelService(new ModelClock(START), [...bursts, ...dense], manner, random);
    const { ranges, failures } = await readAll(new Backfill(service, START - 3 * HOUR));
    expect(messagesOf(ranges)).toHaveLength(5_400);
    expect(new Set(messagesOf(ranges)).size).toBe(3_060);
    expect(failures).toBeGreaterThan(0);
  },
);

it.each(['oldest first', 'newest first', 'any'] as const)(
  'R28: catching up returns every entry that is still retained when others are deleted meanwhile (%s)',
  async (order) => {
    const service = serve(regularEntries(7_200, SECOND), { order, retentionMs: HOUR });
    const { ranges } = await readAll(new Backfill(service, START - 3 * HOUR));
    const left = Math.floor((START - (service.now() - HOUR)) / SECOND);
    const expected = Array.from({ length: left }, (_, index) => `entry ${7_200 - left + index}`);
    expect(messagesOf(ranges).slice(-left)).toEqual(expected);
  },
);

it('R32: catching up reads at most 16 ranges ahead of its caller', async () => {
  const source = new ManualSource();
  const backfill = new Backfill(source, START - 20 * HOUR);
  const first = backfill.next(START);
  await settle();
  expect(source.requested).toHaveLength(1);
  source.respond.shift()?.();
  await first;
  await settle();
  expect(source.requested).toHaveLength(17);
  for (const respond of source.respond.splice(0)) respond();
  await settle();
  expect(source.requested).toHaveLength(17);
  await backfill.next(START);
  await settle();
  expect(source.requested).toHaveLength(18);
  backfill.stop();
});

it('catching up requests at most 16 more pages after it is stopped', async () => {
  const service = serve(regularEntries(20_000, 4 * SECOND));
  const backfill = new Backfill(service, START - 23 * HOUR);
  for (let count = 0; count < 5; count += 1) await backfill.next(START);
  backfill.stop();
  await settle();
  const { requests } = service;
  await settle();
  expect(service.requests - requests).toBeLessThanOrEqual(16);
});

function byNumber(one: unknown, other: unknown): number {
  return Number(String(one).split(' ')[1]) - Number(String(other).split(' ')[1]);
}
