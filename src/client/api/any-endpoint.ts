// Requests to any endpoint (`svc api`).

import { isSvcError, SvcError } from '../../base/errors.ts';
import { exactItem } from '../../base/json/exact.ts';
import { listSource } from '../../base/json/source.ts';
import { decodedUri } from '../../schema/address.ts';
import { isObject, objectOrUndefined } from '../../schema/json-value.ts';
import { ownMember } from '../../schema/own-member.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { Endpoints } from '../http/core.ts';
import type { ApiRequest, Query } from '../http/request.ts';
import type { AnyResponse, JsonBody } from '../http/response.ts';
import { type Page, Pages } from './pages.ts';

export type AnyRequest = Pick<
  ApiRequest<unknown>,
  'method' | 'path' | 'query' | 'body' | 'key' | 'whenUnclear' | 'permission' | 'attempts'
>;

/** Calls endpoints that have no typed method here, with the same keys, retries, pacing and errors. */
export class AnyEndpoint extends Endpoints {
  /** Sends a request. Repeats a GET after a failure, and any other request only if it certainly had no effect. */
  send(request: AnyRequest): Promise<AnyResponse> {
    return this.core.callAny(request);
  }

  /**
   * Lists items page by page, by cursor or by page number, as the responses do. A bare array is one page.
   * @throws SvcError `bad_response` for a response that is no list
   */
  pages(
    request: Omit<AnyRequest, 'method' | 'body'>,
    onResponse: (response: AnyResponse) => void = () => undefined,
  ): Pages<unknown> {
    // The cursor includes the name of its parameter: `start=…` or `page=…`.
    return new Pages(async (cursor) => {
      const query = { ...request.query, ...(cursor === undefined ? {} : queryFrom(cursor)) };
      const response = await this.core.callAny({ ...request, method: 'GET', query });
      onResponse(response);
      const page = response.body && pageIn(response.body, query);
      if (page === undefined) throw unreadableList(request.path, response.status, 'is not a list');
      if (!('unreadable' in page)) return page;
      const problem = `has a pagination.${page.unreadable} of another type than documented, so that its end is unknown`;
      throw unreadableList(request.path, response.status, problem);
    });
  }
}

/** Returns the items of a list response, each with its original text; undefined for anything else. */
export function itemsIn({ json, text }: JsonBody): readonly unknown[] | undefined {
  const data = Array.isArray(json) ? json : objectOrUndefined(json)?.['data'];
  if (!Array.isArray(data)) return undefined;
  return listSource(text)?.items.map((source, at) => exactItem(data[at], source));
}

/** Whether the list continues after this page, or its end is unknown. */
export function hasMore(body: JsonBody): boolean {
  const page = pageIn(body, {});
  return page !== undefined && ('unreadable' in page || page.next !== undefined);
}

/** Reads a page. The page is unreadable if a member of `pagination` has another type than documented. */
function pageIn(body: JsonBody, query: Query): Page<unknown> | { readonly unreadable: string } | undefined {
  const items = itemsIn(body);
  if (items === undefined) return undefined;
  const pagination = objectOrUndefined(objectOrUndefined(body.json)?.['pagination']) ?? {};
  const { next, page_number: number, total_pages: total, total_items: all } = pagination;
  if (typeof next === 'string' && next !== '') return { items, next: `start=${next}` };
  const malformed = Object.entries({ page_number: number, total_pages: total }).find(
    ([, value]) => !isNumberOrMissing(value),
  );
  if (malformed !== undefined || (next ?? '') !== '') return { unreadable: malformed?.[0] ?? 'next' };
  const isPaged = [number, total].some((member) => typeof member === 'number');
  const hasAll = typeof all !== 'number' || all <= items.length;
  if (!isPaged && hasAll) return { items, next: undefined };
  const current = typeof number === 'number' ? number : Number(query['page'] ?? 1);
  // Without a total, the list ends with the first empty page.
  const more = typeof total === 'number' ? current < total : items.length > 0;
  return { items, next: more ? `page=${current + 1}` : undefined };
}

function isNumberOrMissing(value: unknown): boolean {
  return typeof value === 'number' || value === undefined || value === null;
}

function unreadableList(path: string, status: number, problem: string): SvcError {
  return new SvcError('bad_response', `the response to GET ${path} ${problem}`, {
    status,
    hint: 'Request it without paging to see it.',
  });
}

function queryFrom(cursor: string): Query {
  const at = cursor.indexOf('=');
  return { [cursor.slice(0, at)]: cursor.slice(at + 1) };
}

/**
 * Reads a typed path such as `/logs?size=5`, which must begin with a slash and stay below the base URL. Keeps the
 * percent-encoding as typed.
 * @throws SvcError `usage`, which never repeats the typed text
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

const KEY_TYPE_PATTERNS: Readonly<Record<string, KeyType>> = {
  logs: 'management',
  tenants: 'management',
  applications: 'management',
  '3ds': 'private',
  tokens: 'private',
  'account-updater': 'private',
};

/** Returns the type of key for the endpoints under this path, if known. */
export function keyTypeOf(path: string): KeyType | undefined {
  const first = pathSegments(path)[1] ?? '';
  return ownMember(KEY_TYPE_PATTERNS, first);
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

/** Splits a path into decoded segments. Also splits at an encoded slash or backslash, as some servers do. */
function pathSegments(path: string): string[] {
  const decoded = decodedUri(path);
  if (decoded === undefined)
    throw wrong('contains a % that begins no encoded character; write %25 for the sign itself');
  return decoded.split(/[/\\]/);
}

function wrong(message: string): SvcError {
  return new SvcError('usage', message);
}

/** A permission to read, with a request that needs only this permission and changes nothing. */
export interface ReadPermission {
  readonly name: string;
  readonly kind: KeyType;
  readonly path: string;
  readonly query?: Query | undefined;
  /** Tells whether a successful response has the documented body. Any other success proves nothing. */
  readonly isDocumented: (body: unknown) => boolean;
  /** Set for a request about an object that does not exist: a 404 of the service means that it accepted the key. */
  readonly isOfNoObject?: true;
}

/** The permissions that can be tried without side effects, in the order in which svc shows them. */
export const READ_PERMISSIONS: readonly ReadPermission[] = [
  {
    name: 'log:read',
    kind: 'management',
    path: '/logs/entity-types',
    isDocumented: (body) => Array.isArray(body) && body.some((type) => hasText(type, 'value')),
  },
  { name: 'tenant:read', kind: 'management', path: '/tenants/self', isDocumented: (body) => hasText(body, 'id') },
  {
    name: 'report:read',
    kind: 'management',
    path: '/tenants/self/reports/usage',
    isDocumented: (body) => isObject(objectOrUndefined(body)?.['token_report']),
  },
  {
    name: '3ds:session:read',
    kind: 'private',
    // No session has this id: a key that may read sessions gets a 404.
    path: '/3ds/sessions/00000000-0000-4000-8000-000000000000',
    isDocumented: (body) => hasText(body, 'id'),
    isOfNoObject: true,
  },
  {
    name: 'account-updater:job:read',
    kind: 'private',
    path: '/account-updater/jobs',
    query: { size: 1 },
    isDocumented: (body) => Array.isArray(objectOrUndefined(body)?.['data']),
  },
];

function hasText(value: unknown, name: string): boolean {
  return typeof objectOrUndefined(value)?.[name] === 'string';
}

/** The permissions that only a change could prove, in the order in which svc shows them. */
export const WRITE_PERMISSIONS: readonly Pick<ReadPermission, 'name' | 'kind'>[] = [
  { name: 'tenant:update', kind: 'management' },
  { name: 'tenant:delete', kind: 'management' },
  { name: '3ds:session:create', kind: 'private' },
  { name: '3ds:session:authenticate', kind: 'private' },
  { name: 'token:create', kind: 'private' },
  { name: 'account-updater:job:create', kind: 'private' },
];

/**
 * The status of a permission: `allowed` after the documented response, `forbidden` (403 of the service), `refused` for an
 * invalid key (401), or `unclear`.
 */
export type PermissionStatus = 'allowed' | 'forbidden' | 'refused' | 'unclear';

/** The result of trying a permission. */
export interface TriedPermission {
  readonly permission: ReadPermission;
  readonly status: PermissionStatus;
  /** The body of the documented response. */
  readonly body?: unknown;
  /** The error instead of a response. */
  readonly error?: SvcError | undefined;
}

/** Tries permissions of one type of key, each at most twice. Returns each `SvcError` instead of throwing it. */
export async function tryPermissions(
  { any }: { readonly any: AnyEndpoint },
  permissions: readonly ReadPermission[],
): Promise<TriedPermission[]> {
  const attempts = await Promise.all(permissions.map((permission) => attempt(any, permission)));
  // Any server responds with 404 to an unknown path, so a 404 counts only if another response is clearly from the service.
  const isService = attempts.some(({ status }) => status === 'allowed' || status === 'forbidden');
  return attempts.map(({ permission, status, body, error }) => {
    if (status !== 'no object') return { permission, status, body, error };
    return isService ? { permission, status: 'allowed' } : { permission, status: 'unclear', error };
  });
}

type Attempt = Omit<TriedPermission, 'status'> & { readonly status: PermissionStatus | 'no object' };

async function attempt(any: AnyEndpoint, permission: ReadPermission): Promise<Attempt> {
  const { name, kind, path, query } = permission;
  try {
    const request = { method: 'GET', path, query, key: kind, permission: name, attempts: 2 } as const;
    const { status, body } = await any.send(request);
    if (permission.isDocumented(body?.json)) return { permission, status: 'allowed', body: body?.json };
    return { permission, status: 'unclear', error: undocumented(path, status, body) };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return { permission, status: permissionStatus(error, permission), error };
  }
}

function permissionStatus({ code, facts }: SvcError, { isOfNoObject }: ReadPermission): Attempt['status'] {
  // The error page of a gateway proves nothing about the key.
  if (facts?.['not_from_service'] === true) return 'unclear';
  if (code === 'unauthorized') return 'refused';
  if (code === 'forbidden') return 'forbidden';
  // The service checks the permission before it looks for the object.
  return code === 'not_found' && isOfNoObject === true ? 'no object' : 'unclear';
}

function undocumented(path: string, status: number, body: JsonBody | undefined): SvcError {
  const problem = body === undefined ? 'has no body' : 'does not have the documented members';
  return new SvcError('bad_response', `the response to GET ${path} ${problem} (${status})`, {
    status,
    hint: 'Something other than the service may respond there: is the base URL right? Check it step by step:',
    next: ['doctor'],
  });
}
