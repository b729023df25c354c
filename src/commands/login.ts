import { defineCommand } from '../cli/command.ts';
import type { Context } from '../cli/context.ts';
import { flag, type Input } from '../cli/parameter.ts';
import { baseUrlText, parseBaseUrl } from '../config/base-url.ts';
import { KEY_KINDS, type KeyKind } from '../config/document.ts';
import { checkKey } from '../config/key-text.ts';
import { updateConfig } from '../config/store.ts';
import { SvcError } from '../errors.ts';
import { readInput } from '../terminal/stdin.ts';

const parameters = {
  managementKeyStdin: flag('--management-key-stdin', 'read the management key from standard input'),
  privateKeyStdin: flag(
    '--private-key-stdin',
    'read the private key from standard input; with both, one key a line',
  ),
} as const;

/** `svc login` */
export const login = defineCommand({
  name: 'login',
  summary: 'store a base URL and keys in a profile',
  description:
    'Asks for the base URL and both keys; nothing that is typed of a key shows, and an empty answer leaves that key as it is. A stored key is sent only to the base URL that it was stored with. No option takes a key: a process list shows options.',
  examples: [
    ['svc login', 'answer the questions'],
    ['svc login --profile test --base-url https://api.example.com', 'a profile of its own'],
    [
      'pass show svc | svc login --base-url https://api.example.com --management-key-stdin',
      'from a secret manager',
    ],
  ],
  newProfile: true,
  parameters,
  async run(context, input) {
    const profile = context.settings.profile.value;
    if (context.settings.sandbox) {
      throw new SvcError('usage', 'the sandbox needs no keys', {
        hint: 'Choose another profile with --profile, or just use --sandbox.',
      });
    }
    const baseUrl = await askBaseUrl(context);
    const keys = await askKeys(context, input);
    if (keys.size === 0)
      throw new SvcError('usage', 'no key was given, so nothing was stored', {
        hint: 'Give at least one key.',
      });
    for (const key of keys.values()) context.addSecret(key);
    await store(context, profile, baseUrl, keys);
    const kinds = [...keys.keys()].join(' and ');
    context.notices.note(`stored the ${kinds} key in profile ${profile}, for ${baseUrl}`);
    context.notices.note(
      `try: svc ${keys.has('management') ? 'tenant show' : 'au list'}${profile === 'default' ? '' : ` --profile ${profile}`}`,
    );
  },
});

type Keys = ReadonlyMap<KeyKind, string>;

async function askBaseUrl({ settings, prompts }: Context): Promise<string> {
  if (settings.baseUrl) return baseUrlText(settings.baseUrl.value);
  const typed = await prompts.promptText('Base URL of the service:', 'Pass --base-url, or set SVC_BASE_URL.');
  return baseUrlText(parseBaseUrl(typed, { kind: 'flag', name: 'the answer' }));
}

async function askKeys(context: Context, input: Input<typeof parameters>): Promise<Keys> {
  const piped = KEY_KINDS.filter((kind) =>
    kind === 'management' ? input.managementKeyStdin : input.privateKeyStdin,
  );
  return piped.length > 0 ? pipedKeys(context, piped) : typedKeys(context);
}

async function pipedKeys({ system }: Context, kinds: readonly KeyKind[]): Promise<Keys> {
  const lines = (await readInput(system.stdin, 10_000)).split('\n').filter((line) => line.trim() !== '');
  if (lines.length !== kinds.length) {
    throw new SvcError(
      'usage',
      `standard input should hold ${kinds.length} line(s), a key each, and holds ${lines.length}`,
    );
  }
  return new Map(kinds.map((kind, index) => [kind, checkKey((lines[index] ?? '').trim(), 'standard input')]));
}

async function typedKeys({ prompts }: Context): Promise<Keys> {
  const keys = new Map<KeyKind, string>();
  for (const kind of KEY_KINDS) {
    const use = kind === 'management' ? 'logs, tenant' : '3DS, Account Updater';
    const typed = await prompts.promptHidden(
      `${kind} key (${use}; empty to skip):`,
      `Pass --${kind}-key-stdin.`,
    );
    if (typed.trim() !== '') keys.set(kind, checkKey(typed.trim(), 'the answer'));
  }
  return keys;
}

async function store({ system }: Context, name: string, baseUrl: string, keys: Keys): Promise<void> {
  await updateConfig(system, (config) => {
    const before = config.profiles[name] ?? {};
    const stored = Object.fromEntries([...keys].map(([kind, value]) => [kind, { value, base_url: baseUrl }]));
    config.profiles[name] = { ...before, base_url: baseUrl, keys: { ...before.keys, ...stored } };
    config.current ??= name;
  });
}
