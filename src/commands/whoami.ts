import { READ_PERMISSIONS } from '../api/permissions.ts';
import { inspectKey, isAboutKey, type KeyReport, rememberTenant } from '../app/check-key.ts';
import { type Context, defineCommand, PROFILES_PARAMETER } from '../app/command.ts';
import { isForPeople, recordPrinter } from '../app/print.ts';
import { baseUrlText } from '../config/values.ts';
import { KEY_TYPES, type KeyType } from '../schema/key-type.ts';
import { keyOrigin } from '../config/keys.ts';
import { SvcError } from '../errors.ts';
import { fieldPaths, type View } from '../output/view.ts';
import { hasEnvironmentKey, tenantTone } from '../app/tenant-mark.ts';
import { drawIdentity, type Identity, type KeyRow, keyTone } from './draw-identity.ts';

const whoamiView: View<Identity> = {
  name: 'identity',
  fields: fieldPaths(`
    profile base_url tenant.name tenant.type tenant.id management_key.state management_key.from
    management_key.stored_at management_key.problem private_key.state private_key.from
    private_key.stored_at private_key.problem permissions.log:read
    permissions.tenant:read permissions.report:read permissions.3ds:session:read
    permissions.account-updater:job:read origins.profile origins.base_url origins.output origins.time
    origins.timeout origins.max_wait
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
    'Tries every read that changes nothing. Exit code 0 when the service knows at least one key, 4 when it refuses them, 3 without any.',
  examples: [
    ['svc whoami', 'which tenant, and what may be read'],
    ['svc whoami -o json --fields tenant.type', 'for a script that must not meet production'],
  ],
  exitCodes: [4, 7, 8],
  fields: whoamiView.fields,
  parameters: PROFILES_PARAMETER,
  async run(context) {
    const print = await recordPrinter(context, whoamiView);
    const keys = await Promise.all(KEY_TYPES.map((kind) => inspectKey(context, kind)));
    const row = rowOf(context, keys);
    const isShort = isForPeople(context) && context.globals.fields === undefined;
    if (isShort && keys.every(({ failure }) => failure?.code === 'key_missing')) throw noKeys(row.profile);
    await (isShort ? context.out.write(drawIdentity(row, context)) : print(row));
    if (row.tenant && row.base_url !== null && !context.settings.sandbox && !hasEnvironmentKey(context))
      rememberTenant(context.system, row.profile, row.base_url, row.tenant);
    if (keys.some(({ check, failure }) => check !== undefined && failure === undefined)) return;
    throw worst(keys) ?? new SvcError('bug', 'no key failed, and none is good');
  },
});

function rowOf(context: Context, keys: readonly KeyReport[]): Identity {
  const { settings } = context;
  const { profile, baseUrl, output, time, timeoutMs, maxWaitMs } = settings;
  const keyRow = (kind: KeyType) => keyRowOf(context, kind, keys);
  return {
    profile: profile.value,
    base_url: baseUrl === undefined ? null : baseUrlText(baseUrl.value),
    tenant: keys.find(({ check }) => check?.tenant !== undefined)?.check?.tenant ?? null,
    management_key: keyRow('management'),
    private_key: keyRow('private'),
    permissions: Object.fromEntries(READ_PERMISSIONS.map(({ name }) => [name, keyStatus(name, keys)])),
    origins: {
      profile: profile.origin.name,
      base_url: baseUrl?.origin.name ?? (settings.sandbox ? 'the embedded sandbox' : 'default'),
      output: output.origin.name,
      time: time.origin.name,
      timeout: timeoutMs.origin.name,
      max_wait: maxWaitMs.origin.name,
    },
  };
}

function keyRowOf({ system, settings }: Context, kind: KeyType, keys: readonly KeyReport[]): KeyRow {
  const { check, failure } = keys.find((key) => key.kind === kind) ?? {};
  const origin = keyOrigin(system, settings, kind);
  const from = settings.sandbox ? 'built in' : (origin?.name ?? null);
  const isStored = origin?.kind === 'profile' && !settings.sandbox;
  const stored_at = (isStored ? settings.stored?.keys?.[kind]?.stored_at : undefined) ?? null;
  const problem = failure?.message ?? null;
  if (check) return { state: check.verdict, from, stored_at, problem };
  const state = failure?.code === 'key_missing' ? 'missing' : 'unusable';
  return { state: origin === undefined ? 'missing' : state, from, stored_at, problem };
}

function keyStatus(name: string, keys: readonly KeyReport[]): string | null {
  const tried = keys.flatMap(({ check }) => check?.tried ?? []);
  return tried.find(({ permission }) => permission.name === name)?.status ?? null;
}

// What the service said counts more than what could not be asked, and that more than what is not there.
function worst(keys: readonly KeyReport[]): SvcError | undefined {
  const failures = keys.flatMap(({ failure }) => failure ?? []);
  return (
    failures.find((failure) => isAboutKey(failure)) ??
    failures.find(({ code }) => code !== 'key_missing') ??
    failures[0]
  );
}

function noKeys(profile: string): SvcError {
  return new SvcError('key_missing', `profile ${profile} has no keys yet`, {
    hint: 'Set them in the environment, or store them.',
    next: ['login'],
  });
}
