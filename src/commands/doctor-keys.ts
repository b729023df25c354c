import { READ_PERMISSIONS, type Tried } from '../api/permissions.ts';
import { checkKey, keyFailure } from '../cli/check-key.ts';
import type { Context } from '../cli/context.ts';
import { KEY_KINDS, type KeyKind } from '../config/document.ts';
import { keyOrigin } from '../config/keys.ts';
import { failed, failedBy, type Finding, ok, skipped, warning } from '../doctor/finding.ts';
import { isSvcError } from '../errors.ts';

/** Checks both keys and every read permission, in parallel. */
export async function checkKeys(context: Context): Promise<Finding[]> {
  const has = KEY_KINDS.filter((kind) => keyOrigin(context.system, context.settings, kind) !== undefined);
  const found = await Promise.all(KEY_KINDS.map((kind) => checkKind(context, kind, has.length > 0)));
  return [...found.map(([key]) => key), ...found.flatMap(([, permissions]) => permissions)];
}

type Found = readonly [key: Finding, permissions: readonly Finding[]];

async function checkKind(context: Context, kind: KeyKind, hasOther: boolean): Promise<Found> {
  const { system, settings } = context;
  const check = `${kind} key`;
  const origin = keyOrigin(system, settings, kind);
  if (origin === undefined) return [missing(check, kind, hasOther), untried(kind, 'there is no key')];
  const from = settings.sandbox ? 'built in' : origin.name;
  try {
    const key = await context.key(kind);
    const tried = await checkKey(context, kind, key);
    const failure = keyFailure(tried, key.origin);
    const answers = tried.tried.map(permissionFinding);
    if (failure)
      return [
        failedBy(check, failure),
        tried.verdict === 'unclear' ? answers : untried(kind, 'the key is not valid'),
      ];
    if (tried.verdict === 'powerless') {
      const fix = 'Give the key the permissions that you need.';
      return [warning(check, `valid (${from}), but has no read permission`, fix), answers];
    }
    const { tenant } = tried;
    const at = tenant ? ` of the ${tenant.type.toUpperCase()} tenant ${JSON.stringify(tenant.name)}` : '';
    return [ok(check, `accepted${at} (${from})`), answers];
  } catch (error) {
    if (!isSvcError(error) || context.signal.aborted) throw error;
    return [failedBy(check, error), untried(kind, 'the key could not be checked')];
  }
}

function missing(check: string, kind: KeyKind, hasOther: boolean): Finding {
  const use = kind === 'management' ? 'logs and the tenant' : '3DS and the Account Updater';
  if (hasOther) return warning(check, 'none is stored', `For ${use}: store one with 'svc login'.`);
  const fix = "Store one with 'svc login'; 'svc --sandbox …' works without a key.";
  return failed(check, 'none is stored', fix, 'key_missing');
}

function permissionFinding({ permission: { name, kind }, standing, error }: Tried): Finding {
  if (standing === 'allowed') return ok(name, 'allowed');
  if (standing === 'unclear' && error) return failedBy(name, error);
  const fix = `If you need it, give the ${kind} key the permission ${name}.`;
  return warning(name, `not allowed (${error?.status ?? 403})`, fix);
}

function untried(kind: KeyKind, why: string): Finding[] {
  return READ_PERMISSIONS.filter((permission) => permission.kind === kind).map(({ name }) =>
    skipped(name, `not checked: ${why}`),
  );
}
