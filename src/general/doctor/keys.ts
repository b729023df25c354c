import { isSvcError, type SvcError } from '../../base/errors.ts';
import {
  detailOf,
  inspectKey,
  isKeyAbsent,
  type KeyCheck,
  type KeyReport,
  otherTenantText,
} from '../../cli/app/check-key.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { describeTenant, tenantInUse } from '../../cli/app/tenant-mark.ts';
import { KEY_TYPES, keyOrigin } from '../../cli/config/keys.ts';
import { formatDuration } from '../../cli/output/time.ts';
import { READ_PERMISSIONS, type TriedPermission } from '../../client/api/permissions.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { agedText, type KEY_AGE_PARAMETERS, keyAge, REPLACE, UNKNOWN_HINT } from '../key-age.ts';
import { type Check, fail, type CheckOutcome, LIMIT_MS, rethrow, skip, warn } from './check.ts';

/** The check of a key, and the checks of its read permissions. */
interface KeyChecks {
  readonly key: Check;
  readonly permissions: readonly Check[];
}

/** Tries both keys, and returns their checks. `unread` says why the profile could not be read. */
export async function checkKeys(context: Context, unread?: string): Promise<Check[]> {
  const { system, settings } = context;
  const givenTypes = KEY_TYPES.filter((kind) => keyOrigin(system, settings, kind) !== undefined);
  const reports = await Promise.all(givenTypes.map((kind) => inspectKey(context, kind, LIMIT_MS / 1000)));
  const hasAddress = settings.baseUrl !== undefined || settings.sandbox;
  const parts = KEY_TYPES.map((kind) => {
    const report = reports.find((one) => one.kind === kind);
    // An unreadable profile may contain the key or the base URL, so neither counts as missing.
    if (unread !== undefined && (report === undefined || !hasAddress))
      return unusableKey(kind, 'the key is not known', () => skip(unread));
    if (report === undefined) return unusableKey(kind, 'there is no key', () => noKey(kind, givenTypes.length > 0));
    return reportedKey(context, report);
  });
  const permissions = parts.flatMap((part) => part.permissions);
  return [...parts.map(({ key }) => key), tenantCheck(context, reports), ...permissions];
}

/** Returns the checks of a key that was tried. */
function reportedKey(context: Context, { kind, check, failure }: KeyReport): KeyChecks {
  if (check === undefined) return unusableKey(kind, 'the key could not be checked', () => rethrow(failure));
  if (failure === undefined) {
    const key = { name: keyCheckName(kind), try: () => validKey(context, check) };
    return { key, permissions: check.tried.map(permissionCheck) };
  }
  // A lone SVC_API_KEY is for one type, and the other type may be missing.
  if (isKeyAbsent(context, { kind, check, failure }))
    return unusableKey(kind, 'there is no key', () => warn(failure.message, failure.hint));
  if (check.verdict === 'unclear') return unusableKey(kind, 'the key could not be checked', () => unclear(failure));
  return unusableKey(kind, 'the key is not valid', () => rethrow(failure));
}

/** Returns the check of a key whose permissions cannot be checked, for the reason `why`. */
function unusableKey(kind: KeyType, why: string, tryKey: Check['try']): KeyChecks {
  const permissions = READ_PERMISSIONS.filter((permission) => permission.kind === kind);
  return {
    key: { name: keyCheckName(kind), try: tryKey },
    permissions: permissions.map(({ name }) => ({ name, try: () => skip(`not checked: ${why}`) })),
  };
}

function keyCheckName(kind: KeyType): string {
  return `${kind} key`;
}

function noKey(kind: KeyType, hasOther: boolean): CheckOutcome {
  const use = kind === 'management' ? 'logs and the tenant' : '3DS and the Account Updater';
  const outcome = hasOther
    ? warn('none is stored', `For ${use}, store one.`)
    : fail('key_missing', 'none is stored', 'Store one. The sandbox works without a key.');
  return { ...outcome, next: ['login'] };
}

/** Describes a valid key: its tenant, its origin and its age. Warns if the key has no read permission. */
function validKey(context: Context, { kind, tenant, verdict, tried }: KeyCheck): CheckOutcome | string {
  const from = originText(context, kind);
  if (verdict !== 'powerless') return `accepted${tenant ? ` for the ${describeTenant(tenant)}` : ''} (${from})`;
  const isAboutFeatures = tried.every(({ error }) => disabledFeatureOf(error) !== undefined);
  const fix = isAboutFeatures
    ? "Ask the service's support to enable the features that you need."
    : 'Give the key the permissions that you need.';
  return warn(`valid (${from}), but has no read permission`, fix);
}

/** Returns, for example, `profile prod, stored 3d ago`. */
function originText(context: Context, kind: KeyType): string {
  if (context.settings.sandbox) return 'built in';
  const age = keyAge(context, kind);
  return `${keyOrigin(context.system, context.settings, kind)?.name}${age?.ageMs === undefined ? '' : `, ${agedText(age)}`}`;
}

function permissionCheck({ permission: { name, kind }, status, error }: TriedPermission): Check {
  const feature = disabledFeatureOf(error);
  const cure = feature
    ? `If you need it, ask the service's support to enable ${feature} for the tenant.`
    : `If you need it, give the ${kind} key the permission ${name}.`;
  const detail = detailOf(error);
  return {
    name,
    cure,
    try() {
      if (status === 'allowed') return 'allowed';
      if (status === 'unclear' && error) return unclear(error);
      return warn(`not allowed (${error?.status ?? 403})${detail === undefined ? '' : `: ${detail}`}`);
    },
  };
}

/** The codes of errors that a wrong base URL can cause. */
const WRONG_URL_CODES = ['not_found', 'bad_response', 'forbidden'] as const;
const CHECK_BASE_URL = 'Is the base URL right? It should be the address of the API itself.';

/** Returns the outcome for a response that another server may have sent. Replaces the error's hint, which is to run svc doctor. */
function unclear(error: SvcError): CheckOutcome {
  if (!isSvcError(error, ...WRONG_URL_CODES)) throw error;
  return fail(error.code, error.message, CHECK_BASE_URL);
}

/** Returns the check that both keys belong to the same tenant. */
function tenantCheck(context: Context, reports: readonly KeyReport[]): Check {
  const checks = reports.flatMap(({ check }) => check ?? []);
  const known = checks.find(({ tenant }) => tenant !== undefined)?.tenant ?? tenantInUse(context);
  const other = otherTenantText(known, checks);
  return {
    name: 'tenant',
    cure: 'Store each key in a profile of its tenant.',
    try: () => other && { ...warn(other), next: ['login', '--profile', '<name>'] },
  };
}

/** Returns the checks of --max-key-age, one for each key in use. */
export function ageChecks(context: Context, { maxKeyAge, strict }: Input<typeof KEY_AGE_PARAMETERS>): Check[] {
  if (maxKeyAge === undefined) return [];
  const allowed = `allowed: ${formatDuration(maxKeyAge)}`;
  return KEY_TYPES.flatMap((type) => keyAge(context, type) ?? []).map((age) => ({
    name: `${age.type} key age`,
    cure: age.ageMs === undefined ? UNKNOWN_HINT : REPLACE,
    try() {
      const ageText = `${age.ageMs === undefined ? `not known (${age.from})` : agedText(age)}; ${allowed}`;
      if (age.ageMs === undefined) return strict ? fail('threshold', ageText) : warn(ageText);
      return age.ageMs <= maxKeyAge ? ageText : { ...fail('threshold', ageText), next: ['login', '--rotate'] };
    },
  }));
}

function disabledFeatureOf(error: SvcError | undefined): string | undefined {
  const feature = error?.facts?.['disabled_feature'];
  return typeof feature === 'string' ? feature : undefined;
}
