// Reads and compares the paths of endpoints.

import { SvcError } from '../../base/errors.ts';
import { decodedUri } from '../../schema/address.ts';
import { ownMember } from '../../schema/own-member.ts';
import type { KeyType } from '../../schema/tenant.ts';
import type { Query } from '../http/request.ts';

/**
 * Splits a typed path such as `/logs?size=5` into path and query, with the percent-encoding as typed.
 * @throws SvcError `usage` for a path that could leave the base URL; the error does not show the path
 */
export function readEndpointPath(typed: string): { path: string; query: URLSearchParams } {
  // Git Bash turns /logs into C:/Program Files/Git/logs.
  if (/^[a-z]:[/\\]/i.test(typed))
    throw wrong('must be a path of the service, not of a file: in Git Bash, set MSYS_NO_PATHCONV=1');
  if (/^[a-z][a-z\d+.-]*:|^\/\//i.test(typed))
    throw wrong('must be a path, not an address: a key goes to the base URL and nowhere else');
  if (!typed.startsWith('/')) throw wrong('must begin with a slash, such as /logs');
  if (typed.includes('#')) throw wrong('must not contain a fragment (#); write %23 for the sign itself');
  if (/[\s\\\p{C}]/u.test(typed)) throw wrong('must not contain spaces, control characters or backslashes');
  const [path = '', ...query] = typed.split('?');
  for (const part of pathSegments(path)) {
    if (part === '.' || part === '..') throw wrong('must not contain the parts . or ..');
    if (/[\p{Cc}]/u.test(part)) throw wrong('must not contain control characters');
  }
  return { path, query: new URLSearchParams(query.join('?')) };
}

/** The type of key of each area of the API: the first part of its paths. */
const KEY_TYPES_OF_AREAS: Readonly<Record<string, KeyType>> = {
  logs: 'management',
  tenants: 'management',
  applications: 'management',
  '3ds': 'private',
  tokens: 'private',
  'account-updater': 'private',
};

/** Returns the type of key for the endpoints below a path; undefined if unknown. */
export function keyTypeOf(path: string): KeyType | undefined {
  return ownMember(KEY_TYPES_OF_AREAS, areaOf(path) ?? '');
}

/** Whether two paths name the same endpoint, regardless of encoding. */
export function isSamePath(path: string, other: string): boolean {
  return normalized(path) === normalized(other);
}

/** Returns the first part of a path, which related endpoints share, regardless of encoding. */
export function areaOf(path: string): string | undefined {
  return normalized(path).split('/')[0];
}

/** Groups query parameters by name; a repeated name gets a list. */
export function queryOf(pairs: Iterable<readonly [name: string, value: string]>): Query {
  const lists = new Map<string, string[]>();
  for (const [name, value] of pairs) lists.set(name, [...(lists.get(name) ?? []), value]);
  return Object.fromEntries([...lists].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}

function normalized(path: string): string {
  return pathSegments(path).filter(Boolean).join('/').toLowerCase();
}

/** Splits a path into decoded segments, also at an encoded slash or backslash, as some servers do. @throws SvcError `usage` */
function pathSegments(path: string): string[] {
  const decoded = decodedUri(path);
  if (decoded === undefined)
    throw wrong('contains a % that begins no encoded character; write %25 for the sign itself');
  return decoded.split(/[/\\]/);
}

function wrong(message: string): SvcError {
  return new SvcError('usage', message);
}
