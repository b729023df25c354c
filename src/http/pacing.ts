import type { Clock } from '../clock.ts';
import type { KeyKind } from './request.ts';

/** At most `count` requests of a kind in any `windowMs`; breaking it blocks the key for `blockMs`. */
export interface RateRule {
  readonly applies: (key: KeyKind, path: string) => boolean;
  readonly count: number;
  readonly windowMs: number;
  readonly blockMs: number;
}

/** What is known of the service's limits, per key, with a little room for clocks that differ. */
export const KNOWN_RATES: readonly RateRule[] = [
  { applies: (_, path) => path.startsWith('/account-updater'), count: 9, windowMs: 10_000, blockMs: 10_000 },
  { applies: (key) => key === 'management', count: 190, windowMs: 60_000, blockMs: 60_000 },
  { applies: () => true, count: 48, windowMs: 10_000, blockMs: 10_000 },
];

/** Holds requests back so that the service never has to (R18). */
export class Pacer {
  readonly #rules: readonly RateRule[];
  readonly #clock: Clock;
  readonly #sent = new Map<RateRule, Map<KeyKind, number[]>>();

  constructor(rules: readonly RateRule[], clock: Clock) {
    this.#rules = rules;
    this.#clock = clock;
  }

  /** Waits until this request fits, then counts it. `onWait` is told of each pause. */
  async take(
    key: KeyKind,
    path: string,
    signal: AbortSignal | undefined,
    onWait: (ms: number) => void,
  ): Promise<void> {
    for (let ms = this.#delay(key, path); ms > 0; ms = this.#delay(key, path)) {
      onWait(ms);
      await this.#clock.sleep(ms, signal);
    }
    for (const times of this.#times(key, path)) times.push(this.#clock.now());
  }

  /** How long the service is known to block after a refusal that does not say. */
  blockMs(key: KeyKind, path: string): number {
    return Math.max(0, ...this.#rules.filter((rule) => rule.applies(key, path)).map((rule) => rule.blockMs));
  }

  #delay(key: KeyKind, path: string): number {
    const now = this.#clock.now();
    let delay = 0;
    for (const rule of this.#rules.filter((candidate) => candidate.applies(key, path))) {
      const times = this.#timesOf(rule, key);
      while (times[0] !== undefined && times[0] <= now - rule.windowMs) times.shift();
      const oldest = times[times.length - rule.count];
      if (oldest !== undefined) delay = Math.max(delay, oldest + rule.windowMs - now);
    }
    return delay;
  }

  #times(key: KeyKind, path: string): number[][] {
    return this.#rules.filter((rule) => rule.applies(key, path)).map((rule) => this.#timesOf(rule, key));
  }

  #timesOf(rule: RateRule, key: KeyKind): number[] {
    const byKey = this.#sent.get(rule) ?? new Map<KeyKind, number[]>();
    this.#sent.set(rule, byKey);
    const times = byKey.get(key) ?? [];
    byKey.set(key, times);
    return times;
  }
}
