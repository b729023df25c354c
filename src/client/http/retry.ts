// Decides whether and when a request is repeated.

import { isSvcError, SvcError } from '../../base/errors.ts';
import { type Clock, DEFAULT_MAX_WAIT_MS } from '../../base/system.ts';
import type { FailureKind, TransportFailure } from './transport-failure.ts';

/** The most attempts of one request. */
export const MAX_ATTEMPTS = 5;

/** Options for repeating attempts. */
export interface RetryOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal?: AbortSignal | undefined;
  readonly random?: (() => number) | undefined;
  /** The longest single pause that a server may request, in milliseconds; 90 s by default. */
  readonly maxWaitMs?: number | undefined;
}

/** The options and what each caller adds. */
export interface RetryPolicy extends RetryOptions {
  /** The most failed attempts in a row; five by default. */
  readonly attempts?: number | undefined;
  /** Ends the waiting when it aborts: the last failure's error is thrown. */
  readonly giveUp?: AbortSignal | undefined;
  /** Pays for every attempt after the first. */
  readonly quota?: RetryQuota | undefined;
  /** Called before each pause. */
  readonly onWait?: ((ms: number, failure: RetryableFailure) => void) | undefined;
}

/** An attempt that failed and may be repeated. */
export interface RetryableFailure {
  /** Thrown when there is no further attempt. */
  readonly error: Error;
  /** The pause that the server requested, in milliseconds. */
  readonly askedMs?: number | undefined;
  /** Whether the next attempt follows at once, since the cause of the failure is known. */
  readonly atOnce?: boolean | undefined;
  /** Whether the attempt made progress, so that earlier failures no longer count. */
  readonly advanced?: boolean | undefined;
}

/**
 * Makes attempts until one succeeds. Between them it waits as long as the server requests, plus a random time up to a
 * bound that doubles (full jitter).
 * @throws what an attempt throws; the error of the last failure; SvcError `rate_limited` for a pause that is longer
 *   than allowed; the signal's reason
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
    const { error, askedMs = 0, atOnce = false, advanced = false } = outcome;
    failed = advanced ? 1 : failed + 1;
    if (failed >= attempts) throw error;
    if (askedMs > maxWaitMs) throw tooLongError(error, askedMs, maxWaitMs);
    if (policy.quota?.take() === false) throw error;
    if (atOnce) continue;
    const ms = askedMs + backoffMs(failed - 1, random);
    policy.onWait?.(ms, outcome);
    await pause(ms, error, policy);
  }
}

/** Waits. If the command's time is up meanwhile, the error says what the request was waiting for. */
async function pause(ms: number, waitingFor: Error, { clock, signal, giveUp }: RetryPolicy): Promise<void> {
  const signals = [signal, giveUp].filter((one) => one !== undefined);
  try {
    await clock.sleep(ms, signals.length > 1 ? AbortSignal.any(signals) : signals[0]);
  } catch (error) {
    if (giveUp?.aborted === true && signal?.aborted !== true) throw waitingFor;
    if (!isSvcError(error, 'timeout')) throw error;
    throw error.with({
      message: `${error.message}; ${waitingFor.message}`,
      ...(waitingFor instanceof SvcError && { status: waitingFor.status, requestId: waitingFor.requestId }),
    });
  }
}

const LONGEST_NAMED_S = 86_400;

/** Returns the error for a pause longer than the operator allows (R17). More than a day is not named exactly. */
function tooLongError(error: Error, askedMs: number, maxWaitMs: number): SvcError {
  const seconds = Math.ceil(askedMs / 1000);
  const isNamed = seconds <= LONGEST_NAMED_S;
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

/** The outcome of one attempt. */
export type StatusOrFailure = { readonly status: number } | { readonly failure: TransportFailure };

/** Whether another attempt may succeed (R15). A request that may have taken effect must not be sent again all the same. */
export function isTransient(outcome: StatusOrFailure): boolean {
  return 'status' in outcome ? STATUSES.has(outcome.status) : FAILURES.has(outcome.failure.kind);
}

/** Returns a random pause up to a bound that doubles with each attempt, up to 20 s (full jitter, R16). */
export function backoffMs(attempt: number, random: () => number): number {
  return Math.floor(random() * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
}

/**
 * A budget of retries for all requests of a client. Retries draw on it and successes refill it,
 * so that a dead service is not hammered by a command that makes many requests.
 */
export class RetryQuota {
  #left = 20;

  /** Pays for one retry; false if the budget is used up. */
  take(): boolean {
    if (this.#left < 2) return false;
    this.#left -= 2;
    return true;
  }

  /** Refills the budget after a success. */
  refill(): void {
    this.#left = Math.min(20, this.#left + 1);
  }
}

/**
 * Reads a `Retry-After` header: whole or decimal seconds, or an HTTP date, which is compared with the
 * service's own clock. Where it was sent several times, joined with commas, the longest counts.
 * Anything else, and anything in the past, counts as not given.
 * @returns milliseconds to wait, or undefined
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
  // The oldest of the three date formats names no zone; it is GMT like the others.
  const at = Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
  // A date has whole seconds, so the pause lasts to the end of that second.
  return Number.isNaN(at) || at <= serviceNow ? undefined : at + 999 - serviceNow;
}

/** The time limits for the stages of one exchange, in milliseconds. */
export interface TimeLimits {
  /** DNS, connection, TLS and a proxy's tunnel together. */
  readonly connect: number;
  /** From the last byte sent to the response's headers. */
  readonly headers: number;
  /** Longest silence while a body flows, either way. */
  readonly idle: number;
  /** The whole body of a response; Infinity where its size is not bounded. */
  readonly body: number;
}

/** Limits for the service's own endpoints. */
export const API_LIMITS: TimeLimits = { connect: 10_000, headers: 30_000, idle: 30_000, body: 60_000 };

/** The longest time, in milliseconds, that a command waits for reads that it can do without (R86). */
export const BEST_EFFORT_MS = 2_000;

/** Limits for files: no limit on the whole body while bytes keep arriving. */
export const FILE_LIMITS: TimeLimits = { connect: 10_000, headers: 60_000, idle: 30_000, body: Infinity };
