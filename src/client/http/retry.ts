// Repeats attempts that failed: decides whether and when.

import { isSvcError, SvcError } from '../../base/errors.ts';
import { type Clock, DEFAULT_MAX_WAIT_MS } from '../../base/system.ts';
import type { FailureKind, TransportFailure } from './transport-failure.ts';

export const MAX_ATTEMPTS = 5;

/** The options that callers of a client choose. */
export interface RetryOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal?: AbortSignal | undefined;
  readonly random?: (() => number) | undefined;
  /** The longest single pause that a server may request, in milliseconds; 90 s by default. */
  readonly maxWaitMs?: number | undefined;
}

export interface RetryPolicy extends RetryOptions {
  /** The maximum number of failed attempts in a row; five by default. */
  readonly attempts?: number | undefined;
  /** Ends a pause when aborted. The error of the last failure is then thrown. */
  readonly giveUp?: AbortSignal | undefined;
  /** The budget for all attempts after the first. */
  readonly quota?: RetryQuota | undefined;
  readonly onWait?: ((ms: number, failure: RetryableFailure) => void) | undefined;
}

/** An attempt that failed and may be repeated. */
export interface RetryableFailure {
  /** The error to throw if this was the last attempt. */
  readonly error: Error;
  /** The pause that the server requested, in milliseconds. */
  readonly requestedMs?: number | undefined;
  /** Whether the next attempt follows without a pause, since the cause of the failure is known. */
  readonly atOnce?: boolean | undefined;
  /** Whether the attempt made progress, after which earlier failures do not count. */
  readonly advanced?: boolean | undefined;
}

/**
 * Makes attempts until one succeeds. Pauses between attempts for as long as the server requests, plus a random time (see
 * `backoffMs`).
 * @throws the error of the last failure; SvcError `rate_limited` if the server requests a pause longer than `maxWaitMs`; the
 *   signal's reason; any error that an attempt throws
 */
export async function withRetry<T>(
  attempt: (index: number) => Promise<{ readonly value: T } | RetryableFailure>,
  policy: RetryPolicy,
): Promise<T> {
  const { attempts = MAX_ATTEMPTS, maxWaitMs = DEFAULT_MAX_WAIT_MS, random = Math.random } = policy;
  let failed = 0;
  for (let index = 0; ; index += 1) {
    const outcome = await attempt(index);
    if ('value' in outcome) return outcome.value;
    const { error, requestedMs = 0, atOnce = false, advanced = false } = outcome;
    failed = advanced ? 1 : failed + 1;
    if (failed >= attempts) throw error;
    if (requestedMs > maxWaitMs) throw tooLongError(error, requestedMs, maxWaitMs);
    if (policy.quota?.take() === false) throw error;
    if (atOnce) continue;
    const ms = requestedMs + backoffMs(failed - 1, random);
    policy.onWait?.(ms, outcome);
    await pause(ms, error, policy);
  }
}

/** Pauses after a failure. If the time limit of the command ends the pause, the error also names the failure. */
async function pause(ms: number, failure: Error, { clock, signal, giveUp }: RetryPolicy): Promise<void> {
  const signals = [signal, giveUp].filter((each) => each !== undefined);
  try {
    await clock.sleep(ms, signals.length > 1 ? AbortSignal.any(signals) : signals[0]);
  } catch (error) {
    if (giveUp?.aborted === true && signal?.aborted !== true) throw failure;
    if (!isSvcError(error, 'timeout')) throw error;
    throw error.with({
      message: `${error.message}; ${failure.message}`,
      ...(failure instanceof SvcError && { status: failure.status, requestId: failure.requestId }),
    });
  }
}

/** The longest pause that an error names, in seconds. */
const MAX_NAMED_S = 86_400;

/** Returns the error for a pause longer than the operator allows (R17). */
function tooLongError(error: Error, requestedMs: number, maxWaitMs: number): SvcError {
  const seconds = Math.ceil(requestedMs / 1000);
  const isNamed = seconds <= MAX_NAMED_S;
  const words = isNamed ? `${seconds} s` : 'more than a day';
  const refusal = error instanceof SvcError ? error : new SvcError('rate_limited', error.message, { cause: error });
  return refusal.with({
    code: 'rate_limited',
    message: `${error.message}; it asks to wait ${words}, longer than ${maxWaitMs / 1000} s`,
    hint: isNamed
      ? `Run the command again in ${seconds} s.`
      : "Run the command again later, and contact the service's support if it still asks for this.",
    facts: { retry_after_s: seconds },
  });
}

const BASE_MS = 500;
const CAP_MS = 20_000;
const STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const FAILURES: ReadonlySet<FailureKind> = new Set(['timeout', 'refused', 'reset', 'dns', 'proxy', 'unreachable']);

/** The response to an attempt, or the failure of an attempt without a response. */
export type StatusOrFailure = { readonly status: number } | { readonly failure: TransportFailure };

/** Whether another attempt may succeed (R15). Even then, a request that may have taken effect must not be sent again. */
export function isTransient(outcome: StatusOrFailure): boolean {
  return 'status' in outcome ? STATUSES.has(outcome.status) : FAILURES.has(outcome.failure.kind);
}

/** Returns a random pause up to a bound that doubles with each attempt, up to 20 s (full jitter, R16). */
export function backoffMs(attempt: number, random: () => number): number {
  return Math.floor(random() * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
}

/** A budget of retries for all requests of a client, so that a command with many requests does not overload a failing service. */
export class RetryQuota {
  #left = 20;

  /** Pays for one retry; false if the budget is used up. */
  take(): boolean {
    if (this.#left < 2) return false;
    this.#left -= 2;
    return true;
  }

  refill(): void {
    this.#left = Math.min(20, this.#left + 1);
  }
}

/**
 * Returns the pause in milliseconds that a `Retry-After` header requests: whole or decimal seconds, or an HTTP date by the service's
 * clock. Of several values joined with commas, the longest pause counts. Returns undefined for a date in the past and any other text.
 */
export function retryAfterMs(header: string | undefined, serviceNow: number): number | undefined {
  // A date contains a comma after the name of its day.
  const parts = header?.match(/(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,\s[^,]+|[^,]+/gi) ?? [];
  const pauses = parts.map((part) => pauseOf(part.trim(), serviceNow)).filter((ms) => ms !== undefined);
  return pauses.length === 0 ? undefined : Math.max(...pauses);
}

function pauseOf(text: string, serviceNow: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), Number.MAX_SAFE_INTEGER);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  // The oldest of the three date formats names no zone, and is in GMT too.
  const at = Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
  // A date has whole seconds, so the pause lasts to the end of that second.
  return Number.isNaN(at) || at <= serviceNow ? undefined : at + 999 - serviceNow;
}
