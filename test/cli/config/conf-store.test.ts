import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isSvcError, SvcError } from '../../../src/base/errors.ts';
import type { System } from '../../../src/base/system.ts';
import { ConfStore } from '../../../src/cli/config/conf-store.ts';
import { readConfig, updateConfig } from '../../../src/cli/config/config-file.ts';
import { modeOf, testSystem } from './support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const CANARY = 'key_canary_7f3a';

function withFile(content: string | Uint8Array): { system: System; file: string; directory: string } {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'config.json');
  fs.writeFileSync(file, content, { mode: 0o600 });
  return { system: testSystem({ env: { SVC_CONFIG_DIR: directory } }), file, directory };
}

const KEYS = `{"management": {"value": "${CANARY}", "base_url": "https://a.example"}}`;
const GOOD = `{"version": 1, "profiles": {"prod": {"base_url": "https://a.example", "keys": ${KEYS}}}}`;

/** Damaged content, the line and column of the damage, and words of its message. */
const DAMAGED: Record<string, [string | Uint8Array, number, number, string]> = {
  'an empty file': ['', 1, 1, 'it is empty'],
  'only line breaks': ['\n\n', 1, 1, 'it is empty'],
  null: ['null', 1, 1, 'the file should be an object in braces'],
  'a list': ['[]', 1, 1, 'the file should be an object in braces'],
  'a text': ['"x"', 1, 1, 'the file should be an object in braces'],
  'an empty object': ['{}', 1, 1, 'the file has no version'],
  'a byte order mark': [`\uFEFF${GOOD}`, 1, 1, 'it begins with a byte order mark'],
  'UTF-16': [Buffer.from(`\uFEFF${GOOD}`, 'utf16le'), 1, 1, 'it is not UTF-8'],
  'a byte that is not UTF-8': [Buffer.from('{"version": 1,\n "profiles": {"\xE9": {}}}', 'latin1'), 2, 16, 'not UTF-8'],
  'a file cut off': [GOOD.slice(0, -2), 1, GOOD.length - 1, 'it ends where a comma or a closing brace should be'],
  'a file cut off in a key': [GOOD.slice(0, GOOD.indexOf(CANARY) + 4), 1, GOOD.indexOf(CANARY), 'does not end'],
  'NUL bytes': [`${GOOD}\n\0\0`, 2, 1, 'it contains a NUL byte'],
  'only NUL bytes': ['\0'.repeat(100), 1, 1, 'it contains a NUL byte'],
  'a missing comma': [GOOD.replace('1, ', '1 '), 1, 15, 'a comma should be here'],
  'a comment': [`// mine\n${GOOD}`, 1, 1, 'comments are not allowed'],
  'a name given twice': ['{"version": 1, "version": 1, "profiles": {}}', 1, 16, 'a name is given twice'],
  'profiles as a list': ['{"version": 1,\n  "profiles": []}', 2, 15, 'profiles should be an object in braces'],
  'a profile as a text': ['{"version": 1, "profiles": {"a": "b"}}', 1, 34, 'a should be an object in braces'],
  'a wrong version': ['{"version": "1", "profiles": {}}', 1, 13, 'version should be 1'],
  'a wrong current': [
    '{"version": 1, "current": 5, "profiles": {}}',
    1,
    27,
    'current should be a string in double quotes',
  ],
  'a wrong output': ['{"version": 1, "profiles": {"a": {"output": "xml"}}}', 1, 45, 'output should be "table" or'],
  'a wrong key': [
    GOOD.replace(`"${CANARY}"`, '7'),
    1,
    GOOD.indexOf(CANARY),
    'value should be a string in double quotes',
  ],
  'a key without its base URL': [
    GOOD.replace(', "base_url": "https://a.example"}', '}'),
    1,
    GOOD.indexOf('{"value"') + 1,
    'has no base_url',
  ],
  '__proto__ at the top': ['{"__proto__": {}, "version": 1, "profiles": {}}', 1, 2, '__proto__ is no name'],
  '__proto__ as a profile': ['{"version": 1, "profiles": {"__proto__": {}}}', 1, 29, '__proto__ is no name'],
  'constructor as a profile': [
    '{"version": 1, "profiles": {"constructor": {}}}',
    1,
    29,
    'a name in profiles is a name that JavaScript reserves',
  ],
  'sandbox as a profile': ['{"version": 1, "profiles": {"sandbox": {}}}', 1, 29, 'that one is built in'],
};

it.each(Object.entries(DAMAGED))(
  'R13: the config file is kept and named by line when it is damaged: %s',
  async (_name, damage) => {
    const [content, line, column, words] = damage;
    const { system, file, directory } = withFile(content);
    const before = fs.readFileSync(file);
    const reading = await Promise.resolve()
      .then(() => readConfig(system))
      .catch((error: unknown) => error);
    const writing: unknown = await updateConfig(system, () => {}).catch((error: unknown) => error);
    for (const error of [reading, writing]) {
      if (!isSvcError(error, 'config')) throw new Error('no config error', { cause: error });
      expect(error.exitCode).toBe(3);
      expect(error.message).toContain(`${file} is damaged at line ${line}, column ${column}: `);
      expect(error.message).toContain(words);
      expect(error.hint).toContain('Fix that line');
      expect(`${error.message} ${error.hint} ${String(error.cause)} ${error.stack}`).not.toContain(CANARY.slice(0, 4));
    }
    expect(fs.readFileSync(file)).toEqual(before);
    expect(fs.readdirSync(directory)).toEqual(['config.json']);
  },
);

it('R13: the config file is left to the newer svc that wrote it', () => {
  const { system } = withFile('{"version": 2, "profiles": 5}');
  expect(() => readConfig(system)).toThrow(/was written by a newer svc \(its version is 2\)/);
});

it('the config file keeps members that this version does not know', async () => {
  const key = '{"key_command": "pass svc", "base_url": "https://a.example"}';
  const { system, file } = withFile(
    `{"version": 1, "later": [1, {"x": null}], "profiles": {"a": {"colour": "red", "keys": {"private": ${key}}}}}`,
  );
  await updateConfig(system, ({ profiles }) => {
    profiles['b'] = { output: 'json' };
  });
  expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual({
    version: 1,
    later: [1, { x: null }],
    profiles: { a: { colour: 'red', keys: { private: JSON.parse(key) as unknown } }, b: { output: 'json' } },
  });
});

it('the config file holds a profile whose name has dots under that name', async () => {
  const { system, file } = withFile('{"version": 1, "profiles": {}}');
  await updateConfig(system, ({ profiles }) => {
    profiles['a.b.c'] = { base_url: 'https://a.example' };
  });
  expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toMatchObject({ profiles: { 'a.b.c': {} } });
  expect(Object.keys(readConfig(system).config.profiles)).toEqual(['a.b.c']);
});

it('the config file is not written when the change fails, or would leave it damaged', async () => {
  const { system, file } = withFile(GOOD);
  const failing = updateConfig(system, () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  const spoiling = updateConfig(system, (config) => void Object.assign(config, { profiles: [] }));
  await expect(spoiling).rejects.toMatchObject({ code: 'bug' });
  expect(fs.readFileSync(file, 'utf8')).toBe(GOOD);
});

it('the config file loses the temporary files of killed writers at the next write', async () => {
  const { system, directory } = withFile(GOOD);
  fs.writeFileSync(path.join(directory, '.config.json.0123456789abcdef.tmp'), CANARY);
  await updateConfig(system, () => {});
  expect(fs.readdirSync(directory)).toEqual(['config.json']);
});

it('R10: the config file is empty where there is none, and nothing is made for reading it', () => {
  const parent = temporaryDirectory();
  const places = [path.join(parent, 'none'), '/dev/null', '/dev/null/svc', '/proc/none'];
  for (const place of places) {
    const read = readConfig(testSystem({ env: { SVC_CONFIG_DIR: place } }));
    expect(read).toMatchObject({ exists: false, config: { version: 1, profiles: {} }, notices: [] });
  }
  expect(readConfig(testSystem({ home: undefined }))).toMatchObject({ exists: false, file: undefined });
  expect(fs.readdirSync(parent)).toEqual([]);
});

it('R08: the config file makes parents private too, and goes through conf to write', async () => {
  const home = temporaryDirectory();
  const { file = '' } = await updateConfig(testSystem({ home }), () => {});
  expect(file).toBe(path.join(home, '.config/svc/config.json'));
  expect([modeOf(path.join(home, '.config')), modeOf(path.dirname(file)), modeOf(file)]).toEqual(['700', '700', '600']);
  const store = new ConfStore(file);
  expect(store.path).toBe(file);
  fs.rmSync(path.dirname(file), { recursive: true });
  store.store = { version: 1, profiles: { a: {} } };
  expect([modeOf(path.dirname(file)), modeOf(file)]).toEqual(['700', '600']);
  expect(fs.readFileSync(file, 'utf8')).toBe('{\n  "version": 1,\n  "profiles": {\n    "a": {}\n  }\n}\n');
  const before = fs.statSync(file).ino;
  store.set('current', 'a');
  expect(fs.readFileSync(file, 'utf8')).toBe(
    '{\n  "version": 1,\n  "profiles": {\n    "a": {}\n  },\n  "current": "a"\n}\n',
  );
  expect([modeOf(file), fs.statSync(file).ino === before]).toEqual(['600', false]);
});

it('R08: the config file does not close a directory that holds other things', async () => {
  const { system, directory } = withFile(GOOD);
  fs.writeFileSync(path.join(directory, 'thesis.txt'), '');
  fs.chmodSync(directory, 0o755);
  expect(readConfig(system).notices).toEqual([]);
  await expect(updateConfig(system, () => {})).rejects.toMatchObject({
    code: 'config',
    hint: expect.stringContaining(path.join(directory, 'svc')) as unknown,
  });
  expect(modeOf(directory)).toBe('755');
});

it('R08: the config file refuses a directory where others can put files of theirs', () => {
  const { system, directory } = withFile(GOOD);
  fs.writeFileSync(path.join(directory, 'thesis.txt'), '');
  fs.chmodSync(directory, 0o777);
  expect(() => readConfig(system)).toThrow(/can be read by others/);
});

it('R08: the config file refuses a link to a directory that others can read, and takes one to a private directory', async () => {
  const { directory } = withFile(GOOD);
  const link = path.join(temporaryDirectory(), 'link');
  fs.symlinkSync(directory, link);
  const system = testSystem({ env: { SVC_CONFIG_DIR: link } });
  expect(await updateConfig(system, () => {})).toMatchObject({ notices: [] });
  fs.chmodSync(directory, 0o755);
  await expect(updateConfig(system, () => {})).rejects.toThrow('is a link to a directory that others can read');
});

it.each(['mkfifo', 'mkdir'])(
  'R08: the config file refuses what is no plain file, without waiting on it: %s',
  (make) => {
    const { system, file } = withFile('');
    fs.rmSync(file);
    execFileSync(make, [file]);
    expect(() => readConfig(system)).toThrow(/is not a plain file/);
  },
);

it.each(['a file', 'a link that leads nowhere'])(
  'R10: the config file says so when its directory is %s',
  async (kind) => {
    const place = path.join(temporaryDirectory(), 'svc');
    if (kind === 'a file') fs.writeFileSync(place, '');
    else fs.symlinkSync('nowhere', place);
    const system = testSystem({ env: { SVC_CONFIG_DIR: place } });
    expect(readConfig(system)).toMatchObject({ exists: false });
    await expect(updateConfig(system, () => {})).rejects.toBeInstanceOf(SvcError);
  },
);

it('R13: the config file is not read when it is absurdly large', () => {
  const { system } = withFile(' '.repeat(1_000_001));
  expect(() => readConfig(system)).toThrow(/is too large/);
});
