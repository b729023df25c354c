import type { KeyType } from '../schema/tenant.ts';

const MANAGEMENT = [
  'log:read',
  'tenant:read',
  'tenant:update',
  'tenant:delete',
  'report:read',
  // Listing applications needs a management key, but no documented permission.
  'application:read',
] as const;
const THREE_DS = ['3ds:session:create', '3ds:session:read', '3ds:session:authenticate', 'token:create'] as const;
const ACCOUNT_UPDATER = ['account-updater:job:create', 'account-updater:job:read'] as const;

export type Permission = (typeof MANAGEMENT | typeof THREE_DS | typeof ACCOUNT_UPDATER)[number];

/** The management key with every permission. */
export const MANAGEMENT_KEY = 'sandbox-management-key';

/** The private key with every permission. */
export const PRIVATE_KEY = 'sandbox-private-key';

const TABLE: readonly (readonly [value: string, kind: KeyType, permissions: readonly Permission[]])[] = [
  [MANAGEMENT_KEY, 'management', MANAGEMENT],
  [PRIVATE_KEY, 'private', [...THREE_DS, ...ACCOUNT_UPDATER]],
  ['sandbox-management-key-logs-only', 'management', ['log:read']],
  ['sandbox-management-key-read-only', 'management', ['log:read', 'tenant:read']],
  ['sandbox-private-key-read-only', 'private', ['3ds:session:read', 'account-updater:job:read']],
  ['sandbox-private-key-3ds-only', 'private', THREE_DS],
  ['sandbox-private-key-account-updater-only', 'private', ACCOUNT_UPDATER],
  ['sandbox-management-key-expired', 'management', MANAGEMENT],
  ['sandbox-private-key-expired', 'private', [...THREE_DS, ...ACCOUNT_UPDATER]],
];

export type SandboxKey = (typeof SANDBOX_KEYS)[number];

/**
 * Every key of the sandbox, with the number of its application. The values are fixed and public. Only the first two keys have
 * all permissions; the others lack permissions or have expired, for trying refusals.
 */
export const SANDBOX_KEYS = TABLE.map(([value, kind, permissions], index) => ({
  value,
  kind,
  permissions,
  application: index + 1,
  expired: value.endsWith('-expired'),
}));

/** Returns the type of key to which a permission belongs. */
export function keyTypeOf(permission: Permission): KeyType {
  return MANAGEMENT.some((own) => own === permission) ? 'management' : 'private';
}

/** The number of the tenant whose keys have no number. */
export const FIRST_TENANT = 1;

/** Returns the key of another tenant that corresponds to a key of the first: `sandbox-2-management-key`. */
export function keyOfTenant(value: string, tenant: number): string {
  return tenant === FIRST_TENANT ? value : value.replace('sandbox-', `sandbox-${tenant}-`);
}

/** Returns the number of the tenant whose key has this form. */
export function tenantOfKey(value: string): number {
  return Number(/^sandbox-([2-9])-/.exec(value)?.[1] ?? FIRST_TENANT);
}

/** Finds a key by its value; with `tenant`, only among the keys of this tenant. */
export function findKey(value: string | undefined, tenant?: number): SandboxKey | undefined {
  if (value === undefined) return undefined;
  const owner = tenantOfKey(value);
  if (tenant !== undefined && tenant !== owner) return undefined;
  const sandboxKey = SANDBOX_KEYS.find((key) => keyOfTenant(key.value, owner) === value);
  return sandboxKey && { ...sandboxKey, value };
}
