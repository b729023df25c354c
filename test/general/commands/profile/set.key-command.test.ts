import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HereResult, startSandboxHere, svcHere } from '../../../support/run-here.ts';

const KEY = 'sandbox-management-key';

/** Stores the sandbox's management key in the profile `default` of an empty config directory. */
async function loggedIn(): Promise<{ svc: (...argv: string[]) => Promise<HereResult>; config: () => string }> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-set-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { baseUrl } = await startSandboxHere();
  const env = { SVC_CONFIG_DIR: directory, SVC_CACHE_DIR: join(directory, 'cache'), PATH: process.env['PATH'] ?? '' };
  const login = ['login', '--base-url', baseUrl.href, '--management-key-stdin'];
  expect(await svcHere(login, { env, input: `${KEY}\n` })).toMatchObject({ code: 0 });
  return {
    svc: (...argv) => svcHere(argv, { env }),
    config: () => readFileSync(join(directory, 'config.json'), 'utf8'),
  };
}

const SET = ['profile', 'set', 'management_key_command'] as const;

describe('svc profile set management_key_command', () => {
  it.each([
    ['that does not exist', 'no-such-command-7q show svc', 3, 'ended with exit code 127'],
    ['that prints nothing', 'true', 3, 'printed nothing'],
    ['that prints a key of another service', 'echo no-such-key-000', 4, 'Nothing was stored'],
    ['that prints a private key', 'echo sandbox-private-key', 4, 'private key'],
  ])('keeps the stored key before a command %s', async (_, command, code, text) => {
    const { svc, config } = await loggedIn();
    const before = config();
    const failed = await svc(...SET, command);
    expect([failed.code, failed.stderr]).toEqual([code, expect.stringContaining(text)]);
    expect(config()).toBe(before);
  });

  it('says that the stored key is replaced', async () => {
    const { svc, config } = await loggedIn();
    const { code, stderr } = await svc(...SET, `echo ${KEY}`);
    expect([code, stderr]).toEqual([0, expect.stringContaining('the management key is valid')]);
    expect(stderr).toContain('it replaces the stored management key, which is no longer in the config file');
    expect(config()).not.toContain('"value"');
    expect(await svc('tenant', 'show')).toMatchObject({ code: 0 });
  });

  it('stores a command that was not run with --no-check', async () => {
    const { svc, config } = await loggedIn();
    const { code, stderr } = await svc(...SET, 'no-such-command-7q', '--no-check');
    expect([code, stderr]).toEqual([0, expect.stringContaining('it replaces the stored management key')]);
    expect(config()).toContain('"command": "no-such-command-7q"');
  });

  it('removes a command with --unset', async () => {
    const { svc, config } = await loggedIn();
    await svc(...SET, 'no-such-command-7q', '--no-check');
    expect(await svc(...SET, '--unset')).toMatchObject({ code: 0 });
    expect(config()).not.toContain('no-such-command-7q');
  });
});
