import { isSvcError, type SvcError } from '../errors.ts';
import type { KeyType } from '../schema/key-type.ts';
import type { Query } from '../http/request.ts';
import type { Client } from './client.ts';

/** A permission to read, and a request that needs just that and changes nothing. */
export interface ReadPermission {
  readonly name: string;
  readonly kind: KeyType;
  readonly path: string;
  readonly query?: Query | undefined;
}

/** Every permission that can be tried without side effects, in the order in which they are shown. */
export const READ_PERMISSIONS: readonly ReadPermission[] = [
  { name: 'log:read', kind: 'management', path: '/logs/entity-types' },
  { name: 'tenant:read', kind: 'management', path: '/tenants/self' },
  { name: 'report:read', kind: 'management', path: '/tenants/self/reports/usage' },
  // No session has this id: a key that may read sessions gets a 404.
  { name: '3ds:session:read', kind: 'private', path: '/3ds/sessions/00000000-0000-4000-8000-000000000000' },
  { name: 'account-updater:job:read', kind: 'private', path: '/account-updater/jobs', query: { size: 1 } },
];

/** What a key may do: it is `allowed`, `forbidden` (403), `refused` as a key (401), or `unclear`. */
export type PermissionStatus = 'allowed' | 'forbidden' | 'refused' | 'unclear';

export interface Tried {
  readonly permission: ReadPermission;
  readonly status: PermissionStatus;
  /** The response, where it allowed the read and sent JSON. */
  readonly answer?: unknown;
  /** The error instead of a response. */
  readonly error?: SvcError | undefined;
}

/** Tries one permission with the client's key of its kind, at most twice. Throws only what is no `SvcError`. */
export async function tryPermission(client: Client, permission: ReadPermission): Promise<Tried> {
  const { name, kind, path, query } = permission;
  try {
    const request = { method: 'GET', path, query, key: kind, permission: name, attempts: 2 } as const;
    const { body } = await client.any.send(request);
    return { permission, status: 'allowed', answer: body?.json };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return { permission, status: permissionStatus(error), error };
  }
}

function permissionStatus({ code, status }: SvcError): PermissionStatus {
  if (code === 'unauthorized') return 'refused';
  if (code === 'forbidden') return 'forbidden';
  // Permission is checked before the object is looked up; a malformed body does not matter here.
  return code === 'not_found' || (status !== undefined && status < 300) ? 'allowed' : 'unclear';
}
