import { SvcError } from '../errors.ts';
import type { KeyKind, Query } from '../http/request.ts';

/** Where a request goes below the base URL, as somebody typed it. */
export interface EndpointPath {
  /** Begins with a slash; already percent-encoded. */
  readonly path: string;
  /** What stood behind a question mark. */
  readonly query: URLSearchParams;
}

/**
 * Reads a typed path such as `/logs?size=5`. It can lead to nothing but endpoints below the base URL.
 * @throws SvcError `usage`, which never repeats what was typed
 */
export function readEndpointPath(typed: string): EndpointPath {
  if (/^[a-z][a-z\d+.-]*:|^\/\//i.test(typed)) {
    throw wrong('must be a path, not an address: a key goes to the base URL and nowhere else');
  }
  if (!typed.startsWith('/')) throw wrong('must begin with a slash, such as /logs');
  if (typed.includes('#')) throw wrong('must not hold a fragment (#); write %23 for the sign itself');
  if (/[\s\\\p{C}]/u.test(typed)) throw wrong('must not hold spaces, control characters or backslashes');
  const [path = '', ...query] = typed.split('?');
  for (const part of partsOf(path)) {
    if (part === '.' || part === '..') throw wrong('must not hold the parts . or ..');
    if (/[\p{Cc}]/u.test(part)) throw wrong('must not hold control characters');
  }
  return { path, query: new URLSearchParams(query.join('?')) };
}

const KINDS: Readonly<Record<string, KeyKind>> = {
  logs: 'management',
  tenants: 'management',
  applications: 'management',
  '3ds': 'private',
  tokens: 'private',
  'account-updater': 'private',
};

/** The kind of key that the endpoints under this path take, where that is known. */
export function keyKindOf(path: string): KeyKind | undefined {
  const first = partsOf(path)[1] ?? '';
  return Object.hasOwn(KINDS, first) ? KINDS[first] : undefined;
}

/** Whether two paths name the same endpoint, however they are encoded. */
export function isSamePath(path: string, other: string): boolean {
  return named(path) === named(other);
}

/** Query parameters by name; a name that is given several times has a list. */
export function queryOf(pairs: Iterable<readonly [name: string, value: string]>): Query {
  const lists = new Map<string, string[]>();
  for (const [name, value] of pairs) lists.set(name, [...(lists.get(name) ?? []), value]);
  return Object.fromEntries([...lists].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}

function named(path: string): string {
  return partsOf(path).filter(Boolean).join('/').toLowerCase();
}

/** The parts between slashes, decoded. An encoded slash or backslash parts too: some servers read it so. */
function partsOf(path: string): string[] {
  try {
    return decodeURIComponent(path).split(/[/\\]/);
  } catch {
    throw wrong('holds a % that begins no encoded character; write %25 for the sign itself');
  }
}

function wrong(message: string): SvcError {
  return new SvcError('usage', message);
}
