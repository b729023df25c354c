// Delays requests to stay below the rate limits of the service.

import { SvcError } from '../../base/errors.ts';
import { type Clock, DEFAULT_MAX_WAIT_MS } from '../../base/system.ts';
import { DAY_MS } from '../../schema/durations.ts';
import type { KeyType } from '../../schema/tenant.ts';

/** A rate limit: at most `count` requests of a kind in any `windowMs`. Further requests block the key for `blockMs`. */
export interface RateRule {
  readonly name: string;
  readonly applies: (key: KeyType, path: string) => boolean;
  readonly count: number;
  readonly windowMs: number;
  readonly blockMs: number;
}

/** The known rate limits of the service, per key, narrowest first, reduced a little for other users of the key. */
export const KNOWN_RATES: readonly RateRule[] = [
  {
    name: 'account-updater',
    applies: (_, path) => path.startsWith('/account-updater'),
    count: 9,
    windowMs: 10_000,
    blockMs: 10_000,
  },
  { name: 'minute', applies: (key) => key === 'management', count: 190, windowMs: 60_000, blockMs: 60_000 },
  { name: 'burst', applies: () => true, count: 48, windowMs: 10_000, blockMs: 10_000 },
];

/** A request to count. `secret` is its key: processes with the same key share a ledger. */
export interface PacedRequest {
  readonly key: KeyType;
  readonly path: string;
  readonly secret?: string | undefined;
}

/** One request in the ledger. `answeredAt` is absent while the response is outstanding. */
export interface LedgerEntry {
  readonly id: string;
  /** Names of the rules that count the request; empty for a request that was not sent after all. */
  readonly rules: readonly string[];
  readonly sentAt: number;
  readonly answeredAt?: number | undefined;
  /** For a refused request: the time until which the service refuses requests under these rules. The request does not count. */
  readonly heldUntil?: number | undefined;
}

/** The requests that this process sent with each key. */
export class RateLedger {
  /** Whether other processes write to the same ledger. */
  readonly isShared: boolean = false;
  readonly #entries = new Map<KeyType, readonly LedgerEntry[]>();

  /** Adds an entry, or replaces the one with its id. Never fails. */
  add({ key }: PacedRequest, entry: LedgerEntry): void {
    const since = (entry.answeredAt ?? entry.sentAt) - MAX_WINDOW_MS;
    const isOfLate = ({ id, answeredAt = Infinity, heldUntil = answeredAt }: LedgerEntry): boolean =>
      id !== entry.id && heldUntil > since;
    this.#entries.set(key, [...(this.#entries.get(key) ?? []).filter(isOfLate), entry]);
  }

  /** Returns the entries that still count, or only those added before the entry `before`. Never fails. */
  read({ key }: PacedRequest, before?: string): readonly LedgerEntry[] {
    return (this.#entries.get(key) ?? []).filter(({ id }) => id !== before);
  }
}

const MAX_WINDOW_MS = Math.max(...KNOWN_RATES.map(({ windowMs }) => windowMs));
/** How long a request of another process counts without a response: that process may have died. */
const MAX_UNANSWERED_MS = 30_000;
/** The maximum length of a hold. A longer hold is a mistake of the service or comes from a damaged file, and is ignored. */
const MAX_HOLD_MS = DAY_MS;
/** How long an entry counts after it was added, unless it is a hold. */
export const ENTRY_LIFE_MS = MAX_WINDOW_MS + MAX_UNANSWERED_MS;
/** How often a waiting process rereads a shared ledger: others may send more, or less, than expected. */
const ASK_AGAIN_MS = 2_000;
/** A process that sent more than this share of a limit leaves `LEFT_TO_SMALL` requests to processes that send little. */
const SMALL_SHARE = 0.1;
const LEFT_TO_SMALL = 2;

/**
 * Delays requests so that the service never refuses one for its rate (R18). A request counts from the moment it is sent
 * until one window after its response, since the service may have counted it at any moment in between.
 */
export class Pacer {
  readonly #rules: readonly RateRule[];
  readonly #clock: Clock;
  readonly #ledger: RateLedger;
  readonly #maxWaitMs: number;
  readonly #process = Math.random().toString(36).slice(2);
  #count = 0;

  /** `maxWaitMs` is the maximum pause because of other users of the key. */
  constructor(
    rules: readonly RateRule[],
    clock: Clock,
    ledger = new RateLedger(),
    maxWaitMs: number = DEFAULT_MAX_WAIT_MS,
  ) {
    this.#rules = rules;
    this.#clock = clock;
    this.#ledger = ledger;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Waits until the limits allow a request, then counts the request. Calls `onWait` before each pause.
   * @returns a function to call when the request has ended, with or without success
   * @throws SvcError `rate_limited` when other users of the key would cause a pause longer than `maxWaitMs`
   */
  async take(
    request: PacedRequest,
    signal: AbortSignal | undefined,
    onWait: (ms: number) => void,
  ): Promise<() => void> {
    const rules = this.#applying(request).map(({ name }) => name);
    if (rules.length === 0) return () => undefined;
    for (;;) {
      const entries = this.#ledger.read(request);
      let ms = this.#delay(request, entries);
      this.#refuseLongWait(request, entries, ms);
      if (ms <= 0) {
        // Adds a new entry for each attempt, since the position in the ledger decides whose turn it is.
        const entry: LedgerEntry = { id: this.#nextId(), rules, sentAt: this.#clock.now() };
        this.#ledger.add(request, entry);
        // Another process may add an entry at the same moment. The earlier entry has the turn.
        ms = this.#delay(request, this.#ledger.read(request, entry.id));
        if (ms <= 0) return () => this.#ledger.add(request, { ...entry, answeredAt: this.#clock.now() });
        this.#ledger.add(request, { ...entry, rules: [], answeredAt: entry.sentAt });
      }
      onWait(ms);
      await this.#clock.sleep(this.#ledger.isShared ? Math.min(ms, ASK_AGAIN_MS) : ms, signal);
    }
  }

  /** Delays all requests under the rule that this request broke, for `ms`, at most for a day. */
  hold(request: PacedRequest, ms: number): void {
    if (ms > MAX_HOLD_MS) return;
    // The service does not name the broken rule. The narrowest rule is the most likely.
    const [broken] = this.#applying(request);
    const sentAt = this.#clock.now();
    if (broken) this.#ledger.add(request, { id: this.#nextId(), rules: [broken.name], sentAt, heldUntil: sentAt + ms });
  }

  /** Returns how long the service blocks a key after a refusal without `Retry-After`. */
  blockMs(request: PacedRequest): number {
    return Math.max(0, ...this.#applying(request).map(({ blockMs }) => blockMs));
  }

  /** Returns the milliseconds until the limits allow the request, after these entries. */
  #delay(request: PacedRequest, entries: readonly LedgerEntry[]): number {
    const now = this.#clock.now();
    return Math.max(...this.#applying(request).map((rule) => this.#delayOf(rule, entries, now)));
  }

  /** Fails when other users of the key cause a pause longer than allowed. Its own requests may cause any pause. */
  #refuseLongWait(request: PacedRequest, entries: readonly LedgerEntry[], ms: number): void {
    if (ms <= this.#maxWaitMs) return;
    const held = this.#delay(
      request,
      entries.filter(({ heldUntil }) => heldUntil !== undefined),
    );
    if (held > this.#maxWaitMs)
      throw waitError('the service asked an earlier request with this key to wait', held, this.#maxWaitMs);
    const own = entries.filter((entry) => this.#isOwn(entry));
    if (this.#delay(request, own) <= this.#maxWaitMs)
      throw waitError('other processes use up the rate limit of this key', ms, this.#maxWaitMs);
  }

  #delayOf(rule: RateRule, entries: readonly LedgerEntry[], now: number): number {
    const ruled = entries.filter(({ rules }) => rules.includes(rule.name));
    const counted = ruled.filter(
      (entry) => entry.heldUntil === undefined && this.#countedAt(entry, now) > now - rule.windowMs,
    );
    const own = counted.filter((entry) => this.#isOwn(entry)).length;
    const isLarge = this.#ledger.isShared && own > Math.max(2, rule.count * SMALL_SHARE);
    const left = Math.min(LEFT_TO_SMALL, Math.ceil(rule.count * SMALL_SHARE));
    const limit = isLarge ? rule.count - left : rule.count;
    const times = counted.map((entry) => this.#countedAt(entry, now)).toSorted((a, b) => a - b);
    const oldest = times.at(-limit);
    const fits = oldest === undefined ? now : oldest + rule.windowMs;
    const heldUntil = ruled.map((entry) => entry.heldUntil ?? 0).filter((until) => until <= now + MAX_HOLD_MS);
    return heldUntil.reduce((latest, until) => Math.max(latest, until), fits) - now;
  }

  /** Returns the latest time at which the service can have counted a request. */
  #countedAt(entry: LedgerEntry, now: number): number {
    if (entry.answeredAt !== undefined) return entry.answeredAt;
    return this.#isOwn(entry) ? now : Math.min(now, entry.sentAt + MAX_UNANSWERED_MS);
  }

  #isOwn({ id }: LedgerEntry): boolean {
    return id.startsWith(this.#process);
  }

  #nextId(): string {
    this.#count += 1;
    return `${this.#process}.${this.#count}`;
  }

  #applying({ key, path }: PacedRequest): readonly RateRule[] {
    return this.#rules.filter((rule) => rule.applies(key, path));
  }
}

function waitError(why: string, ms: number, maxWaitMs: number): SvcError {
  const seconds = Math.ceil(ms / 1000);
  return new SvcError('rate_limited', `${why}; ${seconds} s are left, longer than ${maxWaitMs / 1000} s`, {
    hint: `Run the command again in ${seconds} s.`,
    facts: { retry_after_s: seconds },
  });
}
