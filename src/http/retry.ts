import type { FailureType, TransportFailure } from './transport-failure.ts';

/** At most this many times is one request sent. */
export const MAX_ATTEMPTS = 5;

const BASE_MS = 500;
const CAP_MS = 20_000;
const STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const FAILURES: ReadonlySet<FailureType> = new Set([
  'timeout',
  'refused',
  'reset',
  'dns',
  'proxy',
  'unreachable',
]);

/** Whether a request may be sent again: `always` (it only reads), or only when it surely had no effect. */
export type Repeatable = 'always' | 'unsent';

/** What one attempt ended in. */
export type Outcome = { readonly status: number } | { readonly failure: TransportFailure };

/** Whether the request may be sent again after this outcome (R15, R20). */
export function mayRetry(outcome: Outcome, repeatable: Repeatable): boolean {
  if ('status' in outcome) {
    return repeatable === 'always' ? STATUSES.has(outcome.status) : outcome.status === 429;
  }
  if (!FAILURES.has(outcome.failure.kind)) return false;
  return repeatable === 'always' || !outcome.failure.sent;
}

/** Whether a request that may have an effect is left without a known result. */
export function isUnclear(outcome: Outcome, repeatable: Repeatable): boolean {
  if (repeatable === 'always') return false;
  return 'status' in outcome ? outcome.status === 408 || outcome.status >= 500 : outcome.failure.sent;
}

/** Full jitter: anywhere between nothing and a bound that doubles with each attempt, up to 20 s (R16). */
export function backoffMs(attempt: number, random: () => number): number {
  return Math.floor(random() * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
}

/**
 * A budget of retries for all requests of a client. Retries draw on it and successes refill it,
 * so that a dead service is not hammered by a command that makes many requests.
 */
export class RetryQuota {
  #left = 20;

  /** Takes the price of one retry; false when nothing is left. */
  take(): boolean {
    if (this.#left < 2) return false;
    this.#left -= 2;
    return true;
  }

  /** A request succeeded. */
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
  // A date has a comma of its own, after the name of its day.
  const parts = header?.match(/(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,\s[^,]+|[^,]+/gi) ?? [];
  const pauses = parts.map((part) => pauseOf(part.trim(), serviceNow)).filter((ms) => ms !== undefined);
  return pauses.length === 0 ? undefined : Math.max(...pauses);
}

function pauseOf(text: string, serviceNow: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), Number.MAX_SAFE_INTEGER);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  // The oldest of the three forms of a date names no zone: it is GMT like the others.
  const at = Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
  // A date has whole seconds: wait to the end of that second rather than undercut it.
  return Number.isNaN(at) || at <= serviceNow ? undefined : at + 999 - serviceNow;
}

const LONGEST_NAMED_S = 86_400;

/** What to say of a pause that is longer than allowed. One of more than a day is not worth naming, or allowing. */
export function longPause(ms: number): { words: string; hint: string; facts: { retry_after_s: number } } {
  const seconds = Math.ceil(ms / 1000);
  const facts = { retry_after_s: seconds };
  if (seconds <= LONGEST_NAMED_S) {
    const hint = `Run the command again in ${seconds} s, or allow the pause with --max-wait ${seconds}s.`;
    return { words: `${seconds} s`, hint, facts };
  }
  return {
    words: 'more than a day',
    hint: "Run the command again later, and contact the service's support if it still asks for this.",
    facts,
  };
}

/** How long each stage of one exchange may take, in milliseconds. */
export interface TimeLimits {
  /** Name look-up, connection, TLS and a proxy's tunnel together. */
  readonly connect: number;
  /** From the last byte sent to the answer's headers. */
  readonly headers: number;
  /** Longest silence while a body flows, either way. */
  readonly idle: number;
  /** The whole body of an answer; Infinity where its size is not bounded. */
  readonly body: number;
}

/** Limits for the service's own endpoints. */
export const API_LIMITS: TimeLimits = { connect: 10_000, headers: 30_000, idle: 30_000, body: 60_000 };

/** Limits for files: as long as bytes keep coming, no bound on the whole. */
export const FILE_LIMITS: TimeLimits = { connect: 10_000, headers: 60_000, idle: 30_000, body: Infinity };
