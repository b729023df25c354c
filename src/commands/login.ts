import { isAboutKey, rememberTenant } from '../app/check-key.ts';
import { type Context, defineCommand } from '../app/command.ts';
import { flag, text, value } from '../app/parameter.ts';
import { baseUrlText, parseBaseUrl } from '../config/values.ts';
import { KEY_KINDS, type KeyKind, type StoredKey, updateConfig } from '../config/config-file.ts';
import { SvcError } from '../errors.ts';
import { askForKey, askForText, checkedKey, type GivenKey, givenKeys } from './login-keys.ts';

const parameters = {
  managementKeyStdin: flag('--management-key-stdin', 'read the management key from standard input'),
  privateKeyStdin: flag(
    '--private-key-stdin',
    'read the private key from standard input; with both, one key a line',
  ),
  managementKeyCommand: value(
    '--management-key-command <command>',
    'keep a shell command that prints the management key, in place of the key',
    text,
  ),
  privateKeyCommand: value(
    '--private-key-command <command>',
    'keep a shell command that prints the private key',
    text,
  ),
  noCheck: flag('--no-check', 'store without asking the service, as without a network'),
  dryRun: flag('--dry-run', 'try the keys, and store nothing'),
} as const;

/** `svc login` */
export const login = defineCommand({
  description:
    'Asks for the base URL and both keys; nothing that is typed of a key shows, and an empty answer leaves that key as it is. Each key is tried at once on what it may read; one that is refused is not stored. A stored key is sent only to the base URL that it was stored with. No option takes a key: a process list shows options.',
  examples: [
    ['svc login', 'answer the questions'],
    ['svc login --profile test --base-url https://api.example.com', 'a profile of its own'],
    [
      'pass show svc | svc login --base-url https://api.example.com --management-key-stdin',
      'from a secret manager, once',
    ],
    [
      "svc login --base-url https://api.example.com --management-key-command 'pass show svc'",
      'from a secret manager, each time that it is needed; the key is not stored',
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
        hint: "Give at least one key; 'svc --sandbox logs' needs none.",
      });
    if (input.dryRun) return context.notices.note('dry run: nothing was stored');
    await store(context, baseUrl, keys);
    reportStored(context, baseUrl, keys);
  },
});

/** Where keys are to go, and whether they are tried there. */
export interface LoginTarget {
  readonly baseUrl: URL;
  readonly check: boolean;
}

async function askBaseUrl(context: Context): Promise<URL> {
  const { settings } = context;
  if (settings.baseUrl) {
    const { value: url, origin } = settings.baseUrl;
    context.notices.note(`for ${baseUrlText(url)} (${origin.name}); another one with --base-url`);
    return url;
  }
  return askForText(context, 'Base URL of the service:', 'Pass --base-url, or set SVC_BASE_URL.', (typed) =>
    parseBaseUrl(typed, { kind: 'flag', name: 'the answer' }),
  );
}

/** Keys that were not typed: all are good, or none is stored. */
async function checkAll(
  context: Context,
  given: readonly GivenKey[],
  place: LoginTarget,
): Promise<GivenKey[]> {
  for (const key of given) await checkedKey(context, key, place);
  return [...given];
}

async function askAll(context: Context, place: LoginTarget): Promise<GivenKey[]> {
  const keys: GivenKey[] = [];
  for (const kind of KEY_KINDS) {
    const key = await askForKey(context, kind, place).catch((error: unknown) => {
      // What was good so far is kept.
      if (keys.length === 0 || !isAboutKey(error)) throw error;
      context.notices.warn(`the ${kind} key is left out: ${error.message}`);
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
    const stored = Object.fromEntries(keys.map((key) => [key.kind, kept(key, baseUrl)]));
    config.profiles[name] = { ...before, base_url: baseUrl, keys: { ...before.keys, ...stored } };
    config.current ??= name;
  });
  const tenant = keys.find((key) => key.tenant !== undefined)?.tenant;
  if (tenant) rememberTenant(system, name, baseUrl, tenant);
}

function kept({ value: key, command }: GivenKey, baseUrl: string): StoredKey {
  return command === undefined ? { value: key, base_url: baseUrl } : { command, base_url: baseUrl };
}

function reportStored({ settings, notices }: Context, url: URL, keys: readonly GivenKey[]): void {
  const profile = settings.profile.value;
  const kinds = keys.map((key) => key.kind);
  const what = keys.map(({ kind, command }) => `the ${kind} key${command === undefined ? '' : ' command'}`);
  notices.success(`stored ${what.join(' and ')} in profile ${profile}, for ${baseUrlText(url)}`);
  const option = profile === 'default' ? '' : ` --profile ${profile}`;
  notices.note(`next: svc ${firstCommand(kinds)}${option}, or 'svc whoami${option}' to see what you may do`);
}

function firstCommand(kinds: readonly KeyKind[]): string {
  return kinds.includes('management') ? 'logs' : 'au list';
}
