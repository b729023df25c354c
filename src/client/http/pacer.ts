import { SvcError } from '../../base/errors.ts';
import { type Clock, DEFAULT_MAX_WAIT_MS } from '../../base/system.ts';
import type { KeyType } from '../../schema/tenant.ts';

/** At most `count` requests of a kind in any `windowMs`; breaking it blocks the key for `blockMs`. */
export interface RateRule {
  readonly name: string;
  readonly applies: (key: KeyType, path: string) => boolean;
  readonly count: number;
  readonly windowMs: number;
  readonly blockMs: number;
}

/** What is known of the service's limits, per key, the narrowest first, with a little room for other users of the key. */
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

/** A request to be counted; `secret` is the value of its key, by which processes that share it find each other. */
export interface PacedRequest {
  readonly key: KeyType;
  readonly path: string;
  readonly secret?: string | undefined;
}

/** One request: when it was sent, and when its response came, or nothing while it may still be on its way. */
export interface Slot {
  readonly id: string;
  /** What it counts under; nothing where it was not sent after all. */
  readonly rules: readonly string[];
  readonly sentAt: number;
  readonly answeredAt?: number | undefined;
  /** It was refused: until when the service refuses more under these rules. It does not count. */
  readonly heldUntil?: number | undefined;
}

/** Keeps what was sent with each key, until the process ends. */
export class SendLogs {
  /** Whether other processes send with the same logs. */
  readonly isShared: boolean = false;
  readonly #logs = new Map<KeyType, readonly Slot[]>();

  /** Adds a slot, or what it became. Never fails. */
  add({ key }: PacedRequest, slot: Slot): void {
    const since = (slot.answeredAt ?? slot.sentAt) - LONGEST_WINDOW_MS;
    const isOfLate = ({ id, answeredAt = Infinity, heldUntil = answeredAt }: Slot): boolean =>
      id !== slot.id && heldUntil > since;
    this.#logs.set(key, [...(this.#logs.get(key) ?? []).filter(isOfLate), slot]);
  }

  /** The slots of late with what they became, or only those that were added before the slot `before`. Never fails. */
  read({ key }: PacedRequest, before?: string): readonly Slot[] {
    return (this.#logs.get(key) ?? []).filter(({ id }) => id !== before);
  }
}

const LONGEST_WINDOW_MS = Math.max(...KNOWN_RATES.map(({ windowMs }) => windowMs));
/** A request of another process that no response was recorded for may have died with it. */
const LONGEST_UNANSWERED_MS = 30_000;
/** A hold of more than a day is a mistake, of the service or of whoever wrote it into a file. */
const LONGEST_HOLD_MS = 86_400_000;
/** How long a slot is of use after it was added, unless it is a hold. */
export const SLOT_LIFE_MS = LONGEST_WINDOW_MS + LONGEST_UNANSWERED_MS;
/** Another process may take the slot that is waited for, or end before its time. */
const ASK_AGAIN_MS = 2_000;
/** A process that sent more than a tenth of what a limit allows leaves so many requests to those that send little. */
const SMALL_SHARE = 0.1;
const LEFT_TO_SMALL = 2;

/**
 * Holds requests back so that the service never has to (R18). A request counts from the moment it goes until a
 * window after its response: when in between the service counted it is unknown.
 */
export class Pacer {
  readonly #rules: readonly RateRule[];
  readonly #clock: Clock;
  readonly #logs: SendLogs;
  readonly #maxWaitMs: number;
  readonly #process = Math.random().toString(36).slice(2);
  #count = 0;

  /** `maxWaitMs` is the longest pause that other requests with the key may cause, and the service for them. */
  constructor(
    rules: readonly RateRule[],
    clock: Clock,
    logs = new SendLogs(),
    maxWaitMs: number = DEFAULT_MAX_WAIT_MS,
  ) {
    this.#rules = rules;
    this.#clock = clock;
    this.#logs = logs;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Waits until this request fits, then counts it. `onWait` is called before each pause.
   * @returns what to call when the request has ended, however it did
   * @throws SvcError `rate_limited` when others would make it wait longer than it may
   */
  async take(
    request: PacedRequest,
    signal: AbortSignal | undefined,
    onWait: (ms: number) => void,
  ): Promise<() => void> {
    const rules = this.#applying(request).map(({ name }) => name);
    if (rules.length === 0) return () => undefined;
    for (;;) {
      const slots = this.#logs.read(request);
      let ms = this.#delay(request, slots);
      this.#refuseLongWait(request, slots, ms);
      if (ms <= 0) {
        // Another for each attempt: its place in the log is that of the attempt.
        const slot: Slot = { id: this.#nextId(), rules, sentAt: this.#clock.now() };
        this.#logs.add(request, slot);
        // Others may do the same in this moment: who came first goes first.
        ms = this.#delay(request, this.#logs.read(request, slot.id));
        if (ms <= 0) return () => this.#logs.add(request, { ...slot, answeredAt: this.#clock.now() });
        this.#logs.add(request, { ...slot, rules: [], answeredAt: slot.sentAt });
      }
      onWait(ms);
      await this.#clock.sleep(this.#logs.isShared ? Math.min(ms, ASK_AGAIN_MS) : ms, signal);
    }
  }

  /** Holds back everything under the rule that the service says this request broke, for `ms`, at most for a day. */
  hold(request: PacedRequest, ms: number): void {
    if (ms > LONGEST_HOLD_MS) return;
    // The rules stand from the narrowest to the widest.
    const [broken] = this.#applying(request);
    const sentAt = this.#clock.now();
    if (broken) this.#logs.add(request, { id: this.#nextId(), rules: [broken.name], sentAt, heldUntil: sentAt + ms });
  }

  /** How long the service is known to block after a refusal that does not say. */
  blockMs(request: PacedRequest): number {
    return Math.max(0, ...this.#applying(request).map(({ blockMs }) => blockMs));
  }

  /** Milliseconds until the request fits beside these slots. */
  #delay(request: PacedRequest, slots: readonly Slot[]): number {
    const now = this.#clock.now();
    return Math.max(...this.#applying(request).map((rule) => this.#delayOf(rule, slots, now)));
  }

  /** What this process sent itself may make it wait for longer. */
  #refuseLongWait(request: PacedRequest, slots: readonly Slot[], ms: number): void {
    if (ms <= this.#maxWaitMs) return;
    const held = this.#delay(
      request,
      slots.filter(({ heldUntil }) => heldUntil !== undefined),
    );
    if (held > this.#maxWaitMs)
      throw waitError('the service asked an earlier request with this key to wait', held, this.#maxWaitMs);
    const own = slots.filter((slot) => this.#isOwn(slot));
    if (this.#delay(request, own) <= this.#maxWaitMs)
      throw waitError('other processes use up the rate limit of this key', ms, this.#maxWaitMs);
  }

  #delayOf(rule: RateRule, slots: readonly Slot[], now: number): number {
    const ruled = slots.filter(({ rules }) => rules.includes(rule.name));
    const counted = ruled.filter(
      (slot) => slot.heldUntil === undefined && this.#countedAt(slot, now) > now - rule.windowMs,
    );
    const own = counted.filter((slot) => this.#isOwn(slot)).length;
    const isLarge = this.#logs.isShared && own > Math.max(2, rule.count * SMALL_SHARE);
    const left = Math.min(LEFT_TO_SMALL, Math.ceil(rule.count * SMALL_SHARE));
    const limit = isLarge ? rule.count - left : rule.count;
    const times = counted.map((slot) => this.#countedAt(slot, now)).toSorted((a, b) => a - b);
    const oldest = times.at(-limit);
    const fits = oldest === undefined ? now : oldest + rule.windowMs;
    const heldUntil = ruled.map((slot) => slot.heldUntil ?? 0).filter((until) => until <= now + LONGEST_HOLD_MS);
    return heldUntil.reduce((latest, until) => Math.max(latest, until), fits) - now;
  }

  /** The latest time at which the service can have counted it. */
  #countedAt(slot: Slot, now: number): number {
    if (slot.answeredAt !== undefined) return slot.answeredAt;
    return this.#isOwn(slot) ? now : Math.min(now, slot.sentAt + LONGEST_UNANSWERED_MS);
  }

  #isOwn({ id }: Slot): boolean {
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
