import { randomBytes } from 'node:crypto';
import type { KeyType } from '../schema/tenant.ts';
import type { Clock } from '../system.ts';

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
  readonly rules: readonly string[];
  readonly sentAt: number;
  answeredAt?: number | undefined;
}

/** What was sent with one key of late, and until when the service refuses more, by rule. */
export interface SendLog {
  slots: Slot[];
  readonly heldUntil: Record<string, number>;
}

/** Keeps the log of each key: in this process, or where others see it too. */
export interface SendLogs {
  /** Whether other processes send with the same logs. */
  readonly isShared: boolean;
  /** Changes the log of a key while nobody else does. Never fails. */
  update<T>(request: PacedRequest, change: (log: SendLog) => T): Promise<T>;
}

/** Logs that end with the process. */
export class OwnLogs implements SendLogs {
  readonly isShared = false;
  readonly #logs = new Map<KeyType, SendLog>();

  update<T>({ key }: PacedRequest, change: (log: SendLog) => T): Promise<T> {
    const log = this.#logs.get(key) ?? { slots: [], heldUntil: {} };
    this.#logs.set(key, log);
    return Promise.resolve(change(log));
  }
}

/** A request of another process that no response was recorded for may have died with it. */
const LONGEST_UNANSWERED_MS = 30_000;
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
  readonly #process = randomBytes(6).toString('hex');
  #count = 0;

  constructor(rules: readonly RateRule[], clock: Clock, logs: SendLogs = new OwnLogs()) {
    this.#rules = rules;
    this.#clock = clock;
    this.#logs = logs;
  }

  /**
   * Waits until this request fits, then counts it. `onWait` is called before each pause.
   * @returns what to call when the request has ended, however it did
   */
  async take(
    request: PacedRequest,
    signal: AbortSignal | undefined,
    onWait: (ms: number) => void,
  ): Promise<() => Promise<void>> {
    if (this.#applying(request).length === 0) return () => Promise.resolve();
    const id = `${this.#process}.${(this.#count += 1)}`;
    for (;;) {
      const ms = await this.#logs.update(request, (log) => this.#tryTake(log, request, id));
      if (ms <= 0) break;
      onWait(ms);
      await this.#clock.sleep(this.#logs.isShared ? Math.min(ms, ASK_AGAIN_MS) : ms, signal);
    }
    return () =>
      this.#logs.update(request, ({ slots }) => {
        const slot = slots.find((one) => one.id === id);
        if (slot) slot.answeredAt ??= this.#clock.now();
      });
  }

  /** Holds back everything under the rule that the service says this request broke, for `ms`. */
  async hold(request: PacedRequest, ms: number): Promise<void> {
    // The rules stand from the narrowest to the widest.
    const [broken] = this.#applying(request);
    if (!broken) return;
    const until = this.#clock.now() + ms;
    await this.#logs.update(request, ({ heldUntil }) => {
      heldUntil[broken.name] = Math.max(until, heldUntil[broken.name] ?? 0);
    });
  }

  /** How long the service is known to block after a refusal that does not say. */
  blockMs(request: PacedRequest): number {
    return Math.max(0, ...this.#applying(request).map(({ blockMs }) => blockMs));
  }

  /** Counts the request if it fits now, else gives the milliseconds until it may. */
  #tryTake(log: SendLog, request: PacedRequest, id: string): number {
    const now = this.#clock.now();
    const rules = this.#applying(request);
    const longest = Math.max(...this.#rules.map(({ windowMs }) => windowMs));
    log.slots = log.slots.filter((slot) => this.#countedAt(slot, now) > now - longest);
    const ms = Math.max(...rules.map((rule) => this.#delayOf(rule, log, now)));
    if (ms <= 0) log.slots.push({ id, rules: rules.map(({ name }) => name), sentAt: now });
    return ms;
  }

  #delayOf(rule: RateRule, { slots, heldUntil }: SendLog, now: number): number {
    const counted = slots.filter(
      (slot) => slot.rules.includes(rule.name) && this.#countedAt(slot, now) > now - rule.windowMs,
    );
    const own = counted.filter((slot) => this.#isOwn(slot)).length;
    const isLarge = this.#logs.isShared && own > Math.max(2, rule.count * SMALL_SHARE);
    const left = Math.min(LEFT_TO_SMALL, Math.ceil(rule.count * SMALL_SHARE));
    const limit = isLarge ? rule.count - left : rule.count;
    const times = counted.map((slot) => this.#countedAt(slot, now)).toSorted((a, b) => a - b);
    const oldest = times.at(-limit);
    const fits = oldest === undefined ? now : oldest + rule.windowMs;
    return Math.max(fits, heldUntil[rule.name] ?? 0) - now;
  }

  /** The latest time at which the service can have counted it. */
  #countedAt(slot: Slot, now: number): number {
    if (slot.answeredAt !== undefined) return slot.answeredAt;
    return this.#isOwn(slot) ? now : Math.min(now, slot.sentAt + LONGEST_UNANSWERED_MS);
  }

  #isOwn({ id }: Slot): boolean {
    return id.startsWith(this.#process);
  }

  #applying({ key, path }: PacedRequest): readonly RateRule[] {
    return this.#rules.filter((rule) => rule.applies(key, path));
  }
}
