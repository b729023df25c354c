import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KNOWN_RATES, Pacer, type RateRule } from '../../src/http/pacing.ts';
import type { KeyKind } from '../../src/http/request.ts';
import { FakeClock } from '../support/clock.ts';

const quiet = (): void => undefined;

interface Sending {
  readonly key: KeyKind;
  readonly path: string;
  /** Idle time before it, in milliseconds; with 0 it starts beside the one before. */
  readonly after: number;
}

const SENDINGS = fc.array(
  fc.record({
    key: fc.constantFrom<KeyKind[]>('management', 'private'),
    path: fc.constantFrom('/logs', '/account-updater/jobs', '/3ds/sessions'),
    after: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(9_000)),
  }),
  { minLength: 1, maxLength: 400 },
);

describe('pacing', () => {
  it('R18 never lets more requests go in any window than a rule allows, however many ask at once', async () => {
    await fc.assert(
      fc.asyncProperty(SENDINGS, async (sendings) => {
        const went = await run(KNOWN_RATES, sendings);
        expect(went).toHaveLength(sendings.length);
        for (const rule of KNOWN_RATES) {
          for (const key of ['management', 'private'] as const) expectWithin(rule, key, went);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('R18 does not hold back what fits', async () => {
    const clock = new FakeClock();
    const pacer = new Pacer(KNOWN_RATES, clock);
    for (let n = 0; n < 48; n += 1) await pacer.take('management', '/logs', undefined, quiet);
    expect(clock.slept).toEqual([]);
    for (let n = 0; n < 9; n += 1) await pacer.take('private', '/account-updater/jobs', undefined, quiet);
    expect(clock.slept).toEqual([]);
  });

  it('R18 40 jobs of three requests each take no longer than the rule makes them', async () => {
    const clock = new FakeClock();
    const pacer = new Pacer(KNOWN_RATES, clock);
    const started = clock.now();
    for (let n = 0; n < 120; n += 1) await pacer.take('private', '/account-updater/jobs', undefined, quiet);
    expect(clock.now() - started).toBe(Math.floor(119 / 9) * 10_000);
  });

  it('R18 keys are counted apart', async () => {
    const clock = new FakeClock();
    const rule: RateRule = { applies: () => true, count: 1, windowMs: 1_000, blockMs: 0 };
    const pacer = new Pacer([rule], clock);
    await pacer.take('private', '/x', undefined, quiet);
    await pacer.take('management', '/x', undefined, quiet);
    expect(clock.slept).toEqual([]);
  });

  it('R18 tells of each pause, and those who wait go in turn', async () => {
    const clock = new FakeClock();
    const rule: RateRule = { applies: () => true, count: 2, windowMs: 1_000, blockMs: 0 };
    const pacer = new Pacer([rule], clock);
    const order: number[] = [];
    const told: number[] = [];
    await Promise.all(
      Array.from({ length: 7 }, async (_, n) => {
        await pacer.take('private', '/x', undefined, (ms) => told.push(ms));
        order.push(n);
      }),
    );
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(told.length).toBeGreaterThanOrEqual(5);
    expect(told.every((ms) => ms > 0 && ms <= 1_000)).toBe(true);
  });

  it('R19 a pause ends with the signal, and takes nobody else along', async () => {
    const clock = new FakeClock({ auto: false });
    const rule: RateRule = { applies: () => true, count: 1, windowMs: 1_000, blockMs: 0 };
    const pacer = new Pacer([rule], clock);
    await pacer.take('private', '/x', undefined, quiet);
    const abort = new AbortController();
    const first = pacer.take('private', '/x', abort.signal, quiet);
    const second = pacer.take('private', '/x', undefined, quiet);
    const reason = new Error('stop');
    abort.abort(reason);
    await expect(first).rejects.toBe(reason);
    await clock.advance(1_000);
    await second;
  });

  it('R17 knows how long a broken rule blocks', () => {
    const pacer = new Pacer(KNOWN_RATES, new FakeClock());
    expect(pacer.blockMs('management', '/logs')).toBe(60_000);
    expect(pacer.blockMs('private', '/account-updater/jobs')).toBe(10_000);
    expect(new Pacer([], new FakeClock()).blockMs('private', '/x')).toBe(0);
  });
});

interface Went {
  readonly key: KeyKind;
  readonly path: string;
  readonly at: number;
}

async function run(rules: readonly RateRule[], sendings: readonly Sending[]): Promise<Went[]> {
  const clock = new FakeClock();
  const pacer = new Pacer(rules, clock);
  const went: Went[] = [];
  const running: Promise<void>[] = [];
  for (const { key, path, after } of sendings) {
    if (after > 0) await clock.sleep(after);
    running.push(
      pacer.take(key, path, undefined, quiet).then(() => void went.push({ key, path, at: clock.now() })),
    );
  }
  await Promise.all(running);
  return went;
}

/** Counts by hand what the service would have counted. */
function expectWithin(rule: RateRule, key: KeyKind, went: readonly Went[]): void {
  const times = went.filter((one) => one.key === key && rule.applies(key, one.path)).map(({ at }) => at);
  times.sort((a, b) => a - b);
  times.forEach((start, n) => {
    const next = times[n + rule.count] ?? Infinity;
    expect(next - start).toBeGreaterThanOrEqual(rule.windowMs);
  });
}
