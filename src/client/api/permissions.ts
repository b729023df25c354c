// Finds out which permissions a key has, by requests that change nothing.

import { isSvcError, SvcError } from '../../base/errors.ts';
import { isObject, objectOrUndefined } from '../../schema/json-value.ts';
import type { KeyType } from '../../schema/tenant.ts';
import type { Query } from '../http/request.ts';
import type { JsonBody } from '../http/response.ts';
import type { AnyEndpoint } from './any-endpoint.ts';

/** A permission to read, and a request that needs only this permission. */
export interface ReadPermission {
  readonly name: string;
  readonly kind: KeyType;
  readonly path: string;
  readonly query?: Query | undefined;
  /** Whether a successful response has the documented body. Any other success proves nothing. */
  readonly isDocumented: (body: unknown) => boolean;
  /** Set for a request for an object that does not exist: with the permission, the response is a 404. */
  readonly isForMissingObject?: true;
}

/** The permissions that requests can try without a change, in the order in which svc shows them. */
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
    path: '/3ds/sessions/00000000-0000-4000-8000-000000000000',
    isDocumented: (body) => hasText(body, 'id'),
    isForMissingObject: true,
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

export interface TriedPermission {
  readonly permission: ReadPermission;
  readonly status: PermissionStatus;
  /** The body of the documented response. */
  readonly body?: unknown;
  /** The error instead of a response. */
  readonly error?: SvcError | undefined;
}

/** Tries permissions of one type of key, each at most twice. Returns errors of the service instead of throwing them. */
export async function tryPermissions(
  { any }: { readonly any: AnyEndpoint },
  permissions: readonly ReadPermission[],
): Promise<TriedPermission[]> {
  const attempts = await Promise.all(permissions.map((permission) => tryPermission(any, permission)));
  // Any server sends a 404 for an unknown path, so a 404 counts only if another response is clearly from the service.
  const isService = attempts.some(({ status }) => status === 'allowed' || status === 'forbidden');
  return attempts.map(({ permission, status, body, error }) => {
    if (status !== 'no object') return { permission, status, body, error };
    return isService ? { permission, status: 'allowed' } : { permission, status: 'unclear', error };
  });
}

type Attempt = Omit<TriedPermission, 'status'> & { readonly status: PermissionStatus | 'no object' };

async function tryPermission(any: AnyEndpoint, permission: ReadPermission): Promise<Attempt> {
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

function permissionStatus({ code, facts }: SvcError, { isForMissingObject }: ReadPermission): Attempt['status'] {
  // The error page of a gateway proves nothing about the key.
  if (facts?.['not_from_service'] === true) return 'unclear';
  if (code === 'unauthorized') return 'refused';
  if (code === 'forbidden') return 'forbidden';
  // The service checks the permission before it looks for the object.
  return code === 'not_found' && isForMissingObject === true ? 'no object' : 'unclear';
}

function undocumented(path: string, status: number, body: JsonBody | undefined): SvcError {
  const problem = body === undefined ? 'has no body' : 'does not have the documented members';
  return new SvcError('bad_response', `the response to GET ${path} ${problem} (${status})`, {
    status,
    hint: 'Something other than the service may respond there: is the base URL right? Check it step by step:',
    next: ['doctor'],
  });
}
