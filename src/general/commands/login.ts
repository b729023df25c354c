import { SvcError } from '../../base/errors.ts';
import { warnOfOtherTenant } from '../../cli/app/check-key.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { conflicting, flag } from '../../cli/app/parameter.ts';
import { describeTenant } from '../../cli/app/tenant-mark.ts';
import { updateConfig } from '../../cli/config/config-file.ts';
import { type Profile, type StoredKey, storedProfile } from '../../cli/config/config-format.ts';
import { KEY_TYPES } from '../../cli/config/keys.ts';
import { forgetTenantOf, rememberTenant } from '../../cli/config/known-keys.ts';
import { baseUrlText, DEFAULT_PROFILE, parseBaseUrl } from '../../cli/config/values.ts';
import { isoTime } from '../../cli/output/time.ts';
import type { TenantFacts } from '../../schema/tenant.ts';
import {
  askForKeys,
  askForText,
  verifyKey,
  type GivenKey,
  givenKeys,
  KEY_PARAMETERS,
  type LoginTarget,
  tenantBefore,
  type VerifiedKey,
} from '../login-keys.ts';
import { warnOfOtherKey } from '../preceding-variable.ts';

const parameters = {
  ...KEY_PARAMETERS,
  rotate: conflicting(
    ['noCheck'],
    flag('--rotate', 'replace stored keys by new ones of the same tenant; the old one stays unless the new one works'),
  ),
  dryRun: flag('--dry-run', 'verify the keys, and store nothing'),
} as const;

export const login = defineCommand({
  description:
    'Asks for the base URL and both keys. Keys are not echoed; Enter keeps a stored key. Each key is verified before it is stored, and sent only to its base URL. No option takes a key, because process lists show options.',
  examples: [
    ['svc login', 'answer the questions'],
    ['svc login --profile test --base-url https://api.example.com', 'in another profile'],
    [
      'pass show svc | svc login --base-url https://api.example.com --management-key-stdin',
      'from a secret manager, once',
    ],
    [
      "svc login --base-url https://api.example.com --management-key-command 'pass show svc'",
      'from a secret manager whenever it is needed, and never stored',
    ],
    ['svc login --rotate --profile prod', 'replace the keys of a profile, each once the new one is verified'],
  ],
  newProfile: true,
  exitCodes: [[4, 'a key was refused; the stored one stays'], 5, 8],
  parameters,
  async run(context, input) {
    if (context.settings.sandbox)
      throw new SvcError('usage', 'the sandbox needs no keys', {
        hint: 'Choose another profile with --profile, or just use --sandbox.',
      });
    const given = await givenKeys(context, input);
    const baseUrl = input.rotate ? context.settings.requireBaseUrl() : await askBaseUrl(context);
    const replaced = input.rotate ? keysToReplace(context, given, baseUrlText(baseUrl)) : undefined;
    const target: LoginTarget = { baseUrl, check: !input.noCheck, replaced };
    // Keys from options are stored only if all are accepted.
    const verified: VerifiedKey[] = [];
    for (const key of given) verified.push(await verifyKey(context, key, target));
    const asked = KEY_TYPES.filter((kind) => replaced === undefined || replaced[kind]);
    const keys = verified.length > 0 ? verified : await askForKeys(context, asked, target);
    if (input.dryRun) return context.notices.note('dry run: nothing was stored');
    const before = tenantBefore(context, baseUrl);
    const { stored, isNowInUse } = await store(context, baseUrl, keys);
    reportStored(context, baseUrl, keys);
    if (isNowInUse) context.notices.note(`profile ${context.settings.profile.value} is now in use`);
    concludeTenant(context, keys, { target, before, stored });
    if (input.rotate) adviseRevoking(context, keys, before);
  },
});

/** Returns the stored keys of the profile. @throws SvcError `usage` if a new key has no stored key to replace */
function keysToReplace({ settings }: Context, given: readonly GivenKey[], baseUrl: string): LoginTarget['replaced'] {
  const profile = settings.profile.value;
  const stored = settings.stored?.keys ?? {};
  const kinds = given.length > 0 ? given.map(({ kind }) => kind) : KEY_TYPES.filter((kind) => stored[kind]);
  const missing = kinds.find((kind) => stored[kind] === undefined);
  if (kinds.length === 0 || missing !== undefined)
    throw new SvcError('usage', `profile ${profile} has no ${missing ?? 'stored'} key to replace`, {
      hint: 'Store one:',
      next: ['login'],
    });
  const elsewhere = kinds.find((kind) => stored[kind]?.base_url !== baseUrl);
  if (elsewhere !== undefined)
    throw new SvcError('usage', `the ${elsewhere} key of profile ${profile} is not for ${baseUrl}`, {
      hint: `--rotate keeps the base URL: ${stored[elsewhere]?.base_url}.`,
    });
  return stored;
}

async function askBaseUrl(context: Context): Promise<URL> {
  const { settings } = context;
  if (settings.baseUrl) {
    const { value: url, origin } = settings.baseUrl;
    context.notices.note(`for ${baseUrlText(url)} (${origin.name}); use --base-url for another one`);
    return url;
  }
  return askForText(
    context,
    'Base URL (such as https://api.example.com):',
    'Pass --base-url, or set SVC_BASE_URL.',
    (typed) => parseBaseUrl(typed, { kind: 'flag', name: 'the answer' }),
  );
}

async function store(
  { system, settings, clock }: Context,
  url: URL,
  keys: readonly GivenKey[],
): Promise<{ stored: Profile['keys']; isNowInUse: boolean }> {
  const baseUrl = baseUrlText(url);
  const name = settings.profile.value;
  let isNowInUse = false;
  const { config: changedConfig } = await updateConfig(system, (config) => {
    const now = clock.now();
    const before = config.profiles[name] ?? {};
    // The age of a key counts from its first storing, so an unchanged key keeps its time.
    const changed = keys.filter((key) => !isStored(before.keys?.[key.kind], key, baseUrl));
    const stored = Object.fromEntries(changed.map((key) => [key.kind, storedKey(key, baseUrl, now)]));
    config.profiles[name] = { ...before, base_url: baseUrl, keys: { ...before.keys, ...stored } };
    // Without a chosen profile, the default profile is in use, also where it was stored before.
    isNowInUse = config.current === undefined && storedProfile(config, DEFAULT_PROFILE) === undefined;
    if (isNowInUse) config.current = name;
  });
  return { stored: storedProfile(changedConfig, name)?.keys, isNowInUse };
}

/** What a login changes: `before` is the known tenant of the profile's old keys, and `stored` are its new keys. */
interface Change {
  readonly target: LoginTarget;
  readonly before: TenantFacts | undefined;
  readonly stored: Profile['keys'];
}

/** Warns of keys that no longer go together, and remembers the tenant of the profile, or that it is unknown. */
function concludeTenant(context: Context, keys: readonly VerifiedKey[], { target, before, stored }: Change): void {
  const { system, settings, notices } = context;
  const profile = settings.profile.value;
  const baseUrl = baseUrlText(target.baseUrl);
  const kept = KEY_TYPES.filter((kind) => stored?.[kind] !== undefined && keys.every((key) => key.kind !== kind));
  const elsewhere = kept.filter((kind) => stored?.[kind]?.base_url !== baseUrl);
  for (const kind of elsewhere)
    notices.warn(
      `the ${kind} key of profile ${profile} is for ${stored?.[kind]?.base_url}, and is not sent to ${baseUrl}`,
    );
  const known = tenantOf(keys, { target, before, stored: settings.stored?.keys });
  if (known !== undefined && before !== undefined && known.id !== before.id)
    notices.warn(`profile ${profile} was for the ${describeTenant(before)} (${before.id}) before`);
  const keptHere = kept.filter((kind) => !elsewhere.includes(kind)).map((kind) => ({ kind, tenantId: before?.id }));
  if (warnOfOtherTenant(context, known, [...keys, ...keptHere])) forgetTenantOf(system, profile);
  else if (known) rememberTenant(context, { profile, baseUrl, keys: stored }, known);
}

/**
 * Returns the tenant of the new keys, if known. A private key cannot read its tenant. A verified one counts as a key of the
 * profile's known tenant, unless it replaces a key and no job names its tenant.
 */
function tenantOf(keys: readonly VerifiedKey[], { target, before, stored }: Change): TenantFacts | undefined {
  const isUnclear = !target.check || keys.some(({ kind, tenantId }) => stored?.[kind] && tenantId === undefined);
  return keys.find(({ tenant }) => tenant !== undefined)?.tenant ?? (isUnclear ? undefined : before);
}

function adviseRevoking({ notices }: Context, keys: readonly VerifiedKey[], before: TenantFacts | undefined): void {
  const unclear = keys
    .filter(({ tenantId }) => tenantId === undefined || tenantId !== before?.id)
    .map(({ kind }) => kind);
  if (unclear.length === 0) return notices.note('the service still accepts the old keys: revoke them there');
  const which = `the new ${unclear.join(' key and the new ')} key`;
  notices.warn(
    `svc cannot tell whether ${which} is of the same tenant as the old one: compare them before you revoke the old one`,
  );
}

/** Tells whether a profile already has this key or key command, for the same base URL. */
function isStored(before: StoredKey | undefined, { value, command }: GivenKey, baseUrl: string): boolean {
  if (before === undefined || before.base_url !== baseUrl) return false;
  return command === undefined ? before.value === value : before.command === command;
}

function storedKey({ value: key, command }: GivenKey, base_url: string, now: number): StoredKey {
  return command === undefined ? { value: key, base_url, stored_at: isoTime(now) } : { command, base_url };
}

function reportStored(context: Context, url: URL, keys: readonly GivenKey[]): void {
  const { profile, stored } = context.settings;
  const what = keys.map(({ kind, command }) => `the ${kind} key${command === undefined ? '' : ' command'}`);
  // A mistyped name creates a profile without the intended settings, so the message says that the profile is new.
  const where = stored === undefined && profile.origin.kind === 'flag' ? 'the new profile' : 'profile';
  context.notices.success(`stored ${what.join(' and ')} in ${where} ${profile.value}, for ${baseUrlText(url)}`);
  for (const { kind, value, command } of keys) warnOfOtherKey(context, kind, command === undefined ? value : undefined);
  const first = keys.some(({ kind }) => kind === 'management') ? ['logs'] : ['au', 'jobs'];
  const { notices, system, globals } = context;
  // The profile contains the base URL now, so the commands need no --base-url.
  const host = { notices, system, globals: { ...globals, baseUrl: undefined } };
  noteNext(host, 'to begin', first);
  noteNext(host, 'to see what your keys may read', ['whoami']);
}
