import type { Clock } from '../system.ts';
import type { KeyType } from './request.ts';

/** At most `count` requests of a kind in any `windowMs`; breaking it blocks the key for `blockMs`. */
export interface RateRule {
  readonly applies: (key: KeyType, path: string) => boolean;
  readonly count: number;
  readonly windowMs: number;
  readonly blockMs: number;
}

/** What is known of the service's limits, per key, the narrowest first, with a little room for other users of the key. */
export const KNOWN_RATES: readonly RateRule[] = [
  { applies: (_, path) => path.startsWith('/account-updater'), count: 9, windowMs: 10_000, blockMs: 10_000 },
  { applies: (key) => key === 'management', count: 190, windowMs: 60_000, blockMs: 60_000 },
  { applies: () => true, count: 48, windowMs: 10_000, blockMs: 10_000 },
];

/** One request under a rule: when it was answered, or undefined while it may still be on its way. */
interface Slot {
  answeredAt: number | undefined;
}

/**
 * Holds requests back so that the service never has to (R18). A request counts from the moment it goes until a
 * window after its answer: nobody here knows when, in between, the service counted it.
 */
export class Pacer {
  readonly #rules: readonly RateRule[];
  readonly #clock: Clock;
  readonly #slots = new Map<string, Slot[]>();
  readonly #heldUntil = new Map<string, number>();

  constructor(rules: readonly RateRule[], clock: Clock) {
    this.#rules = rules;
    this.#clock = clock;
  }

  /**
   * Waits until this request fits, then counts it. `onWait` is told of each pause.
   * @returns what to call when the request has ended, however it did
   */
  async take(
    key: KeyType,
    path: string,
    signal: AbortSignal | undefined,
    onWait: (ms: number) => void,
  ): Promise<() => void> {
    for (let ms = this.#delay(key, path); ms > 0; ms = this.#delay(key, path)) {
      onWait(ms);
      await this.#clock.sleep(ms, signal);
    }
    const slot: Slot = { answeredAt: undefined };
    for (const { id } of this.#applying(key, path)) this.#slotsOf(id).push(slot);
    return () => {
      slot.answeredAt ??= this.#clock.now();
    };
  }

  /** Holds back everything under the rule that the service says this request broke, for `ms`. */
  hold(key: KeyType, path: string, ms: number): void {
    // The rules stand from the narrowest to the widest.
    const broken = this.#applying(key, path)[0];
    if (!broken) return;
    const until = this.#clock.now() + ms;
    this.#heldUntil.set(broken.id, Math.max(until, this.#heldUntil.get(broken.id) ?? 0));
  }

  /** How long the service is known to block after a refusal that does not say. */
  blockMs(key: KeyType, path: string): number {
    return Math.max(0, ...this.#applying(key, path).map(({ rule }) => rule.blockMs));
  }

  #delay(key: KeyType, path: string): number {
    return Math.max(0, ...this.#applying(key, path).map(({ rule, id }) => this.#delayOf(rule, id)));
  }

  #delayOf(rule: RateRule, id: string): number {
    const now = this.#clock.now();
    const slots = this.#slotsOf(id).filter(({ answeredAt = now }) => answeredAt > now - rule.windowMs);
    this.#slots.set(id, slots);
    const times = slots.map(({ answeredAt = now }) => answeredAt).toSorted((a, b) => a - b);
    const oldest = times.at(-rule.count);
    const fits = oldest === undefined ? now : oldest + rule.windowMs;
    return Math.max(fits, this.#heldUntil.get(id) ?? 0) - now;
  }

  #applying(key: KeyType, path: string): { rule: RateRule; id: string }[] {
    return this.#rules.flatMap((rule, index) =>
      rule.applies(key, path) ? [{ rule, id: `${index} ${key}` }] : [],
    );
  }

  #slotsOf(id: string): Slot[] {
    const slots = this.#slots.get(id) ?? [];
    this.#slots.set(id, slots);
    return slots;
  }
}
