import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import type { Page } from '../../../src/client/api/pages.ts';
import type { TimeRange } from '../../../src/logs/entry.ts';
import { Backfill } from '../../../src/logs/follow/catch-up.ts';
import type { LogSource } from '../../../src/logs/read-range.ts';
import type { Log } from '../../../src/schema/log.ts';
import { type Happening, type Manner, ModelClock, ModelService } from '../model.ts';

type ReadRange = Awaited<ReturnType<Backfill['next']>>;

const START = Date.UTC(2026, 0, 5, 12);
const SECOND = 1000;
const HOUR = 3_600_000;
const CALM: Manner = {
  order: 'newest first',
  cursor: 'place',
  pageShare: 100,
  failures: 0,
  expiries: 0,
  retentionMs: 24 * HOUR,
  outages: [],
};

/** Returns entries at a regular interval, up to the start. */
function steady(count: number, everyMs: number): Happening[] {
  return Array.from({ length: count }, (_, index) => {
    const at = START - (count - index) * everyMs;
    return { at, seenAt: at, words: `entry ${index}` };
  });
}

function serve(happenings: readonly Happening[], manner: Partial<Manner> = {}): ModelService {
  return new ModelService(new ModelClock(START), happenings, { ...CALM, ...manner }, () => 0.5);
}

/** Reads up to the start, and retries failed ranges. */
async function readAll(past: Backfill, end = START): Promise<{ stretches: ReadRange[]; failures: number }> {
  const stretches: ReadRange[] = [];
  let failures = 0;
  while ((stretches.at(-1)?.to ?? 0) < end) {
    try {
      stretches.push(await past.next(end));
    } catch (error) {
      failures += 1;
      if (failures > 500 || !(error instanceof SvcError)) throw error;
    }
  }
  return { stretches, failures };
}

function words(stretches: readonly ReadRange[]): (string | null | undefined)[] {
  return stretches.flatMap(({ entries }) =>
    entries.toSorted((one, other) => one.at - other.at).map(({ log }) => log.message),
  );
}

/** A source that returns a page only when the test releases it. */
class ByHand implements LogSource {
  readonly clock = new ModelClock(START);
  readonly signal = new AbortController().signal;
  readonly asked: TimeRange[] = [];
  readonly answers: (() => void)[] = [];

  now(): number {
    return START;
  }

  async *pages(range: TimeRange): AsyncGenerator<Page<Log>> {
    this.asked.push(range);
    await new Promise<void>((resolve) => this.answers.push(resolve));
    const created_at = new Date(range.from).toISOString();
    yield { items: [{ created_at }], next: undefined };
  }
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('the past', () => {
  it('R28: catching up returns all entries in order of time, from ranges read concurrently', async () => {
    const service = serve(steady(20_000, 4 * SECOND));
    const { stretches } = await readAll(new Backfill(service, START - 23 * HOUR));
    expect(words(stretches)).toEqual(words(stretches).toSorted(byNumber));
    expect(words(stretches)).toHaveLength(20_000);
    for (const [index, { from }] of stretches.entries())
      expect(from).toBe(stretches[index - 1]?.to ?? START - 23 * HOUR);
    expect(service.mostAtOnce).toBe(16);
    // Each page is nearly full and is read only once.
    expect(service.requests).toBeLessThan(20_000 / 85);
  });

  it.each(['newest first', 'oldest first', 'as seen', 'any'] as const)(
    'R28: catching up returns all entries when windows fail, contain too much or lose their cursor (%s)',
    async (order) => {
      const bursts = steady(60, 97 * SECOND).flatMap((one) => Array.from({ length: 40 }, () => one));
      const dense = Array.from({ length: 3_000 }, (_, index) => {
        const at = START - 2 * HOUR + index * 20;
        return { at, seenAt: at, words: `dense ${index}` };
      });
      let state = 7;
      const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
      const manner: Manner = { ...CALM, order, pageShare: 10, failures: 50, expiries: 50 };
      const service = new ModelService(new ModelClock(START), [...bursts, ...dense], manner, random);
      const { stretches, failures } = await readAll(new Backfill(service, START - 3 * HOUR));
      expect(words(stretches)).toHaveLength(5_400);
      expect(new Set(words(stretches)).size).toBe(3_060);
      expect(failures).toBeGreaterThan(0);
    },
  );

  it.each(['oldest first', 'newest first', 'any'] as const)(
    'R28: catching up loses nothing that is still there when retention removes entries meanwhile (%s)',
    async (order) => {
      const service = serve(steady(7_200, SECOND), { order, retentionMs: HOUR });
      const { stretches } = await readAll(new Backfill(service, START - 3 * HOUR));
      const left = Math.floor((START - (service.now() - HOUR)) / SECOND);
      const expected = Array.from({ length: left }, (_, index) => `entry ${7_200 - left + index}`);
      expect(words(stretches).slice(-left)).toEqual(expected);
    },
  );

  it('R32: catching up waits for its reader: it reads at most 16 windows ahead', async () => {
    const source = new ByHand();
    const past = new Backfill(source, START - 20 * HOUR);
    const first = past.next(START);
    await settle();
    expect(source.asked).toHaveLength(1);
    source.answers.shift()?.();
    await first;
    await settle();
    expect(source.asked).toHaveLength(17);
    for (const answer of source.answers.splice(0)) answer();
    await settle();
    expect(source.asked).toHaveLength(17);
    await past.next(START);
    await settle();
    expect(source.asked).toHaveLength(18);
    past.stop();
  });

  it('catching up requests no further page once it is to stop', async () => {
    const service = serve(steady(20_000, 4 * SECOND));
    const past = new Backfill(service, START - 23 * HOUR);
    for (let count = 0; count < 5; count += 1) await past.next(START);
    past.stop();
    await settle();
    const { requests } = service;
    await settle();
    expect(service.requests - requests).toBeLessThanOrEqual(16);
  });
});

function byNumber(one: unknown, other: unknown): number {
  return Number(String(one).split(' ')[1]) - Number(String(other).split(' ')[1]);
}
