// Describes a call of an endpoint, and builds its address.

import { type ErrorDetails, SvcError } from '../../base/errors.ts';
import type { KeyType } from '../../schema/tenant.ts';

/** The shape that a response must have, such as a zod schema. */
export interface Shape<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

/** Query parameters by name. A parameter with a list of values is sent once for each value. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface ApiRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The encoded path, which the template tag `path` builds. */
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly key: KeyType;
  /** The permission that the key needs, for the message of a refusal. */
  readonly permission?: string | undefined;
  /** The shape of the response, or a function that loads the shape during the request. Without a shape, the result is undefined. */
  readonly shape?: Shape<T> | (() => Promise<Shape<T>>) | undefined;
  /** Whether the items of this list may be nested to any depth. The caller then checks the depth of each item. */
  readonly itemsOfAnyDepth?: boolean | undefined;
  /** The maximum number of attempts; five by default. */
  readonly attempts?: number | undefined;
  /** Called before each repeated attempt, possibly after a long pause. The call fails if the promise rejects. */
  readonly beforeRepeat?: (() => Promise<void>) | undefined;
  /** The advice of an error after which the outcome is unknown. */
  readonly whenUnclear?: Pick<ErrorDetails, 'hint' | 'next'> | undefined;
  /** What is requested, for messages, such as `job 3f…`. */
  readonly subject?: string | undefined;
}

/** Builds a path from a template, and encodes each value as one segment. @throws SvcError `usage` for a value of dots only, or none */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((text, part, index) => text + encodePart(values[index - 1] ?? '') + part);
}

/** Joins base URL, path and query. The base URL may have a path and a query. */
export function buildUrl(base: URL, requestPath: string, query: Query = {}): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/+$/, '') + requestPath;
  // Each change of `url.searchParams` would parse the whole address again.
  const parameters = new URLSearchParams(base.search);
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) {
      for (const item of value) parameters.append(name, String(item));
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
