import { SvcError } from '../../base/errors.ts';
import {
  detailOf,
  inspectKey,
  isAboutKey,
  isKeyAbsent,
  type KeyReport,
  warnOfOtherTenant,
} from '../../cli/app/check-key.ts';
import { type Context, defineCommand, PROFILES_PARAMETER } from '../../cli/app/command.ts';
import type { Input } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { hasEnvironmentKey, headline, tenantInUse, tenantTone } from '../../cli/app/tenant-mark.ts';
import { KEY_TYPES, keyOrigin } from '../../cli/config/keys.ts';
import { forgetTenantOf, rememberTenant } from '../../cli/config/known-keys.ts';
import { baseUrlText } from '../../cli/config/values.ts';
import { cleanText } from '../../cli/output/text.ts';
import { hangingIndent } from '../../cli/output/wrap.ts';
import { fieldPaths, MARKS, type View } from '../../cli/output/view.ts';
import { READ_PERMISSIONS, type TriedPermission, WRITE_PERMISSIONS } from '../../client/api/permissions.ts';
import { readSandboxKey } from '../../client/api/sandbox-key.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { agedText, checkKeyAgeOptions, checkKeyAges, KEY_AGE_PARAMETERS, keyAge } from '../key-age.ts';

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
    else if (row.tenant) rememberTenant(system, place, row.tenant);
  }
  const failure = failureOf(context, keys);
  if (failure !== undefined) throw failure;
  if (maxKeyAge !== undefined) checkKeyAges(context, maxKeyAge, strict);
}

/** The facts about a profile and its keys. */
type Identity = ReturnType<typeof identityRow>;

function identityRow(context: Context, keys: readonly KeyReport[], writes: Readonly<Record<string, string | null>>) {
  const { settings } = context;
  const { profile, baseUrl, output, time, timeoutMs, maxWaitMs } = settings;
  const keyRow = (kind: KeyType) => keyRowOf(context, kind, keys);
  return {
    profile: profile.value,
    base_url: baseUrl === undefined ? null : baseUrlText(baseUrl.value),
    tenant: keys.find(({ check }) => check?.tenant !== undefined)?.check?.tenant ?? null,
    management_key: keyRow('management'),
    private_key: keyRow('private'),
    permissions: {
      ...Object.fromEntries(READ_PERMISSIONS.map(({ name }) => [name, triedOf(name, keys)?.status ?? null])),
      ...writes,
    },
    refusals: Object.fromEntries(
      READ_PERMISSIONS.map(({ name }) => [name, detailOf(triedOf(name, keys)?.error) ?? null]),
    ),
    origins: {
      profile: profile.origin.name,
      base_url: baseUrl?.origin.name ?? (settings.sandbox ? 'the embedded sandbox' : 'default'),
      output: output.origin.name,
      time: time.origin.name,
      ledger: settings.ledger.origin.name,
      timeout: timeoutMs.origin.name,
      max_wait: maxWaitMs.origin.name,
    },
  };
}

/** Describes a key, its origin and the service's verdict. `stored_at` is null for a key that svc did not store itself. */
function keyRowOf(context: Context, kind: KeyType, keys: readonly KeyReport[]) {
  const { system, settings } = context;
  const { check, failure } = keys.find((key) => key.kind === kind) ?? {};
  const origin = keyOrigin(system, settings, kind);
  const from = settings.sandbox ? 'built in' : (origin?.name ?? null);
  const stored_at = keyAge(context, kind)?.storedAt ?? null;
  const problem = failure?.message ?? null;
  if (check) return { state: check.verdict, from, stored_at, problem };
  const state = failure?.code === 'key_missing' ? 'missing' : 'unusable';
  return { state: origin === undefined ? 'missing' : state, from, stored_at, problem };
}

function triedOf(name: string, keys: readonly KeyReport[]): TriedPermission | undefined {
  return keys.flatMap(({ check }) => check?.tried ?? []).find(({ permission }) => permission.name === name);
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
  return new SvcError('key_missing', words, { hint: 'Set them in the environment, or store them.', next: ['login'] });
}

const LABEL = 'management key  '.length;

/** Draws the identity for people: tenant, profile, each key with its permissions, and other settings. */
function drawIdentity(identity: Identity, context: Context): string {
  const { palette, plain, settings } = context;
  const { tenant, profile, base_url, origins } = identity;
  const columns = context.columns();
  const line = (label: string, text: string): string =>
    plain
      ? [label.trim(), text].filter((part) => part !== '').join(': ')
      : hangingIndent(palette.quiet(label.padEnd(LABEL)), LABEL, text, columns);
  const where = base_url ?? (settings.sandbox ? 'embedded in svc' : 'no base URL');
  const set = Object.entries(origins).filter(
    ([name, from]) => from !== 'default' && !/^(?:profile|base_url)$/.test(name),
  );
  const lines = [
    ...(tenant === null ? [] : [headline(tenant, palette, columns), '']),
    line('profile', `${profile} (${where})`),
    ...KEY_TYPES.flatMap((kind) => keyLines(identity, kind, context).map(([label, text]) => line(label, text))),
    ...set.map(([name, from]) => line(name.replace('_', ' '), `set by ${from}`)),
  ];
  return `${lines.join('\n')}\n`;
}

function keyLines(
  { permissions, refusals, ...row }: Identity,
  kind: KeyType,
  context: Context,
): [label: string, text: string][] {
  const { state, from, problem } = row[`${kind}_key`];
  const named = [...READ_PERMISSIONS, ...WRITE_PERMISSIONS]
    .filter((permission) => permission.kind === kind)
    .map(({ name }) => name);
  const having = (...statuses: string[]): string =>
    named.filter((name) => statuses.includes(permissions[name] ?? '')).join(', ');
  const details = new Set(named.flatMap((name) => refusals[name] ?? []));
  const isValid = state === 'accepted' || state === 'powerless';
  const rights: [string, string][] = [
    ['  may', having('allowed')],
    ['  may not', state === 'accepted' ? having('forbidden', 'refused') : ''],
    ['  because', isValid ? cleanText([...details].join('; ')) : ''],
    ['  not known', isValid ? named.filter((name) => permissions[name] === null).join(', ') : ''],
    ['  not checked', state === 'accepted' ? having('unclear') : ''],
  ];
  const tone = keyTone(state);
  const mark = context.marks && tone !== 'warn' ? MARKS[tone] : '';
  const origin = state === 'missing' || from === null ? '' : ` (${from}${ageOf(kind, from, context)})`;
  return [
    [`${kind} key`, context.palette[tone](mark + state) + cleanText(origin)],
    ...rights.filter(([, names]) => names !== ''),
    ...(problem === null || state === 'missing' ? [] : ([['', cleanText(problem)]] as [string, string][])),
  ];
}

/** Returns the age of a key in the profile, to follow its origin. The age of a key from a variable or a command is unknown. */
function ageOf(kind: KeyType, from: string, context: Context): string {
  const age = keyAge(context, kind);
  if (age === undefined || from !== `profile ${context.settings.profile.value}`) return '';
  return age.ageMs === undefined ? ', age unknown' : `, ${agedText(age)}`;
}

function keyTone(state: unknown): 'good' | 'warn' | 'bad' {
  if (state === 'accepted') return 'good';
  return state === 'missing' || state === 'powerless' || state === 'unclear' ? 'warn' : 'bad';
}

/** The status of a write permission. Only the sandbox reports it; at other services it is null. */
type WriteStatus = 'allowed' | 'forbidden' | null;

/** Reads the write permissions of the keys from the sandbox. */
async function writePermissions(context: Context, keys: readonly KeyReport[]): Promise<Record<string, WriteStatus>> {
  const usable = keys.filter(({ check }) => check?.verdict === 'accepted' || check?.verdict === 'powerless');
  const known = new Map(
    await Promise.all(usable.map(async ({ kind }) => [kind, await statusOf(context, kind)] as const)),
  );
  return Object.fromEntries(WRITE_PERMISSIONS.map(({ name, kind }) => [name, known.get(kind)?.(name) ?? null]));
}

async function statusOf(context: Context, kind: KeyType): Promise<(name: string) => WriteStatus> {
  const listed = (await readSandboxKey(await context.client(), kind))?.permissions;
  return (name) => (listed === undefined ? null : listed.includes(name) ? 'allowed' : 'forbidden');
}
