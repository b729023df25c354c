import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { System } from '../../../src/base/system.ts';
import type { Config } from '../../../src/cli/config/config-format.ts';
import { resolveSettings, type SettingFlags } from '../../../src/cli/config/settings.ts';
import { testSystem } from './support/system.ts';
import { temporaryDirectory } from '../../support/directory.ts';

function system(config: Omit<Config, 'version'> | undefined, env: Record<string, string> = {}): System {
  const directory = temporaryDirectory();
  if (config !== undefined)
    fs.writeFileSync(path.join(directory, 'config.json'), JSON.stringify({ version: 1, ...config }), { mode: 0o600 });
  return testSystem({ env: { SVC_CONFIG_DIR: directory, ...env } });
}

const PROD = { base_url: 'https://stored.example', output: 'csv', time: 'utc' } as const;
const PROFILES = { prod: PROD, empty: {} };
const ENV = { SVC_BASE_URL: 'https://env.example', SVC_OUTPUT: 'yaml', SVC_TIME: 'local', SVC_TIMEOUT: '2m' };
const FLAGS: SettingFlags = {
  baseUrl: 'https://flag.example',
  output: 'json',
  time: 'relative',
  timeout: 1000,
  maxWait: 5,
};

/** Returns the value of each setting with the name of its origin. */
async function shown(on: System, flags: SettingFlags): Promise<Record<string, [unknown, string | undefined]>> {
  const found = await resolveSettings(on, flags);
  return {
    baseUrl: [found.baseUrl?.value.host, found.baseUrl?.origin.name],
    output: [found.output.value, found.output.origin.name],
    time: [found.time.value, found.time.origin.name],
    timeout: [found.timeoutMs.value, found.timeoutMs.origin.name],
    maxWait: [found.maxWaitMs.value, found.maxWaitMs.origin.name],
  };
}

describe('settings', () => {
  it('settings come from flags before all else', async () => {
    expect(await shown(system({ profiles: PROFILES }, ENV), { ...FLAGS, profile: 'prod' })).toEqual({
      baseUrl: ['flag.example', '--base-url'],
      output: ['json', '--output'],
      time: ['relative', '--time'],
      timeout: [1000, '--timeout'],
      maxWait: [5, '--max-wait'],
    });
  });

  it('settings come from the environment before the profile', async () => {
    expect(await shown(system({ profiles: PROFILES }, ENV), { profile: 'prod' })).toEqual({
      baseUrl: ['env.example', 'SVC_BASE_URL'],
      output: ['yaml', 'SVC_OUTPUT'],
      time: ['local', 'SVC_TIME'],
      timeout: [120_000, 'SVC_TIMEOUT'],
      maxWait: [90_000, 'default'],
    });
  });

  it('the ledger of a profile is not used where SVC_LEDGER is none, which no profile can store', async () => {
    const profiles = { shared: { ledger: '/mnt/ledger' }, wrong: { ledger: 'none' } };
    const ledgerOf = async (profile: string, env: Record<string, string>) =>
      (await resolveSettings(system({ profiles }, env), { profile })).ledger.value;
    expect(await ledgerOf('shared', {})).toBe('/mnt/ledger');
    for (const none of ['none', ' none\n']) expect(await ledgerOf('shared', { SVC_LEDGER: none })).toBeUndefined();
    await expect(ledgerOf('wrong', {})).rejects.toMatchObject({ code: 'config' });
  });

  it('settings come from the profile before the defaults, and an empty variable is none', async () => {
    const empty = { SVC_BASE_URL: '', SVC_OUTPUT: '', SVC_TIME: '', SVC_TIMEOUT: '', SVC_PROFILE: '' };
    expect(await shown(system({ profiles: PROFILES, current: 'prod' }, empty), {})).toEqual({
      baseUrl: ['stored.example', 'profile prod'],
      output: ['csv', 'profile prod'],
      time: ['utc', 'profile prod'],
      timeout: [undefined, 'default'],
      maxWait: [90_000, 'default'],
    });
  });

  it('an address of a service is refused where the current profile is the sandbox, unless the sandbox is named', async () => {
    const inSandbox = system({ current: 'sandbox', profiles: {} }, { SVC_BASE_URL: 'https://api.example.com' });
    await expect(resolveSettings(inSandbox, {})).rejects.toMatchObject({
      code: 'config',
      message: 'SVC_BASE_URL is set, and the current profile is the sandbox, which does not use it',
      next: ['profile', 'use', 'default'],
    });
    expect(await resolveSettings(inSandbox, { sandbox: true })).toMatchObject({ sandbox: true });
    const named = { ...inSandbox.env, SVC_PROFILE: 'sandbox' };
    expect(await resolveSettings({ ...inSandbox, env: named }, {})).toMatchObject({ sandbox: true });
    const address = await resolveSettings(inSandbox, { profile: 'default' });
    expect(address.requireBaseUrl().host).toBe('api.example.com');
    expect(await resolveSettings(system({ current: 'sandbox', profiles: {} }, {}), {})).toMatchObject({
      sandbox: true,
    });
  });

  it('R10: settings are the defaults where there is nothing', async () => {
    const found = await resolveSettings(testSystem({ home: undefined }), {});
    expect(found).toMatchObject({ profile: { value: 'default' }, sandbox: false, baseUrl: undefined });
    expect(found.output).toEqual({ value: undefined, origin: { kind: 'default', name: 'default' } });
    expect(() => found.requireBaseUrl()).toThrow(
      expect.objectContaining({
        code: 'config',
        exitCode: 3,
        hint: expect.stringContaining('SVC_BASE_URL') as unknown,
        next: ['login'],
      }),
    );
  });

  it.each([
    [{ output: 'xml' }, {}, 'usage', '--output must be one of table'],
    [{ time: 'mars' }, {}, 'usage', '--time must be one of utc'],
    [{}, { SVC_OUTPUT: 'xml' }, 'config', 'SVC_OUTPUT must be one of table'],
    [{}, { SVC_TIME: 'UTC' }, 'config', 'SVC_TIME must be one of utc'],
    [{}, { SVC_TIMEOUT: '5' }, 'config', 'SVC_TIMEOUT must be a duration'],
    [{}, { SVC_TIMEOUT: '0s' }, 'config', 'SVC_TIMEOUT must be a duration'],
    [{ baseUrl: 'http://x.example' }, {}, 'usage', 'the base URL from --base-url is not encrypted'],
    [{}, { SVC_BASE_URL: 'x' }, 'config', 'the base URL from SVC_BASE_URL is not a valid URL'],
  ])('settings that are bad name their source: %j %j', async (flags, env, code, message) => {
    const failing = resolveSettings(system(undefined, env), flags);
    await expect(failing).rejects.toMatchObject({ code, message: expect.stringContaining(message) as unknown });
  });

  it('settings name the profile of a stored base URL that is bad', async () => {
    const on = system({ profiles: { default: { base_url: 'http://x.example' } } });
    await expect(resolveSettings(on, {})).rejects.toThrow('the base URL from profile default is not encrypted');
  });
});

describe('the profile', () => {
  it.each([
    [{ profile: 'prod' }, { SVC_PROFILE: 'empty' }, 'empty', 'prod', '--profile'],
    [{}, { SVC_PROFILE: 'prod' }, 'empty', 'prod', 'SVC_PROFILE'],
    [{}, {}, 'empty', 'empty', expect.stringMatching(/config\.json$/)],
    [{}, {}, undefined, 'default', 'default'],
    [{ sandbox: true }, { SVC_PROFILE: 'prod' }, 'empty', 'sandbox', '--sandbox'],
    [{ sandbox: true, profile: 'sandbox' }, {}, undefined, 'sandbox', '--sandbox'],
    [{}, { SVC_PROFILE: 'sandbox' }, undefined, 'sandbox', 'SVC_PROFILE'],
    [{}, {}, 'sandbox', 'sandbox', expect.stringMatching(/config\.json$/)],
  ])(
    'the profile is chosen by flag, variable, config, default: %j %j %j',
    async (flags, env, current, name, origin) => {
      const on = system({ profiles: PROFILES, ...(current === undefined ? {} : { current }) }, env);
      const found = await resolveSettings(on, flags);
      expect(found.profile).toMatchObject({ value: name, origin: { name: origin as unknown } });
      expect(found.sandbox).toBe(name === 'sandbox');
      expect(found.stored).toEqual(name === 'prod' ? PROD : name === 'empty' ? {} : undefined);
    },
  );

  it.each([
    [{ profile: 'nope' }, {}, '--profile'],
    [{}, { SVC_PROFILE: 'nope' }, 'SVC_PROFILE'],
    [{ profile: 'toString' }, {}, '--profile'],
    [{ profile: '' }, {}, '--profile'],
  ])('the profile that does not exist is an error that lists the others: %j %j', async (flags, env, name) => {
    await expect(resolveSettings(system({ profiles: PROFILES }, env), flags)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(`named by ${name}`) as unknown,
      hint: expect.stringContaining('empty, prod, sandbox') as unknown,
    });
  });

  it('the profile may be new where one is being made, under a fit name', async () => {
    const on = system({ profiles: PROFILES });
    const made = await resolveSettings(on, { profile: 'new' }, true);
    expect(made).toMatchObject({ profile: { value: 'new' }, stored: undefined });
    for (const profile of ['__proto__', 'a b', '-x', '', 'constructor', 'x'.repeat(65), '4242-4242-4242-4242'])
      await expect(resolveSettings(on, { profile }, true)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('the sandbox', () => {
  it('the sandbox ignores SVC_BASE_URL and a damaged config file, and needs no base URL', async () => {
    const on = system(undefined, ENV);
    fs.writeFileSync(path.join(String(on.env['SVC_CONFIG_DIR']), 'config.json'), 'damaged', { mode: 0o600 });
    const found = await resolveSettings(on, { sandbox: true });
    expect(found).toMatchObject({ sandbox: true, baseUrl: undefined, output: { value: 'yaml' } });
  });

  it('the sandbox may be one of this machine, and no other', async () => {
    const on = system({ profiles: PROFILES });
    const near = await resolveSettings(on, { sandbox: true, baseUrl: 'http://127.0.0.1:4010/' });
    expect(near.requireBaseUrl().host).toBe('127.0.0.1:4010');
    const far = resolveSettings(on, { sandbox: true, baseUrl: 'https://api.example.com' });
    await expect(far).rejects.toMatchObject({ code: 'usage' });
  });
});
