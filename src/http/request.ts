import type { KeyType } from '../schema/key-type.ts';
import type { Clock } from '../system.ts';
import { type ErrorDetails, SvcError } from '../errors.ts';

/** Whether a request may be sent again: `always` (it only reads), or only when it surely had no effect. */
export type Repeatable = 'always' | 'unsent';

/** A shape that a response must have. Any zod schema is one. */
export interface Shape<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

/** Parameters by name, without the question mark. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** One call of an endpoint, as its resource describes it. */
export interface ApiRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Made by `path`, so that every part is encoded. */
  readonly path: string;
  /** A list sends the parameter once for each of its values. */
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly key: KeyType;
  /** The permission that the key needs, for the message when it is refused. */
  readonly permission?: string | undefined;
  /** The response's shape, or how to load it while the response is on its way. Without one the body is not read. */
  readonly shape?: Shape<T> | (() => Promise<Shape<T>>) | undefined;
  /** The caller reads the items of this list one by one: they may be nested as deep as they like. */
  readonly itemsOfAnyDepth?: boolean | undefined;
  /** By default only GET is always repeatable. */
  readonly repeatable?: Repeatable | undefined;
  /** Sent at most this many times, however clear it is that it had no effect; five by default. */
  readonly attempts?: number | undefined;
  /** How to find out what happened when no clear response came. */
  readonly whenUnclear?: Pick<ErrorDetails, 'hint' | 'next'> | undefined;
  /** What is requested, for messages: «job 3f…». */
  readonly subject?: string | undefined;
}

/** Builds a path from a template, each value encoded as one part of it. */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((text, part, index) => text + encodePart(values[index - 1] ?? '') + part);
}

/** Joins base URL, path and query. The base may hold a path of its own. */
export function buildUrl(base: URL, requestPath: string, query: ApiRequest<unknown>['query'] = {}): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/+$/, '') + requestPath;
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const one of value) url.searchParams.append(name, String(one));
    else if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

/** Whether the request may be sent again, by its own word or its method. */
export function repeatableOf(request: ApiRequest<unknown>): Repeatable {
  return request.repeatable ?? (request.method === 'GET' ? 'always' : 'unsent');
}

function encodePart(value: string): string {
  // URL parsing resolves dot parts even when they are percent-encoded: they would name another endpoint.
  if (value === '' || /^\.{1,2}$/.test(value)) throw new SvcError('usage', 'an id must not be empty or made of dots');
  return encodeURIComponent(value);
}

/** The service's time, learned from the `Date` header of its responses (R25). */
export class ServiceClock {
  readonly #clock: Clock;
  #offset = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds by which the service's clock is ahead of ours. */
  get offset(): number {
    return this.#offset;
  }

  /** Milliseconds since the epoch, by the service's clock. */
  now(): number {
    return this.#clock.now() + this.#offset;
  }

  /** Learns from a `Date` header. It has whole seconds: a difference below one says nothing. */
  learn(header: string | undefined): void {
    const at = header === undefined ? Number.NaN : Date.parse(header);
    if (Number.isNaN(at)) return;
    const offset = at + 500 - this.#clock.now();
    this.#offset = Math.abs(offset) <= 1_000 ? 0 : offset;
  }
}

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
 * window after its response: when in between the service counted it is unknown.
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
   * Waits until this request fits, then counts it. `onWait` is called before each pause.
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
    return this.#rules.flatMap((rule, index) => (rule.applies(key, path) ? [{ rule, id: `${index} ${key}` }] : []));
  }

  #slotsOf(id: string): Slot[] {
    const slots = this.#slots.get(id) ?? [];
    this.#slots.set(id, slots);
    return slots;
  }
}
