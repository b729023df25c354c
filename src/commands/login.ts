import { isAboutKey, rememberTenant } from '../app/check-key.ts';
import { type Context, defineCommand } from '../app/command.ts';
import { noteNext } from '../app/hint.ts';
import { conflicting, flag, text, value } from '../app/parameter.ts';
import { baseUrlText, parseBaseUrl } from '../config/values.ts';
import { type StoredKey, updateConfig } from '../config/config-file.ts';
import { KEY_TYPES } from '../schema/key-type.ts';
import { SvcError } from '../errors.ts';
import { askForKey, askForText, checkedKey, type GivenKey, givenKeys, type LoginTarget } from './login-keys.ts';

const parameters = {
  managementKeyStdin: conflicting(
    ['managementKeyCommand'],
    flag('--management-key-stdin', 'read the management key from standard input'),
  ),
  privateKeyStdin: conflicting(
    ['privateKeyCommand'],
    flag('--private-key-stdin', 'read the private key from standard input; with both, one key per line'),
  ),
  managementKeyCommand: value(
    '--management-key-command <command>',
    'store a shell command that prints the management key instead of the key',
    text,
  ),
  privateKeyCommand: value(
    '--private-key-command <command>',
    'store a shell command that prints the private key instead of the key',
    text,
  ),
  noCheck: flag('--no-check', 'store the keys without verifying them'),
  dryRun: flag('--dry-run', 'verify the keys, and store nothing'),
} as const;

export const login = defineCommand({
  description:
    'Asks for the base URL and both keys. Keys are not echoed; an empty answer keeps the stored key. Each key is verified before it is stored, and sent only to the base URL that it was stored with. No option takes a key, because process lists show options.',
  examples: [
    ['svc login', 'answer the questions'],
    ['svc login --profile test --base-url https://api.example.com', 'in another profile'],
    [
      'pass show svc | svc login --base-url https://api.example.com --management-key-stdin',
      'from a secret manager, once',
    ],
    [
      "svc login --base-url https://api.example.com --management-key-command 'pass show svc'",
      'from a secret manager whenever it is needed; the key is not stored',
    ],
  ],
  newProfile: true,
  exitCodes: [4, 8],
  worksElsewhere: true,
  parameters,
  async run(context, input) {
    if (context.settings.sandbox) {
      throw new SvcError('usage', 'the sandbox needs no keys', {
        hint: 'Choose another profile with --profile, or just use --sandbox.',
      });
    }
    const given = await givenKeys(context, input);
    const baseUrl = await askBaseUrl(context);
    const place: LoginTarget = { baseUrl, check: !input.noCheck };
    const keys = given.length > 0 ? await checkAll(context, given, place) : await askAll(context, place);
    if (keys.length === 0)
      throw new SvcError('usage', 'no key was given, so nothing was stored', {
        hint: 'Give at least one key, or use --sandbox, which needs none.',
      });
    if (input.dryRun) return context.notices.note('dry run: nothing was stored');
    await store(context, baseUrl, keys);
    reportStored(context, baseUrl, keys);
  },
});

async function askBaseUrl(context: Context): Promise<URL> {
  const { settings } = context;
  if (settings.baseUrl) {
    const { value: url, origin } = settings.baseUrl;
    context.notices.note(`for ${baseUrlText(url)} (${origin.name}); use --base-url for another one`);
    return url;
  }
  return askForText(context, 'Base URL of the service:', 'Pass --base-url, or set SVC_BASE_URL.', (typed) =>
    parseBaseUrl(typed, { kind: 'flag', name: 'the answer' }),
  );
}

/** Keys that were not typed: all are accepted, or none is stored. */
async function checkAll(context: Context, given: readonly GivenKey[], place: LoginTarget): Promise<GivenKey[]> {
  for (const key of given) await checkedKey(context, key, place);
  return [...given];
}

async function askAll(context: Context, place: LoginTarget): Promise<GivenKey[]> {
  const keys: GivenKey[] = [];
  for (const kind of KEY_TYPES) {
    const key = await askForKey(context, kind, place).catch((error: unknown) => {
      // A key that was accepted before is kept.
      if (keys.length === 0 || !isAboutKey(error)) throw error;
      context.notices.warn(`skipping the ${kind} key: ${error.message}`);
    });
    if (key) keys.push(key);
  }
  return keys;
}

async function store({ system, settings }: Context, url: URL, keys: readonly GivenKey[]): Promise<void> {
  const baseUrl = baseUrlText(url);
  const name = settings.profile.value;
  await updateConfig(system, (config) => {
    const before = config.profiles[name] ?? {};
    const stored = Object.fromEntries(keys.map((key) => [key.kind, storedKey(key, baseUrl)]));
    config.profiles[name] = { ...before, base_url: baseUrl, keys: { ...before.keys, ...stored } };
    config.current ??= name;
  });
  const tenant = keys.find((key) => key.tenant !== undefined)?.tenant;
  if (tenant) rememberTenant(system, name, baseUrl, tenant);
}

function storedKey({ value: key, command }: GivenKey, baseUrl: string): StoredKey {
  return command === undefined ? { value: key, base_url: baseUrl } : { command, base_url: baseUrl };
}

function reportStored(context: Context, url: URL, keys: readonly GivenKey[]): void {
  const profile = context.settings.profile.value;
  const what = keys.map(({ kind, command }) => `the ${kind} key${command === undefined ? '' : ' command'}`);
  context.notices.success(`stored ${what.join(' and ')} in profile ${profile}, for ${baseUrlText(url)}`);
  const first = keys.some(({ kind }) => kind === 'management') ? ['logs'] : ['au', 'list'];
  noteNext(context, 'to begin', { command: first });
  noteNext(context, 'to see what your keys may read', { command: ['whoami'] });
}
