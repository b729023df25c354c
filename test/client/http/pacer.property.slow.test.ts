import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KNOWN_RATES, Pacer, type RateRule } from '../../../src/client/http/pacer.ts';
import type { KeyType } from '../../../src/schema/tenant.ts';
import { FakeClock } from '../../support/clock.ts';

const quiet = (): void => undefined;

interface Sending {
  readonly key: KeyType;
  readonly path: string;
  /** The idle time before the request, in milliseconds; with 0 it starts together with the previous one. */
  readonly after: number;
  /** The time between the request and its response. */
  readonly latency: number;
}

const SENDINGS = fc.array(
  fc.record({
    key: fc.constantFrom<KeyType[]>('management', 'private'),
    path: fc.constantFrom('/logs', '/account-updater/jobs', '/3ds/sessions'),
    after: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(9_000)),
    latency: fc.oneof(fc.constant(0), fc.nat(500), fc.nat(30_000)),
  }),
  { minLength: 1, maxLength: 250, size: 'max' },
);

describe('pacing', () => {
  it('R18: pacing never lets more requests go in any window than a rule allows, however many ask at once', async () => {
    await fc.assert(
      fc.asyncProperty(SENDINGS, async (sendings) => {
        const went = await run(KNOWN_RATES, sendings);
        expect(went).toHaveLength(sendings.length);
        for (const rule of KNOWN_RATES) {
          for (const key of ['management', 'private'] as const) expectWithin(rule, key, went);
        }
      }),
      { numRuns: 20 },
    );
  });
});

interface Went {
  readonly key: KeyType;
  readonly path: string;
  readonly sent: number;
  readonly answered: number;
}

async function run(rules: readonly RateRule[], sendings: readonly Sending[]): Promise<Went[]> {
  const clock = new FakeClock();
  const pacer = new Pacer(rules, clock);
  const send = async ({ key, path, latency }: Sending): Promise<Went> => {
    const ended = await pacer.take({ key, path }, undefined, quiet);
    const sent = clock.now();
    await clock.sleep(latency);
    ended();
    return { key, path, sent, answered: clock.now() };
  };
  const running: Promise<Went>[] = [];
  for (const sending of sendings) {
    if (sending.after > 0) await clock.sleep(sending.after);
    running.push(send(sending));
  }
  return Promise.all(running);
}

/** Checks that no window has too many requests, wherever between request and response the service counts each. */
function expectWithin(rule: RateRule, key: KeyType, went: readonly Went[]): void {
  const counted = went.filter((one) => one.key === key && rule.applies(key, one.path));
  counted.sort((a, b) => a.sent - b.sent);
  for (const [n, last] of counted.entries()) {
    const earlier = counted.slice(0, n).filter(({ answered }) => answered > last.sent - rule.windowMs);
    expect(earlier.length + 1).toBeLessThanOrEqual(rule.count);
  }
}
