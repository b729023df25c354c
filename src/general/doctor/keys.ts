import { isSvcError, type SvcError } from '../../base/errors.ts';
import { detailOf, inspectKey, type KeyReport, otherTenantText } from '../../cli/app/check-key.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { tenantInUse } from '../../cli/app/tenant-mark.ts';
import { KEY_TYPES, keyOrigin } from '../../cli/config/keys.ts';
import { formatDuration } from '../../cli/output/time.ts';
import { READ_PERMISSIONS, type TriedPermission } from '../../client/api/any-endpoint.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { agedText, type KEY_AGE_PARAMETERS, keyAge, REPLACE, UNKNOWN_HINT } from '../key-age.ts';
import { type Check, fail, type CheckOutcome, LIMIT_MS, skip, warn } from './check.ts';

/** Tries both keys, and returns their checks. `unread` says why the content of the profile is unknown. */
export async function checkKeys(context: Context, unread?: string): Promise<Check[]> {
  const { system, settings } = context;
  const givenTypes = KEY_TYPES.filter((kind) => keyOrigin(system, settings, kind) !== undefined);
  const reports = await Promise.all(givenTypes.map((kind) => inspectKey(context, kind, LIMIT_MS / 1000)));
  // Reports keys and the base URL of an unreadable profile as unknown, not as missing.
  const lacksBaseUrl = settings.baseUrl === undefined && !settings.sandbox;
  const checksByKey = KEY_TYPES.map((kind) => {
    const report = reports.find((one) => one.kind === kind);
    const missing = report === undefined || lacksBaseUrl ? unread : undefined;
    if (missing !== undefined) return untried(kind, () => skip(missing), 'the key is not known');
    if (report === undefined) return untried(kind, () => noKey(kind, givenTypes.length > 0), 'there is no key');
    return keyChecks(context, report);
  });
  const keys = checksByKey.flatMap(([key]) => key ?? []);
  const permissions = checksByKey.flatMap(([, ...checks]) => checks);
  return [...keys, tenantCheck(context, reports), ...permissions];
}

/** Returns the check of a key, and skipped checks of its permissions with the reason `why`. */
function untried(kind: KeyType, tryKey: Check['try'], why: string): Check[] {
  const named = READ_PERMISSIONS.filter((permission) => permission.kind === kind);
  const permissions = named.map(({ name }) => ({ name, try: () => skip(`not checked: ${why}`) }));
  return [{ name: `${kind} key`, try: tryKey }, ...permissions];
}

function noKey(kind: KeyType, hasOther: boolean): CheckOutcome {
  const use = kind === 'management' ? 'logs and the tenant' : '3DS and the Account Updater';
  const outcome = hasOther
    ? warn('none is stored', `For ${use}, store one.`)
    : fail('key_missing', 'none is stored', 'Store one. The sandbox works without a key.');
  return { ...outcome, next: ['login'] };
}

/** Returns the checks of a tried key and of its permissions. */
function keyChecks(context: Context, { kind, check, failure }: KeyReport): Check[] {
  if (check === undefined || failure !== undefined) {
    const isUnclear = check === undefined || check.verdict === 'unclear';
    const tryKey = (): CheckOutcome => {
      if (failure !== undefined && check?.verdict === 'unclear') return unclear(failure);
      throw failure;
    };
    return untried(kind, tryKey, isUnclear ? 'the key could not be checked' : 'the key is not valid');
  }
  const tryKey = (): CheckOutcome | string => {
    const age = keyAge(context, kind);
    const stored = age?.ageMs === undefined ? '' : `, ${agedText(age)}`;
    const { system, settings } = context;
    const from = settings.sandbox ? 'built in' : `${keyOrigin(system, settings, kind)?.name}${stored}`;
    const tenant = check.tenant;
    const at = tenant ? ` for the ${tenant.type.toUpperCase()} tenant ${JSON.stringify(tenant.name)}` : '';
    if (check.verdict !== 'powerless') return `accepted${at} (${from})`;
    const isAboutFeatures = check.tried.every(({ error }) => disabledFeatureOf(error) !== undefined);
    const fix = isAboutFeatures
      ? "Ask the service's support to enable the features that you need."
      : 'Give the key the permissions that you need.';
    return warn(`valid (${from}), but has no read permission`, fix);
  };
  return [{ name: `${kind} key`, try: tryKey }, ...check.tried.map(permissionCheck)];
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

/** Errors that suggest a wrong base URL. */
const WRONG_URL_CODES = ['not_found', 'bad_response', 'forbidden'] as const;
const CHECK_BASE_URL = 'Is the base URL right? It should be the address of the API itself.';

/** Returns the outcome of a check with an unexpected response. Replaces the error's hint, which is to run svc doctor. */
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

/** Returns the checks of the ages of the keys in use, for --max-key-age. */
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
