import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FailureKind, type Stage, TransportFailure } from '../../../src/client/http/transport-failure.ts';
import { backoffMs, isTransient, MAX_ATTEMPTS, RetryQuota } from '../../../src/client/http/retry.ts';
import type { TimeLimits } from '../../../src/client/http/watchdog.ts';
import { FakeClock } from '../../support/clock.ts';
import { FaultServer, serve, type Step } from '../../support/fault-server.ts';
import { answer, hangUp, json, reset, silence } from '../../support/fault-steps.ts';
import { failureOf, makeCore, only, PATIENT, READ } from './support/core.ts';

const RETRIED = [408, 429, 500, 502, 503, 504];
const FAILED_ONCE: readonly (readonly [FailureKind, boolean])[] = [
  ['timeout', true],
  ['refused', true],
  ['reset', true],
  ['dns', true],
  ['unreachable', true],
  ['proxy', true],
  ['proxy_refused', false],
  ['tls', false],
  ['malformed', false],
];

function failure(kind: FailureKind, stage: Stage): { failure: TransportFailure } {
  return { failure: new TransportFailure(kind, stage, 'words') };
}

describe('the set of retries', () => {
  it('R15: the set of retries repeats a read after 408, 429, 500, 502, 503 and 504 only', () => {
    for (let status = 300; status < 700; status += 1)
      expect(isTransient({ status }), String(status)).toBe(RETRIED.includes(status));
  });

  it.each(FAILED_ONCE)('R15: a read after a failure of the kind %s is repeated: %s', (kind, repeated) => {
    for (const stage of ['connect', 'send', 'body'] as const) expect(isTransient(failure(kind, stage))).toBe(repeated);
  });

  it.each([200, 201, 204, 400, 401, 403, 404, 409, 410, 418, 422, 424, 451, ...RETRIED, 501, 505, 599])(
    'R15: the set of retries sends a read that is always answered with %i the right number of times',
    async (status) => {
      const server = await serve([answer(status)]);
      const call = makeCore(server.url).call(READ);
      const ended = await (status < 300 ? call : failureOf(call));
      expect(ended?.status).toBe(status < 300 ? undefined : status);
      expect(server.ledger).toHaveLength(RETRIED.includes(status) ? MAX_ATTEMPTS : 1);
    },
  );

  it.each<[how: string, step: Step, limits?: TimeLimits]>([
    ['reset before it is read', reset('connection')],
    ['reset at the head', reset('head')],
    ['reset once read', reset('request')],
    ['reset amid the headers', reset('answer', 30)],
    ['reset amid the body', reset('answer', 60)],
    ['left without an answer', hangUp()],
    ['left in silence', silence('request'), only('headers')],
  ])(
    'R15: the set of retries repeats a read that is %s, and then has its answer',
    async (_, step, limits = PATIENT) => {
      const server = await serve([step, step, step, step, json({})]);
      await makeCore(server.url, { limits }).call(READ);
      expect(server.connections).toBe(5);
    },
  );

  it('R15: the set of retries repeats a read after a refused connection and an unknown name', async () => {
    const server = await FaultServer.start([json({})]);
    const { url } = server;
    await server.close();
    for (const [base, words] of [
      [url, 'it refused the connection'],
      [new URL('http://no-such-host.invalid/'), 'its name could not be resolved'],
    ] as const) {
      const clock = new FakeClock();
      const error = await failureOf(makeCore(base, { clock }).call(READ));
      expect(error).toMatchObject({ code: 'network', exitCode: 8, retryable: true });
      expect(error.message).toContain(words);
      expect(clock.slept).toHaveLength(MAX_ATTEMPTS - 1);
    }
  });
});

describe('pauses between retries', () => {
  it('R16: a pause lies anywhere between nothing and a bound that doubles up to 20 s', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (n, random) => {
        const bound = Math.min(20_000, 500 * 2 ** n);
        const pause = backoffMs(n, () => random);
        expect(pause).toBeGreaterThanOrEqual(0);
        expect(pause).toBeLessThanOrEqual(bound);
        // With full jitter, the pause is the bound times the random number.
        expect(Math.abs(pause - random * bound)).toBeLessThan(1);
      }),
    );
  });

  it('R16: a retry policy sends a request at most five times, with pauses within their bounds', async () => {
    const server = await serve([answer(503)]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 4, maxLength: 4 }),
        async (dice) => {
          server.play([answer(503)]);
          const clock = new FakeClock();
          let thrown = 0;
          const random = (): number => dice[thrown++ % dice.length] ?? 0;
          await failureOf(makeCore(server.url, { clock, random }).call(READ));
          expect(server.ledger).toHaveLength(5);
          expect(clock.slept).toEqual(dice.map((value, n) => Math.floor(value * 500 * 2 ** n)));
        },
      ),
      { numRuns: 20 },
    );
  });

  it('R16: a dead service is given up after ten retries in all, whatever is asked of it', async () => {
    const server = await serve([answer(503)]);
    const core = makeCore(server.url);
    for (let n = 0; n < 20; n += 1) await failureOf(core.call(READ));
    expect(server.ledger).toHaveLength(20 + 10);
  });

  it('R16: a service that fails once for every two successes is never given up', async () => {
    const server = await serve((_, index) => (index % 3 === 0 ? answer(503) : json([])));
    const core = makeCore(server.url);
    for (let n = 0; n < 40; n += 1) await core.call(READ);
    expect(server.ledger).toHaveLength(60);
  });

  it('R16: successes buy retries back, never more than there were at first', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 300, size: 'max' }), (successes) => {
        const quota = new RetryQuota();
        const given: boolean[] = [];
        const due: boolean[] = [];
        let left = 20;
        for (const success of successes) {
          if (success) {
            quota.refill();
            left = Math.min(20, left + 1);
          } else {
            given.push(quota.take());
            due.push(left >= 2);
            if (left >= 2) left -= 2;
          }
        }
        expect(given).toEqual(due);
      }),
    );
  });
});
