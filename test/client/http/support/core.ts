import { inspect } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { SvcError } from '../../../../src/base/errors.ts';
import type { Environment } from '../../../../src/base/system.ts';
import { type CoreOptions, HttpCore } from '../../../../src/client/http/core.ts';
import { Pacer } from '../../../../src/client/http/pacer.ts';
import type { ApiRequest } from '../../../../src/client/http/request.ts';
import type { TimeLimits } from '../../../../src/client/http/watchdog.ts';
import { createTransport } from '../../../../src/client/http/transport.ts';
import { FakeClock } from '../../../support/clock.ts';

/** The key in every test, which no error may contain. */
export const CANARY = 'key_canary7Qz4Xw91Lm';

/** Time limits that no test reaches: a test that ends did not wait for one, on however slow a machine. */
export const PATIENT: TimeLimits = { connect: 60_000, headers: 60_000, idle: 60_000, body: 60_000 };

/** The limit that a test waits for. The others stay patient, so that a busy machine reaches none of them first. */
export function only(limit: keyof TimeLimits): TimeLimits {
  return { ...PATIENT, [limit]: 100 };
}

/** Creates a core whose pauses take no real time, with patient time limits. Its connections are closed when the test ends. */
export function makeCore(
  baseUrl: URL,
  options: Partial<CoreOptions> & { readonly environment?: Environment } = {},
): HttpCore {
  const clock = options.clock ?? new FakeClock();
  const transport = options.transport ?? createTransport(options.environment);
  onTestFinished(() => transport.close());
  return new HttpCore({
    baseUrl,
    key: () => Promise.resolve({ value: CANARY, origin: 'SVC_API_KEY' }),
    transport,
    clock,
    pacer: new Pacer([], clock),
    userAgent: 'svc/test',
    limits: PATIENT,
    ...options,
  });
}

/** A request that only reads. */
export const READ: ApiRequest<undefined> = { method: 'GET', path: '/logs', key: 'management' };

/** A request that has an effect. */
export const CREATE: ApiRequest<undefined> = {
  method: 'POST',
  path: '/account-updater/jobs',
  key: 'private',
  body: {},
  whenUnclear: { hint: 'Check for the job.', next: ['au', 'jobs'] },
};

/** Returns the error of a call, after checking that it is an SvcError without a secret. */
export async function failureOf(work: Promise<unknown>): Promise<SvcError> {
  const error: unknown = await work.then(
    (value) => expect.fail(`it succeeded with ${inspect(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) expect.fail(`not one of ours: ${inspect(error)}`);
  expectClean(error);
  return error;
}

/** Checks that an error contains no key or password, and that its text has no stack and no internal code (R06). */
export function expectClean(error: SvcError, ...secrets: string[]): void {
  const everything = inspect(error, { depth: 10, showHidden: true, getters: true, maxStringLength: null });
  for (const secret of [CANARY, ...secrets]) expect(everything).not.toContain(secret);
  for (const text of [error.message, error.hint ?? '']) {
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
    expect(text).not.toMatch(/\bat .+:\d+:\d+|undici|UND_ERR|HPE_|\[object|undefined/);
    expect(text.length).toBeLessThan(600);
  }
}

/** Runs `work` and measures its real duration in milliseconds. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now();
  const result = await work();
  return { result, ms: performance.now() - started };
}
