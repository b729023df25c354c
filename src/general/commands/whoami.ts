import { SvcError } from '../../base/errors.ts';
import { inspectKey, isAboutKey, isKeyAbsent, type KeyReport, warnOfOtherTenant } from '../../cli/app/check-key.ts';
import { type Context, defineCommand, PROFILES_PARAMETER } from '../../cli/app/command.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { hasEnvironmentKey, tenantInUse, tenantTone } from '../../cli/app/tenant-mark.ts';
import { KEY_TYPES } from '../../cli/config/keys.ts';
import { forgetTenantOf, rememberTenant } from '../../cli/config/known-keys.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import { checkKeyAgeOptions, checkKeyAges, KEY_AGE_PARAMETERS } from '../key-age.ts';
import { type Identity, identityRow, writePermissions } from '../identity.ts';
import { keyTone, drawIdentity } from '../draw-identity.ts';

const whoamiView: View<Identity> = {
  name: 'identity',
  fields: fieldPaths(`
    profile base_url tenant.name tenant.type tenant.id management_key.state management_key.from
    management_key.stored_at management_key.problem private_key.state private_key.from
    private_key.stored_at private_key.problem permissions.log:read
    permissions.tenant:read permissions.report:read permissions.3ds:session:read
    permissions.account-updater:job:read permissions.tenant:update permissions.tenant:delete
    permissions.3ds:session:create permissions.3ds:session:authenticate permissions.token:create
    permissions.account-updater:job:create refusals.log:read refusals.tenant:read refusals.report:read
    refusals.3ds:session:read refusals.account-updater:job:read origins.profile origins.base_url origins.output origins.time
    origins.ledger origins.timeout origins.max_wait
  `),
  columns: [
    { path: 'profile', kind: 'text' },
    { path: 'tenant.name', kind: 'text' },
    { path: 'tenant.type', kind: 'text', paint: (type) => tenantTone(type) },
    { path: 'management_key.state', kind: 'status', paint: keyTone },
    { path: 'private_key.state', kind: 'status', paint: keyTone },
    { path: 'base_url', kind: 'text', priority: 1 },
  ],
};

export const whoami = defineCommand({
  description:
    'Tries every read that changes nothing. The sandbox also says which changes a key may make; of another service that is not known. Exit code 0 when the service knows every configured key, and there is at least one. --max-key-age counts from the time when svc stored a key; the service does not say when it was created.',
  examples: [
    ['svc whoami', 'which tenant, and what may be read'],
    ['svc whoami -o json --fields tenant.type', 'for a script that must not meet production'],
    ['svc whoami --max-key-age 90d --strict', 'for cron: exit code 10 for a key that is older, or of unknown age'],
  ],
  exitCodes: [
    [3, 'there is no key, or one cannot be read'],
    [4, 'the service refuses a key'],
    5,
    7,
    8,
    [10, 'a key is older than --max-key-age'],
  ],
  fields: whoamiView.fields,
  parameters: { ...KEY_AGE_PARAMETERS, ...PROFILES_PARAMETER },
  async run(context, { maxKeyAge, strict }) {
    checkKeyAgeOptions({ maxKeyAge, strict });
    const print = await recordPrinter(context, whoamiView);
    const keys = await Promise.all(KEY_TYPES.map((kind) => inspectKey(context, kind)));
    const row = identityRow(context, keys, await writePermissions(context, keys));
    const isShort = isDrawn(context);
    if (isShort && keys.every(({ failure }) => failure?.code === 'key_missing')) throw noKeys(context.settings);
    await (isShort ? context.out.write(drawIdentity(row, context)) : print(row));
    conclude(context, row, keys, { maxKeyAge, strict });
  },
});

type KeyAgeInput = Input<typeof KEY_AGE_PARAMETERS>;

/** Stores the tenant that the keys belong to. @throws SvcError for a key that is unusable or too old */
function conclude(
  context: Context,
  row: Identity,
  keys: readonly KeyReport[],
  { maxKeyAge, strict }: KeyAgeInput,
): void {
  const { system, settings } = context;
  const place = { profile: row.profile, baseUrl: row.base_url ?? '', keys: settings.stored?.keys };
  const checks = keys.flatMap(({ check }) => check ?? []);
  const isOther = warnOfOtherTenant(context, row.tenant ?? tenantInUse(context), checks);
  if (row.base_url !== null && !settings.sandbox && !hasEnvironmentKey(context)) {
    if (isOther) forgetTenantOf(system, place.profile);
    else if (row.tenant) rememberTenant(context, place, row.tenant);
  }
  const failure = failureOf(context, keys);
  if (failure !== undefined) throw failure;
  if (maxKeyAge !== undefined) checkKeyAges(context, maxKeyAge, strict);
}

/** Returns the failure that ends the command. If one key works, the other key may be missing, but not unusable. */
function failureOf(context: Context, keys: readonly KeyReport[]): SvcError | undefined {
  const isKnown = keys.some(({ check, failure }) => check !== undefined && failure === undefined);
  return worst(isKnown ? keys.filter((key) => !isKeyAbsent(context, key)) : keys);
}

/** Returns the failure that counts most: a refusal by the service, then a key that could not be checked, then a missing key. */
function worst(keys: readonly KeyReport[]): SvcError | undefined {
  const failures = keys.flatMap(({ failure }) => failure ?? []);
  return (
    failures.find((failure) => isAboutKey(failure)) ??
    failures.find(({ code }) => code !== 'key_missing') ??
    failures[0]
  );
}

function noKeys({ profile, stored }: Context['settings']): SvcError {
  const words = stored === undefined ? 'no keys are set yet' : `profile ${profile.value} has no keys yet`;
  return new SvcError('key_missing', words, {
    hint: 'Set them in the environment, or store them. To try svc without keys, add --sandbox.',
    next: ['login'],
  });
}
