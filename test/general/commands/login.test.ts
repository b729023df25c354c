import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ended, errorIn, type HereResult, startSandboxHere, succeeded, svcHere } from '../../support/run-here.ts';
import { place } from './logging-in.ts';

describe('svc login', () => {
  it('svc login says that the profile it names is new, as a mistyped one is', async () => {
    const { svc } = await place();
    const stored = async (): Promise<string> =>
      (await svc('login -p prdo --management-key-stdin', 'sandbox-management-key\n')).stderr;
    expect(await stored()).toContain('stored the management key in the new profile prdo, for');
    expect(await stored()).toContain('stored the management key in profile prdo, for');
  });

  it('svc login leaves the default profile in use, and says which profile is in use otherwise', async () => {
    const { svc, config } = await place();
    const login = async (profile: string): Promise<HereResult> =>
      succeeded(await svc(`login -p ${profile} --management-key-stdin`, 'sandbox-management-key'));
    const inUse = async (): Promise<unknown> =>
      JSON.parse((await svc('profile list -o json --jq [.[]|select(.current).name]')).stdout);
    expect((await login('first')).stderr).toContain('profile first is now in use\n');
    expect((await login('default')).stderr).not.toContain('now in use');
    expect(await inUse()).toEqual(['first']);
    succeeded(await svc('profile delete first --yes'));
    expect((await login('prod')).stderr).not.toContain('now in use');
    expect(await inUse()).toEqual(['default']);
    expect(JSON.parse(config())).not.toHaveProperty('current');
  });

  it('svc login tries both keys, names the tenant with its mark, and stores them with the base URL', async () => {
    const { svc, config, url } = await place();
    const input = 'sandbox-management-key\nsandbox-private-key-read-only\n';
    ended(
      await svc('login --management-key-stdin --private-key-stdin', input),
      0,
      /TEST Sandbox .*\n.*management key is valid: log:read, tenant:read, report:read/,
      'private key is valid: 3ds:session:read, account-updater:job:read',
      /\nto begin:\n {2}svc logs\nto see what your keys may read:\n {2}svc whoami\n$/,
      { stdout: '', unsaid: 'sandbox-management-key' },
    );
    expect(JSON.parse(config())).toMatchObject({
      profiles: {
        default: { base_url: url, keys: { management: { value: 'sandbox-management-key', base_url: url } } },
      },
    });
  });

  it('svc login says which reads a valid key may not do', async () => {
    const { svc } = await place();
    ended(
      await svc('login --management-key-stdin', 'sandbox-management-key-logs-only'),
      0,
      /is valid: log:read\n +not allowed: tenant:read, report:read/,
    );
  });

  it.each([
    ['no-such-key-000', 'was not accepted (401)'],
    ['sandbox-private-key', 'is a private key, not a management key'],
  ])('svc login stores nothing when the service does not take a key: %s', async (key, words) => {
    const { svc, config } = await place();
    ended(await svc('login --management-key-stdin --private-key-stdin', `${key}\nsandbox-private-key\n`), 4, {
      error: { message: expect.stringContaining(words) },
    });
    expect(config()).toBe('');
  });

  it('R87: svc login stores nothing when the base URL has a path too much, and asks whether it is right', async () => {
    const { svc, config, url } = await place();
    ended(await svc(`login --base-url ${url}/v1 --management-key-stdin`, 'sandbox-management-key'), 5, {
      error: {
        message: expect.stringContaining(`could not be verified at ${url}/v1: not found (404)`),
        hint: expect.stringContaining(`${url}/v1 has no such path: is the base URL right?`),
      },
    });
    expect(config()).toBe('');
    const { hint } = errorIn(await svc(`login --base-url ${url}/v1 --private-key-stdin`, 'sandbox-private-key'));
    expect(hint).toContain(`${url}/v1 has no such path`);
  });

  it('svc login says that a variable precedes the key that it stored, unless it is the same key', async () => {
    const { env } = await place();
    const { baseUrl } = await startSandboxHere();
    const login = (type: string, variables: Record<string, string>): Promise<HereResult> =>
      svcHere(['login', '--base-url', baseUrl.href, `--${type}-key-stdin`], {
        env: { ...env, ...variables },
        input: `sandbox-${type}-key`,
      });
    const other = await login('private', { SVC_API_KEY: 'canary-of-production' });
    expect(other.stderr).toContain('SVC_API_KEY is set: commands still use its private key until you unset it');
    expect(other.stderr).not.toContain('canary');
    for (const variables of [{}, { SVC_API_KEY: 'sandbox-management-key' }, { SVC_PRIVATE_API_KEY: 'other-key-1' }])
      expect((await login('management', variables)).stderr).not.toContain(' is set: ');
  });

  it('svc logout says that a variable still has a key', async () => {
    const { svc, env } = await place();
    await svc('login --private-key-stdin', 'sandbox-private-key');
    const { stderr } = await svcHere(['logout'], { env: { ...env, SVC_PRIVATE_API_KEY: 'other-key-1' } });
    expect(stderr).toContain('removed the private key of profile default');
    expect(stderr).toContain('SVC_PRIVATE_API_KEY is set: commands still use its private key until you unset it');
    expect(stderr).not.toContain('its management key');
  });

  it('svc login works offline with --no-check, and says so when it could not ask', async () => {
    const { svc, config } = await place();
    const at = '--base-url http://127.0.0.1:9 --management-key-stdin';
    ended(await svc(`login ${at}`, 'any-key-1234'), 8, { error: { hint: expect.stringContaining('--no-check') } });
    expect(config()).toBe('');
    succeeded(await svc(`login ${at} --no-check`, 'any-key-1234'));
    expect(config()).toContain('any-key-1234');
  });

  it('svc login keeps a command in place of the key, and runs it once for each command that needs it', async () => {
    const { svc, config, env } = await place();
    const ran = join(env['SVC_CONFIG_DIR'] ?? '', 'ran');
    const command = `echo run >> ${ran}; echo sandbox-management-key`;
    succeeded(await svc(`login --management-key-command '${command}'`));
    expect(JSON.parse(config()).profiles.default.keys.management.command).toBe(command);
    expect(config()).not.toContain('"value"');
    rmSync(ran);
    for (const line of ['logs --curl', 'profile show', 'commands -o json', '']) expect((await svc(line)).code).toBe(0);
    expect(existsSync(ran)).toBe(false);
    succeeded(await svc('logs --limit 60 --page-size 50'));
    expect(readFileSync(ran, 'utf8')).toBe('run\n');
    expect(JSON.parse((await svc('profile show')).stdout)).toMatchObject({ management_key_from: 'command echo' });
  });

  it.each([
    ['that does not exist', 'no-such-command-7q show svc', 3, 'ended with exit code 127'],
    ['that prints nothing', 'true', 3, 'printed nothing'],
    ['that prints a key of another service', 'echo no-such-key-000', 4, 'It was not stored'],
    ['that prints a private key', 'echo sandbox-private-key', 4, 'private key'],
  ])('svc login keeps the stored key before a command %s', async (_, command, code, text) => {
    const { svc, config } = await place();
    succeeded(await svc('login --management-key-stdin', 'sandbox-management-key'));
    const before = config();
    ended(await svc(`login --management-key-command '${command}'`), code, text);
    expect(config()).toBe(before);
    ended(await svc('login --management-key-command no-such-command-7q --no-check'), 0, 'the management key command');
    expect(config()).not.toContain('"value"');
    expect(config()).toContain('"command": "no-such-command-7q"');
  });

  it('R54: svc login asks nobody where nobody is there', async () => {
    const { svc } = await place();
    expect(errorIn(await svc('login'))).toMatchObject({
      exit_code: 2,
      hint: expect.stringContaining('--management-key-stdin'),
    });
  });

  it.each([
    ['--private-key-stdin', '', 'standard input is empty: expected one line with the key'],
    ['--private-key-stdin', 'a\nb\n', 'standard input has 2 lines: expected one line with the key'],
  ])('svc login %s says what standard input has in place of the key: %j', async (option, input, message) => {
    const { svc } = await place();
    expect(errorIn(await svc(`login ${option}`, input))['message']).toBe(message);
  });

  it('svc login stores nothing with --dry-run', async () => {
    const { svc, config } = await place();
    ended(await svc('login --dry-run --private-key-stdin', 'sandbox-private-key'), 0, 'nothing was stored');
    expect(config()).toBe('');
  });

  it.each([
    ['--rotate --no-check --management-key-stdin', 'any-key-1234'],
    ["--no-check --rotate --management-key-command 'echo any-key-1234'", ''],
  ])('svc login %s replaces no key without verifying the new one', async (options, input) => {
    const { svc, config } = await place();
    await svc('login --management-key-stdin', 'sandbox-management-key');
    const before = config();
    ended(await svc(`login ${options}`, input), 2, {
      error: { message: "option '--rotate' cannot be used with option '--no-check'" },
    });
    expect(config()).toBe(before);
  });

  it('--rotate puts a verified key in the place of the stored one, and keeps the old one otherwise', async () => {
    const { svc, config, url, env } = await place();
    await svc('login --management-key-stdin', 'sandbox-management-key-read-only');
    const before = config();
    const rotate = (key: string, more = ''): Promise<HereResult> =>
      svc(`login --rotate --management-key-stdin${more}`, key);
    for (const key of ['no-such-key-000', 'sandbox-private-key', 'sandbox-management-key-read-only']) {
      expect((await rotate(key)).code).not.toBe(0);
      expect(config()).toBe(before);
    }
    expect(errorIn(await rotate('sandbox-management-key', ' --base-url http://127.0.0.1:9'))).toMatchObject({
      exit_code: 2,
      hint: `--rotate keeps the base URL: ${url}.`,
    });
    ended(await rotate('sandbox-management-key'), 0, 'still accepts the old keys: revoke them');
    expect(config()).toContain('"value": "sandbox-management-key"');
    expect(config()).not.toContain('read-only');
    const cached = join(env['SVC_CACHE_DIR'] ?? '', 'known-keys.json');
    writeFileSync(
      cached,
      readFileSync(cached, 'utf8').replace(/"id":"[^"]*","name":"[^"]*"/, '"id":"1","name":"Acme"'),
    );
    const other = errorIn(await rotate('sandbox-management-key-read-only'));
    expect(other['message']).toContain('tenant "Sandbox", not to "Acme" as the stored keys do; it was not stored');
    expect(errorIn(await svc('login --rotate --private-key-stdin', 'sandbox-private-key'))).toMatchObject({
      exit_code: 2,
      message: 'profile default has no private key to replace',
    });
  });
});

/** Starts a sandbox with two tenants, and logs in with keys of the first, the test tenant. */
async function testProfile([login, keys]: readonly [string, string]) {
  const here = await place({ tenants: ['test', 'production'] });
  succeeded(await here.svc(login, keys));
  const listed = async (): Promise<unknown> => JSON.parse((await here.svc('profile list -o json')).stdout)[0];
  return { ...here, listed };
}

describe('svc login with keys of several tenants', () => {
  const both = [
    'login --management-key-stdin --private-key-stdin',
    'sandbox-management-key\nsandbox-private-key',
  ] as const;

  const managementAlone = ['login --management-key-stdin', 'sandbox-management-key'] as const;
  it.each([
    { name: 'the private key', stored: both, type: 'private', type_known: null },
    { name: 'the management key', stored: managementAlone, type: 'management', type_known: 'test' },
  ])('--rotate advises to revoke an old key only where the tenant of the new one is known: $name', async (one) => {
    const { svc, listed } = await testProfile(one.stored);
    const rotate = `login --rotate --${one.type}-key-stdin`;
    const { stderr } = succeeded(await svc(rotate, `sandbox-${one.type}-key-read-only`));
    const isKnown = one.type_known !== null;
    expect(stderr.includes('the service still accepts the old keys: revoke them there')).toBe(isKnown);
    expect(stderr.includes('cannot tell whether the new private key is of the same tenant as the old one')).toBe(
      !isKnown,
    );
    expect(stderr.includes('  its tenant is not known: no response named it\n')).toBe(!isKnown);
    expect(await listed()).toMatchObject({ tenant_type: one.type_known });
  });

  it('svc login names the tenant that a profile had before, and the key of it that stays', async () => {
    const alone = await testProfile(managementAlone);
    const before = /warning: profile default was for the TEST tenant "Sandbox" \(\S+\) before\n/;
    ended(await alone.svc('login --management-key-stdin', 'sandbox-2-management-key'), 0, before, {
      unsaid: 'the private key',
    });
    expect(await alone.listed()).toMatchObject({ tenant_type: 'production' });
    const paired = await testProfile(both);
    const stays = /the private key belongs to tenant \S+, not to the PRODUCTION tenant "Sandbox 2" .* as unknown\n/;
    ended(await paired.svc('login --management-key-stdin', 'sandbox-2-management-key'), 0, before, stays);
    expect(await paired.listed()).toMatchObject({ tenant_type: null });
  });

  it('svc login says that a stored key is for another base URL, and stays', async () => {
    const { svc, url } = await testProfile(both);
    const { baseUrl } = await startSandboxHere();
    const other = baseUrl.href.replace(/\/$/, '');
    const moved = await svc(`login --base-url ${other} --management-key-stdin`, 'sandbox-management-key');
    ended(moved, 0, `warning: the private key of profile default is for ${url}, and is not sent to ${other}\n`);
  });
});

it('svc whoami tells profile, tenant, permissions and where each setting came from, in every machine format', async () => {
  const { svc, url } = await place();
  await svc('login --management-key-stdin', 'sandbox-management-key-read-only');
  ended(await svc('whoami -o json'), 0, {
    row: {
      profile: 'default',
      base_url: url,
      tenant: { name: 'Sandbox', type: 'test' },
      management_key: { state: 'accepted', from: 'profile default', problem: null },
      private_key: { state: 'missing', from: null },
      permissions: { 'log:read': 'allowed', 'report:read': 'forbidden', '3ds:session:read': null },
      origins: { base_url: 'SVC_BASE_URL', output: '--output' },
    },
  });
  for (const format of ['jsonl', 'csv', 'yaml', 'table'])
    expect((await svc(`whoami -o ${format} --fields tenant.type,permissions.log:read`)).stdout).toMatch(
      /test[^]*allowed/,
    );
});

it('svc whoami shows people the tenant, each key with its age, and what is set elsewhere, in groups', async () => {
  const { svc, config, env } = await place();
  await svc('login --management-key-stdin', 'sandbox-management-key-read-only');
  const shown = (await svc('whoami -o table')).stdout;
  expect(shown).toMatch(/^TEST Sandbox \(/);
  expect(shown).toMatch(/\nmanagement key {2}accepted \(profile default, stored \d+s ago\)\n/);
  expect(shown).toMatch(
    /\n {2}may +log:read, tenant:read\n {2}may not +report:read, tenant:update, tenant:delete\n {2}because +Forbidden – The key lacks the permission report:read\.\nprivate key +missing\n/,
  );
  expect(shown).toMatch(/\noutput +set by --output\n$/);
  // An editor may store a key without a time.
  writeFileSync(join(env['SVC_CONFIG_DIR'] ?? '', 'config.json'), config().replace(/,\s*"stored_at": "[^"]*"/, ''));
  expect((await svc('whoami -o table')).stdout).toContain('accepted (profile default, age unknown)');
  expect(JSON.parse((await svc('whoami')).stdout)).toMatchObject({ management_key: { stored_at: null } });
});

it('svc whoami is one sentence for people without keys', async () => {
  const { svc } = await place();
  expect(await svc('whoami -o table')).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/^error: no keys are set yet\n.*\n {2}svc login\n$/),
  });
});

it('svc whoami remembers the tenant for the greeting', async () => {
  const { svc } = await place();
  await svc('login --no-check --management-key-stdin', 'sandbox-management-key');
  expect((await svc('')).stdout).not.toContain('Sandbox');
  await svc('whoami');
  expect((await svc('')).stdout).toContain('TEST Sandbox');
});

it('svc whoami ends with 4 when no key is good, with 3 without any, with 8 when nobody answers', async () => {
  const { svc } = await place();
  expect(errorIn(await svc('whoami'))).toMatchObject({ exit_code: 3, code: 'key_missing' });
  await svc('login --no-check --private-key-stdin', 'no-such-key-0001');
  ended(await svc('whoami'), 4, { row: { private_key: { state: 'refused' } } });
  await svc('login --no-check --base-url http://127.0.0.1:9 --private-key-stdin', 'no-such-key-0001');
  ended(await svc('whoami --base-url http://127.0.0.1:9'), 8);
});
