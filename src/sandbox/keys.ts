/** The two kinds of key, as endpoints ask for them. */
export type KeyKind = 'management' | 'private';

/** What a key may do. */
export type Permission =
  | 'log:read'
  | 'tenant:read'
  | 'tenant:update'
  | 'tenant:delete'
  | 'report:read'
  | '3ds:session:create'
  | '3ds:session:read'
  | '3ds:session:authenticate'
  | 'account-updater:job:create'
  | 'account-updater:job:read'
  | 'token:create'
  // The interface lists applications with a management key and names no permission for it.
  | 'application:read';

/** A key of the sandbox. Keys are fixed and no secret. */
export interface SandboxKey {
  /** The value of the header SVC-API-KEY. */
  readonly value: string;
  readonly kind: KeyKind;
  readonly permissions: readonly Permission[];
  /** Number of the application that the key belongs to. */
  readonly application: number;
}

const MANAGEMENT: readonly Permission[] = [
  'log:read',
  'tenant:read',
  'tenant:update',
  'tenant:delete',
  'report:read',
  'application:read',
];

const THREE_DS: readonly Permission[] = [
  '3ds:session:create',
  '3ds:session:read',
  '3ds:session:authenticate',
  'token:create',
];

const ACCOUNT_UPDATER: readonly Permission[] = ['account-updater:job:create', 'account-updater:job:read'];

/** The management key that may do everything of its kind. */
export const MANAGEMENT_KEY = 'sandbox-management-key';

/** The private key that may do everything of its kind. */
export const PRIVATE_KEY = 'sandbox-private-key';

/** Every key of the sandbox. Those after the first two lack something, for trying refusals. */
export const SANDBOX_KEYS: readonly SandboxKey[] = [
  { value: MANAGEMENT_KEY, kind: 'management', permissions: MANAGEMENT, application: 1 },
  { value: PRIVATE_KEY, kind: 'private', permissions: [...THREE_DS, ...ACCOUNT_UPDATER], application: 2 },
  {
    value: 'sandbox-management-key-logs-only',
    kind: 'management',
    permissions: ['log:read'],
    application: 3,
  },
  {
    value: 'sandbox-management-key-read-only',
    kind: 'management',
    permissions: ['log:read', 'tenant:read'],
    application: 4,
  },
  {
    value: 'sandbox-private-key-read-only',
    kind: 'private',
    permissions: ['3ds:session:read', 'account-updater:job:read'],
    application: 5,
  },
  { value: 'sandbox-private-key-3ds-only', kind: 'private', permissions: THREE_DS, application: 6 },
];

/** Finds a key by the header's value. */
export function findKey(value: string | undefined): SandboxKey | undefined {
  return SANDBOX_KEYS.find((key) => key.value === value);
}
