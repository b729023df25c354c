import { isSvcError, SvcError } from '../../base/errors.ts';
import { READ_PERMISSIONS, type TriedPermission, tryPermissions } from '../../client/api/permissions.ts';
import type { Client } from '../../client/api/client.ts';
import type { ApiKey } from '../../client/http/core.ts';
import { objectOrUndefined } from '../../schema/json-value.ts';
import type { KeyType, TenantFacts } from '../../schema/tenant.ts';
import { KEY_TYPES, KEY_VARIABLES, keyOrigin } from '../config/keys.ts';
import { tenantFacts } from '../config/known-keys.ts';
import type { ClientChoice, Context } from './command.ts';
import { noteNext } from './hint.ts';
import { describeTenant } from './tenant-mark.ts';

/**
 * The result of checking a key: `accepted` for a key that works, `powerless` for a valid key without read permissions,
 * `refused` for a key that the service rejects, `other kind` for a private key in place of a management key and the reverse,
 * `unclear` for a key that could not be checked, for example without a network.
 */
export type Verdict = 'accepted' | 'powerless' | 'other kind' | 'refused' | 'unclear';

export interface KeyCheck {
  readonly kind: KeyType;
  readonly verdict: Verdict;
  readonly tried: readonly TriedPermission[];
  readonly tenant: TenantFacts | undefined;
  /** The tenant id that the service returned for the key, even if the key may not read the tenant. */
  readonly tenantId: string | undefined;
}

/** Time limit for all responses about one key, in seconds. */
const LIMIT_S = 15;

/** Checks a key with every read of its kind, in parallel. If all refuse the key, tries the reads of the other kind. */
export async function checkKey(
  context: Context,
  kind: KeyType,
  key: ApiKey,
  { limitS = LIMIT_S, ...at }: ClientChoice & { readonly limitS?: number } = {},
): Promise<KeyCheck> {
  const timeLimit = new AbortController();
  const timer = setTimeout(() => timeLimit.abort(timeUp(limitS)), limitS * 1000);
  try {
    const signal = AbortSignal.any([context.signal, timeLimit.signal]);
    const client = await context.client({ ...at, signal, key: async () => key });
    const check = await tryKey(client, kind);
    // An interrupt says nothing about the key.
    context.signal.throwIfAborted();
    return check;
  } finally {
    clearTimeout(timer);
  }
}

/** The result of checking the key in use. `failure` says why the key cannot be used; a key that cannot be read has no check. */
export type KeyReport = { readonly kind: KeyType } & (
  | { readonly check: KeyCheck; readonly failure?: SvcError | undefined }
  | { readonly check?: undefined; readonly failure: SvcError }
);

/** Finds and checks the management key or the private key in use. Returns a failure instead of throwing it. */
export async function inspectKey(context: Context, kind: KeyType, limitS = LIMIT_S): Promise<KeyReport> {
  try {
    const key = await context.key(kind);
    const check = await checkKey(context, kind, key, { limitS });
    return { kind, check, failure: keyFailure(check, key.origin) };
  } catch (error) {
    if (!isSvcError(error) || context.signal.aborted) throw error;
    return { kind, failure: error };
  }
}

/** Whether no key of this type is set. SVC_API_KEY counts as not set for the type that its key does not have. */
export function isKeyAbsent({ system, settings }: Context, { check, failure }: KeyReport): boolean {
  if (failure?.code === 'key_missing') return true;
  const [management, own] = KEY_TYPES.map((type) => keyOrigin(system, settings, type));
  const isShared = management?.kind === 'environment' && management.name === own?.name;
  return check?.verdict === 'other kind' && isShared;
}

async function tryKey(client: Client, kind: KeyType): Promise<KeyCheck> {
  const [ofKind, ofOther] = [true, false].map((isOwn) =>
    READ_PERMISSIONS.filter((permission) => (permission.kind === kind) === isOwn),
  );
  const own = await tryPermissions(client, ofKind ?? []);
  const has = (status: TriedPermission['status']): boolean => own.some((one) => one.status === status);
  const tenant = tenantFacts(own.find(({ permission }) => permission.name === 'tenant:read')?.body);
  const check = { kind, tried: own, tenant, tenantId: tenant?.id ?? tenantOfJobs(own) };
  if (has('allowed')) return { ...check, verdict: 'accepted' };
  if (has('unclear')) return { ...check, verdict: 'unclear' };
  // Some services return 401 for a key of the wrong kind, others 403.
  const others = await tryPermissions(client, ofOther ?? []);
  if (others.some(({ status }) => status === 'allowed')) return { ...check, verdict: 'other kind' };
  return { ...check, verdict: has('refused') ? 'refused' : 'powerless' };
}

/** Returns the tenant id of the newest job: a private key cannot read its tenant, but its jobs name it. */
function tenantOfJobs(tried: readonly TriedPermission[]): string | undefined {
  const body = tried.find(({ permission }) => permission.name === 'account-updater:job:read')?.body;
  const jobs = objectOrUndefined(body)?.['data'];
  const tenant = Array.isArray(jobs) ? objectOrUndefined(jobs[0])?.['tenant_id'] : undefined;
  return typeof tenant === 'string' ? tenant : undefined;
}

interface KeyTenant {
  readonly kind: KeyType;
  readonly tenantId?: string | undefined;
}

/** Describes the first key that belongs to another tenant than the profile's known one; undefined without such a key. */
export function otherTenantText(known: TenantFacts | undefined, keys: readonly KeyTenant[]): string | undefined {
  const other = keys.find(({ tenantId }) => known !== undefined && tenantId !== undefined && tenantId !== known.id);
  if (known === undefined || other === undefined) return undefined;
  const whose = `${describeTenant(known)} (${known.id})`;
  return `the ${other.kind} key belongs to tenant ${other.tenantId}, not to the ${whose}`;
}

/** Warns of a key of another tenant than the profile's known one. @returns whether there is such a key */
export function warnOfOtherTenant(
  context: Pick<Context, 'notices' | 'globals' | 'system'>,
  known: TenantFacts | undefined,
  keys: readonly KeyTenant[],
): boolean {
  const other = otherTenantText(known, keys);
  if (other === undefined) return false;
  context.notices.warn(`${other}: svc treats the tenant of this profile as unknown`);
  noteNext(context, 'to store a key in a profile of its tenant', ['login', '--profile', '<name>']);
  return true;
}

function timeUp(limitS: number): SvcError {
  return new SvcError('timeout', `no response within ${limitS} s`, {
    hint: 'Run the command again later, or check each step on the path to the service:',
    next: ['doctor'],
  });
}

/** Returns the names of the permissions whose reads had one of these results. */
export function permissionNames({ tried }: KeyCheck, ...statuses: TriedPermission['status'][]): string[] {
  return tried.filter(({ status }) => statuses.includes(status)).map(({ permission }) => permission.name);
}

/** Returns the error for a key that is unusable or unchecked; undefined for a valid key. */
export function keyFailure({ kind, verdict, tried }: KeyCheck, from: string): SvcError | undefined {
  // A read that names no existing object fails with advice about ids, so errors of other reads come first.
  const sorted = [false, true].flatMap((isForMissingObject) =>
    tried.filter(({ permission }) => (permission.isForMissingObject ?? false) === isForMissingObject),
  );
  const firstError = (of: TriedPermission['status']) => sorted.find(({ status }) => status === of)?.error;
  const error = firstError('unclear') ?? firstError('refused') ?? firstError('forbidden');
  const other = kind === 'management' ? 'private' : 'management';
  switch (verdict) {
    case 'accepted':
    case 'powerless':
      return undefined;
    case 'other kind':
      return new SvcError('unauthorized', `the key from ${from} is a ${other} key, not a ${kind} key`, {
        status: error?.status,
        hint: hintForOther(kind, other, from),
        facts: { key_kind: other },
      });
    case 'refused':
    case 'unclear':
      return error ?? new SvcError('bad_response', `the ${kind} key from ${from} could not be checked`);
  }
}

/** Returns the reason that the service gave for refusing a key. */
export function detailOf(error: SvcError | undefined): string | undefined {
  const detail = error?.facts?.['detail'];
  return typeof detail === 'string' ? detail : undefined;
}

function hintForOther(kind: KeyType, other: KeyType, from: string): string {
  if (from.startsWith('SVC_'))
    return `Set ${KEY_VARIABLES[other][0]} to it, and ${KEY_VARIABLES[kind][0]} to a ${kind} key.`;
  return `Store it as the ${other} key: use --${other}-key-stdin, or answer the other prompt.`;
}

/** Tells whether a failure concerns the key rather than the connection to the service. */
export function isAboutKey(error: unknown): error is SvcError {
  return isSvcError(error, 'unauthorized', 'forbidden');
}
