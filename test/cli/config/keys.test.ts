import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSvcError, type SvcError } from '../../../src/base/errors.ts';
import { keysAtHand, keyVariable, resolveKey, SANDBOX_KEYS } from '../../../src/cli/config/keys.ts';
import { resolveSettings, type SettingFlags } from '../../../src/cli/config/settings.ts';
import type { Setting } from '../../../src/cli/config/origin.ts';
import { MANAGEMENT_KEY, PRIVATE_KEY } from '../../../src/emulator/keys.ts';
import type { KeyType } from '../../../src/schema/tenant.ts';
import { testSystem } from './support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const HOME_URL = 'https://a.example/v1';
const CANARY = 'canary_9c41';

interface Given {
  readonly env?: Record<string, string>;
  readonly flags?: SettingFlags;
  readonly profile?: object;
  /** The content of a file named `key` in the working directory. */
  readonly file?: string | Buffer;
}

async function keyOf(kind: KeyType, { env = {}, flags = {}, profile = {}, file }: Given): Promise<Setting<string>> {
  const directory = temporaryDirectory();
  const config = { version: 1, profiles: { default: { base_url: HOME_URL, ...profile } } };
  fs.writeFileSync(path.join(directory, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const cwd = temporaryDirectory();
  if (file !== undefined) fs.writeFileSync(path.join(cwd, 'key'), file);
  const system = testSystem({ env: { SVC_CONFIG_DIR: directory, ...env }, cwd });
  return resolveKey(system, await resolveSettings(system, flags), kind);
}

async function failureOf(kind: KeyType, given: Given): Promise<SvcError> {
  const error = await keyOf(kind, given).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!isSvcError(error)) throw new Error('no SvcError', { cause: error });
  expect(error.exitCode).toBe(3);
  const all = `${error.message} ${error.hint} ${error.stack} ${JSON.stringify(error.facts)} ${String(error.cause)}`;
  expect(all).not.toContain(CANARY);
  return error;
}

const STORED = {
  keys: { management: { value: 'stored-m', base_url: HOME_URL }, private: { value: 'stored-p', base_url: HOME_URL } },
};

describe('a key', () => {
  it.each(['"', "'"])(
    'a key in quotes (%s), which a file of variables keeps, is refused before a request',
    async (quote) => {
      const error = await failureOf('management', { env: { SVC_API_KEY: `${quote}${CANARY}${quote}` } });
      expect(error.message).toBe('the key from SVC_API_KEY begins and ends with a quote');
    },
  );

  it.each([
    ['management', 'SVC_MANAGEMENT_API_KEY'],
    ['private', 'SVC_PRIVATE_API_KEY'],
  ] as const)('%s is looked up in the documented order', async (kind, own) => {
    const env: Record<string, string> = { [own]: 'own', SVC_API_KEY: 'either' };
    const look = async (): Promise<[string, string]> => {
      const { value, origin } = await keyOf(kind, { env, profile: STORED, file: ' from-file\n' });
      return [value, origin.name];
    };
    expect(await look()).toEqual(['own', own]);
    env[own] = '';
    env[`${own}_FILE`] = 'key';
    expect(await look()).toEqual(['from-file', `${own}_FILE`]);
    delete env[`${own}_FILE`];
    expect(await look()).toEqual(['either', 'SVC_API_KEY']);
    delete env['SVC_API_KEY'];
    env['SVC_API_KEY_FILE'] = 'key';
    expect(await look()).toEqual(['from-file', 'SVC_API_KEY_FILE']);
    delete env['SVC_API_KEY_FILE'];
    expect(await look()).toEqual([`stored-${kind[0]}`, 'profile default']);
  });

  it.each([
    ['management', { SVC_PRIVATE_API_KEY: CANARY }, 'private'],
    ['private', { SVC_MANAGEMENT_API_KEY: CANARY }, 'management'],
  ] as const)('R09: %s is never one of the other kind', async (kind, env, other) => {
    const profile = { keys: { [other]: { value: CANARY, base_url: HOME_URL } } };
    const error = await failureOf(kind, { env, profile });
    expect(error.code).toBe('key_missing');
    expect(error.message).toContain(`no ${kind} key for profile default`);
    expect(error.hint).toContain(`SVC_${kind.toUpperCase()}_API_KEY or SVC_API_KEY`);
    expect(error.next).toEqual(['login']);
  });

  it.each([
    ['with the line end of Windows', `${CANARY}\r\n`],
    ['with a byte order mark', `\uFEFF${CANARY}\r\n`],
    ['as Windows PowerShell writes it', Buffer.from(`\uFEFF${CANARY}\r\n`, 'utf16le')],
  ])('a key is read from a file %s', async (_how, content) => {
    const { value } = await keyOf('private', { env: { SVC_API_KEY_FILE: 'key' }, file: content });
    expect(value).toBe(CANARY);
  });

  it('a key stored as a member that this version does not know is none', async () => {
    const profile = { keys: { private: { key_command: 'pass', base_url: HOME_URL } } };
    expect((await failureOf('private', { profile })).code).toBe('key_missing');
  });

  it.each([
    ['tab\tinside', 'contains a space or line break'],
    ['line\nbreak', 'contains a space or line break'],
    ['no\u00a0break', 'contains a space or line break'],
    ['é', 'contains a character'],
    ['\u0000', 'contains a character'],
    ['zero\u200bwidth', 'contains a character'],
    ['   ', 'is empty'],
    ['x'.repeat(4097), 'is longer than'],
  ])('R05: a key that is none is refused without an echo: %j', async (text, words) => {
    const bad = text.trim() === '' ? text : CANARY + text;
    expect((await failureOf('private', { env: { SVC_API_KEY: bad } })).message).toContain(`from SVC_API_KEY ${words}`);
    const profile = { keys: { private: { value: bad, base_url: HOME_URL } } };
    expect((await failureOf('private', { profile })).message).toContain(`from profile default ${words}`);
    if (text.trim() === '') return;
    expect((await failureOf('private', { env: { SVC_API_KEY_FILE: 'key' }, file: bad })).message).toContain(words);
  });

  it.each([
    ['key', ' \n', 'is empty'],
    ['nope', '', 'does not exist'],
    ['.', '', 'is a directory'],
    ['key', CANARY.repeat(5000), 'is too large to be a key'],
    ['/dev/zero', '', 'is too large to be a key'],
  ])('R05: a key in a file that cannot serve names the file, not its content: %s', async (name, file, words) => {
    const error = await failureOf('private', { env: { SVC_PRIVATE_API_KEY_FILE: name }, file });
    expect(error).toMatchObject({
      code: 'config',
      message: `the key file ${name} (SVC_PRIVATE_API_KEY_FILE) ${words}`,
    });
  });

  it.each([
    ['short', `key_${CANARY}`],
    ['too long for a name', CANARY.repeat(400)],
    ['with a slash', `${CANARY}/+x9=`],
    ['with a slash before it', `/${CANARY}`],
    ['with a word behind it', `/${CANARY}/key`],
  ])('R05: a key pasted in place of the name of its file is not shown: %s', async (_which, name) => {
    const error = await failureOf('private', { env: { SVC_PRIVATE_API_KEY_FILE: name } });
    expect(error.code).toBe('config');
    expect(error.message).toMatch(/^the key file that SVC_PRIVATE_API_KEY_FILE names (?!.*canary)/i);
  });

  it('a key file in a directory that exists is named by its path, absolute or relative', async () => {
    const directory = temporaryDirectory();
    for (const parent of [directory, `../${path.basename(directory)}`]) {
      const file = `${parent}/vault-key-2026.txt`;
      const error = await failureOf('private', { env: { SVC_API_KEY_FILE: file } });
      expect(error.message).toBe(`the key file ${file} (SVC_API_KEY_FILE) does not exist`);
    }
  });

  it('given both as a value and as a file is refused', async () => {
    const env = { SVC_API_KEY: CANARY, SVC_API_KEY_FILE: 'key' };
    expect((await failureOf('private', { env })).message).toBe('both SVC_API_KEY and SVC_API_KEY_FILE are set');
  });
});

/** Ways to set the base URL in effect. */
const OVERRIDES: Record<string, (url: string) => Given> = {
  '--base-url': (url) => ({ flags: { baseUrl: url } }),
  SVC_BASE_URL: (url) => ({ env: { SVC_BASE_URL: url } }),
  'the profile, changed since': (url) => ({ profile: { base_url: url } }),
};
/** Ways to set the key. */
const SOURCES: Record<string, Given> = {
  SVC_PRIVATE_API_KEY: { env: { SVC_PRIVATE_API_KEY: 'key' } },
  SVC_PRIVATE_API_KEY_FILE: { env: { SVC_PRIVATE_API_KEY_FILE: 'key' }, file: 'key' },
  SVC_API_KEY: { env: { SVC_API_KEY: 'key' } },
  SVC_API_KEY_FILE: { env: { SVC_API_KEY_FILE: 'key' }, file: 'key' },
  'the profile': { profile: { keys: { private: { value: 'key', base_url: `${HOME_URL}/` } } } },
  'the command of the profile': { profile: { keys: { private: { command: 'echo key', base_url: `${HOME_URL}/` } } } },
};
const SAME = ['https://a.example/v1', 'https://A.EXAMPLE:443/v1/'];
const OTHER = [
  'https://b.example/v1',
  'https://a.example',
  'https://a.example/v2',
  'https://a.example:8443/v1',
  'https://a.example.evil.example/v1',
  'http://localhost/v1',
];

const MATRIX = Object.keys(SOURCES).flatMap((source) =>
  Object.keys(OVERRIDES).flatMap((override) =>
    [...SAME, ...OTHER].map((url) => ({
      source,
      override,
      url,
      refused: source.endsWith('the profile') && OTHER.includes(url),
    })),
  ),
);

function combined({ source, override, url }: { source: string; override: string; url: string }): Given {
  const [from, over] = [SOURCES[source] ?? {}, OVERRIDES[override]?.(url) ?? {}];
  return { ...from, ...over, env: { ...from.env, ...over.env }, profile: { ...from.profile, ...over.profile } };
}

describe('where a key may go', () => {
  it('R02: a command is not even run for another base URL, nor for a key that the environment has', async () => {
    const ran = path.join(temporaryDirectory(), 'ran');
    const command = `touch ${ran}; echo key`;
    const profile = { keys: { private: { command, base_url: HOME_URL } } };
    await failureOf('private', { profile, flags: { baseUrl: 'https://b.example' } });
    expect((await keyOf('private', { profile, env: { SVC_API_KEY: 'own' } })).value).toBe('own');
    expect(fs.existsSync(ran)).toBe(false);
    expect(await keyOf('private', { profile })).toEqual({
      value: 'key',
      origin: { kind: 'profile', name: 'profile default (command touch)' },
    });
    expect(fs.existsSync(ran)).toBe(true);
  });

  it.each(MATRIX.filter(({ refused }) => !refused))(
    'R02: the key of $source goes to $url by $override',
    async (combination) => {
      expect((await keyOf('private', combined(combination))).value).toBe('key');
    },
  );

  it.each(MATRIX.filter(({ refused }) => refused))(
    'R02: the key of $source is not sent to $url by $override',
    async (combination) => {
      const error = await failureOf('private', combined(combination));
      expect(error.code).toBe('key_refused');
      expect(error.message).toBe(
        `the private key of profile default was stored for ${HOME_URL} and is not sent to ${combination.url}`,
      );
      expect(error.hint).toContain('SVC_PRIVATE_API_KEY');
      expect(error.next).toEqual(['login']);
    },
  );

  it('R02: no real key goes to the sandbox, wherever it is', async () => {
    const env = { SVC_API_KEY: CANARY, SVC_PRIVATE_API_KEY: CANARY, SVC_MANAGEMENT_API_KEY: CANARY };
    for (const flags of [{ sandbox: true }, { sandbox: true, baseUrl: 'http://127.0.0.1:9' }, { profile: 'sandbox' }])
      for (const kind of ['management', 'private'] as const) {
        const { value, origin } = await keyOf(kind, { env, flags, profile: STORED });
        expect([value, origin.kind]).toEqual([SANDBOX_KEYS[kind], 'default']);
      }
  });

  it('the sandbox gets its own fixed keys', () => {
    expect(SANDBOX_KEYS).toEqual({ management: MANAGEMENT_KEY, private: PRIVATE_KEY });
  });

  it('R02: a stored key is not used while no base URL is in effect', async () => {
    const profile = { base_url: undefined, ...STORED };
    expect((await failureOf('private', { profile })).code).toBe('config');
  });
});

it.each([
  [{}, 'SVC_PRIVATE_API_KEY'],
  [{ SVC_API_KEY: 'either' }, 'SVC_API_KEY'],
  [{ SVC_API_KEY: 'either', SVC_PRIVATE_API_KEY: 'own' }, 'SVC_PRIVATE_API_KEY'],
  [{ SVC_API_KEY: 'either', SVC_PRIVATE_API_KEY_FILE: 'key' }, 'SVC_PRIVATE_API_KEY'],
] as const)('a curl command names the variable of the key that svc uses: %j', async (env, name) => {
  expect(keyVariable({ env }, 'private')).toBe(name);
  const file = 'own';
  const used = await keyOf('private', { env, profile: STORED, file });
  expect(used.value === 'either').toBe(name === 'SVC_API_KEY');
});

it('R06: the keys to hide are those that are sent, without the spaces and line ends around them', () => {
  const env = { SVC_API_KEY: ' key-of-either \n', SVC_PRIVATE_API_KEY: SANDBOX_KEYS.private };
  expect(new Set(keysAtHand({ env }))).toEqual(new Set(['key-of-either']));
});
