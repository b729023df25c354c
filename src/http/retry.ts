import type { FailureKind, TransportFailure } from './transport-failure.ts';

/** At most this many times is one request sent. */
export const MAX_ATTEMPTS = 5;

const BASE_MS = 500;
const CAP_MS = 20_000;
const STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const FAILURES: ReadonlySet<FailureKind> = new Set([
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
