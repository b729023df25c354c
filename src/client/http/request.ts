import { type ErrorDetails, SvcError } from '../../base/errors.ts';
import type { Clock } from '../../base/system.ts';
import type { KeyType } from '../../schema/tenant.ts';

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
  /** The path, made by `path` so that every part is encoded. */
  readonly path: string;
  /** A list sends the parameter once for each of its values. */
  readonly query?: Query | undefined;
  /** The body, sent as JSON. */
  readonly body?: unknown;
  readonly key: KeyType;
  /** The permission that the key needs, for the message when it is refused. */
  readonly permission?: string | undefined;
  /** The response's shape, or a function that loads it during the request. Without a shape the body is not read. */
  readonly shape?: Shape<T> | (() => Promise<Shape<T>>) | undefined;
  /** Whether items of this list may be nested to any depth, since the caller reads them one by one. */
  readonly itemsOfAnyDepth?: boolean | undefined;
  /** The most attempts, even if the request certainly had no effect; five by default. */
  readonly attempts?: number | undefined;
  /** Called before each attempt but the first; ends the call if it rejects. The pause before may have been long. */
  readonly beforeRepeat?: (() => Promise<void>) | undefined;
  /** How to find out what happened when no clear response came. */
  readonly whenUnclear?: Pick<ErrorDetails, 'hint' | 'next'> | undefined;
  /** The requested thing, for messages: `job 3f…`. */
  readonly subject?: string | undefined;
}

/** Builds a path from a template, each value encoded as one part of it. */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((text, part, index) => text + encodePart(values[index - 1] ?? '') + part);
}

/** Joins base URL, path and query. The base URL may include a path. */
export function buildUrl(base: URL, requestPath: string, query: ApiRequest<unknown>['query'] = {}): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/+$/, '') + requestPath;
  // Each change of `url.searchParams` would parse the whole address again.
  const parameters = new URLSearchParams(base.search);
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) {
      for (const one of value) parameters.append(name, String(one));
    } else if (value !== undefined) {
      parameters.set(name, String(value));
    }
  }
  url.search = parameters.toString();
  return url;
}

function encodePart(value: string): string {
  // URL parsing resolves dot segments even when percent-encoded, which would lead to another endpoint.
  if (value === '' || /^\.{1,2}$/.test(value)) throw new SvcError('usage', 'an id must not be empty or made of dots');
  return encodeURIComponent(value);
}

/** The service's clock, learned from the `Date` header of its responses (R25). */
export class ServiceClock {
  readonly #clock: Clock;
  #offset = 0;
  #machineAhead = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds by which the service's clock is ahead of ours. */
  get offset(): number {
    return this.#offset;
  }

  /** Milliseconds by which this machine's clock is ahead of the service's, as far as the last response proves it. */
  get machineAhead(): number {
    return this.#machineAhead;
  }

  /** Milliseconds since the epoch, by the service's clock. */
  now(): number {
    return this.#clock.now() + this.#offset;
  }

  /**
   * Learns from the `Date` header of the response to a request sent at `sentAt`. The header has whole seconds, so a smaller
   * difference is ignored.
   */
  learn(header: string | undefined, sentAt = this.#clock.now()): void {
    const at = header === undefined ? Number.NaN : Date.parse(header);
    if (Number.isNaN(at)) return;
    const now = this.#clock.now();
    const offset = at + 500 - now;
    this.#offset = Math.abs(offset) <= 1_000 ? 0 : offset;
    this.#machineAhead = machineAhead(at, sentAt, now);
  }
}

/** The largest difference between the clocks, in milliseconds, that archives and `svc doctor` do not mention. */
export const TOLERATED_CLOCK_MS = 2_000;

/**
 * Returns by how many milliseconds this machine's clock is ahead of the service's; negative when it is behind, 0 when the
 * response proves no difference. The service wrote `date`, in whole seconds, between the request and the response, so that
 * a slow response alone proves none.
 */
export function machineAhead(date: number, sentAt: number, receivedAt: number): number {
  const least = sentAt - (date + 999);
  const most = receivedAt - date;
  return least > 0 || most < 0 ? Math.round((least + most) / 2) : 0;
}
