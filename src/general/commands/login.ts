import { SvcError } from '../../base/errors.ts';
import { isInstalled } from '../../base/files/names.ts';
import type { System } from '../../base/system.ts';
import { warnOfOtherTenant } from '../../cli/app/check-key.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { conflicting, flag } from '../../cli/app/parameter.ts';
import { updateConfig } from '../../cli/config/config-file.ts';
import { type Profile, type StoredKey, storedProfile } from '../../cli/config/config-format.ts';
import { KEY_TYPES } from '../../cli/config/keys.ts';
import { forgetTenantOf, rememberTenant, tenantOfKeys } from '../../cli/config/known-keys.ts';
import { baseUrlText, DEFAULT_PROFILE, parseBaseUrl } from '../../cli/config/values.ts';
import { isoTime } from '../../cli/output/time.ts';
import {
  askForKeys,
  askForText,
  verifyKey,
  type GivenKey,
  givenKeys,
  KEY_PARAMETERS,
  type LoginTarget,
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
    const known = knownTenantOf(context, keys, target);
    const { stored, isNowInUse } = await store(context, baseUrl, keys);
    const { value: profile } = context.settings.profile;
    reportStored(context, baseUrl, keys);
    if (isNowInUse) context.notices.note(`profile ${profile} is now in use`);
    if (warnOfOtherTenant(context, known, keys)) forgetTenantOf(context.system, profile);
    else if (known) rememberTenant(context.system, { profile, baseUrl: baseUrlText(baseUrl), keys: stored }, known);
    if (input.rotate) context.notices.note('the service still accepts the old keys: revoke them there');
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

/**
 * Returns the tenant of the new keys, if known. A private key cannot read its tenant. A verified one counts as a key of the
 * profile's known tenant, unless it replaces a key without `--rotate`.
 */
function knownTenantOf({ system, settings }: Context, keys: readonly VerifiedKey[], target: LoginTarget) {
  const shown = keys.find((key) => key.tenant !== undefined)?.tenant;
  const { profile, stored } = settings;
  const isAddition = keys.every(({ kind }) => stored?.keys?.[kind] === undefined);
  if (shown !== undefined || !target.check || !(isAddition || target.replaced !== undefined)) return shown;
  return tenantOfKeys(system, { profile: profile.value, baseUrl: baseUrlText(target.baseUrl), keys: stored?.keys });
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
  suggestSecretManager(context, keys);
  const first = keys.some(({ kind }) => kind === 'management') ? ['logs'] : ['au', 'jobs'];
  const { notices, system, globals } = context;
  // The profile contains the base URL now, so the commands need no --base-url.
  const host = { notices, system, globals: { ...globals, baseUrl: undefined } };
  noteNext(host, 'to begin', first);
  noteNext(host, 'to see what your keys may read', ['whoami']);
}

/** Suggests the secret managers of this machine if a key was stored in the config file. */
function suggestSecretManager(context: Context, keys: readonly GivenKey[]): void {
  const found = keys.some(({ command }) => command === undefined) ? installedSecretManagers(context.system) : [];
  if (found.length === 0) return;
  const text = `a secret manager can keep the key instead of the file (installed here: ${found.join(', ')}); for the commands`;
  noteNext(context, text, ['help', 'security']);
}

/** The programs of the secret managers for which docs/settings.md has recipes. */
export const SECRET_MANAGERS = ['secret-tool', 'pass', 'op', 'vault', 'aws', 'security'] as const;

/** Returns the secret managers whose program is on the PATH. */
function installedSecretManagers({ env, platform }: Pick<System, 'env' | 'platform'>): string[] {
  return SECRET_MANAGERS.filter((name) => {
    // Only on macOS, the program "security" is a secret manager.
    if (name === 'security' && platform !== 'darwin') return false;
    return isInstalled(platform === 'win32' ? `${name}.exe` : name, env);
  });
}
