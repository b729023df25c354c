import { describe, expect, it } from 'vitest';
import { errorIn, succeeded } from '../../support/run-here.ts';
import { LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { place } from './logging-in.ts';

describe('svc login', () => {
  it('svc login forgets the tenant of the keys before, unless the new keys show it or a private key is only added', async () => {
    const { svc } = await place();
    const typeAfter = async (line: string, input: string): Promise<unknown> => {
      expect(await svc(`login ${line}`, input)).toMatchObject({ code: 0 });
      const [profile] = JSON.parse((await svc('profile list -o json')).stdout) as Record<string, unknown>[];
      return profile?.['tenant_type'];
    };
    expect(await typeAfter('--management-key-stdin', 'sandbox-management-key')).toBe('test');
    expect(await typeAfter('--private-key-stdin', 'sandbox-private-key-read-only')).toBe('test');
    expect(await typeAfter('--private-key-stdin --rotate', 'sandbox-private-key')).toBe(null);
    expect(await typeAfter('--private-key-stdin --no-check', 'key-of-production-1')).toBe(null);
    const both = '--management-key-stdin --private-key-stdin';
    expect(await typeAfter(both, 'sandbox-management-key\nsandbox-private-key-read-only')).toBe('test');
    expect(await typeAfter('--private-key-stdin', 'sandbox-private-key')).toBe(null);
    expect(await typeAfter('--management-key-stdin', 'sandbox-management-key-read-only')).toBe('test');
    expect(await typeAfter('--management-key-stdin --no-check', 'sandbox-management-key')).toBe(null);
  });

  it('svc login does not take a profile for that of a test tenant whose private key has jobs of another tenant', async () => {
    const { svc } = await place({ tenants: ['test', 'production'] });
    const typeOf = async (profile: string): Promise<unknown> =>
      (JSON.parse((await svc('profile list -o json')).stdout) as Record<string, unknown>[]).find(
        ({ name }) => name === profile,
      )?.['tenant_type'];
    await svc('login -p other --private-key-stdin', 'sandbox-2-private-key');
    await svc('au create -p other');
    const both = 'login -p both --management-key-stdin --private-key-stdin';
    const mixed = succeeded(await svc(both, 'sandbox-management-key\nsandbox-2-private-key'));
    expect(mixed.stderr).toMatch(/^warning: the private key belongs to tenant \S+, not to the TEST tenant "Sandbox"/m);
    expect(mixed.stderr).toContain('svc login --profile <name>');
    expect(await typeOf('both')).toBe(null);
    await svc('login -p both --private-key-stdin --no-check', 'sandbox-private-key');
    await svc('whoami -p both');
    expect(await typeOf('both')).toBe('test');
    const rotated = await svc('login -p both --rotate --private-key-stdin', 'sandbox-2-private-key');
    expect([rotated.code, errorIn(rotated)['message']]).toEqual([
      2,
      expect.stringMatching(
        /^the new private key belongs to tenant \S+, not to "Sandbox" as the stored keys do; it was not stored$/,
      ),
    ]);
    expect(await typeOf('both')).toBe('test');
  });

  it('svc login walks through the questions on a terminal, asks again after a key that will not do, and shows none', async () => {
    const { url, env, config } = await place();
    const session = new TerminalSession(process.execPath, [LAUNCHER, 'login'], {
      env: { HOME: temporaryDirectory(), ...env },
    });
    await session.waitFor('Base URL');
    session.type('api.example\r');
    await session.waitFor(/Base URL[^]*Base URL/);
    session.type(`${url}\r`);
    await session.waitFor('Management key (logs');
    session.type('canary-wrong-key\r');
    await session.waitFor('was not accepted');
    await session.waitFor(/Management key \(logs[^]*Management key \(logs/);
    session.type('sandbox-management-key\r');
    await session.waitFor('Private key (3DS');
    session.type('\r');
    expect((await session.exited).exitCode).toBe(0);
    expect(session.screen()).toMatch(/ TEST {2}Sandbox/);
    expect(session.raw).not.toMatch(/canary|sandbox-management-key/);
    expect(config()).toContain('sandbox-management-key');
    expect(config()).not.toContain('canary');
  });

  it('svc login ends with the refusal of the only key that was typed', async () => {
    const { url, env, config } = await place();
    const home = { HOME: temporaryDirectory(), ...env, SVC_BASE_URL: url };
    const session = new TerminalSession(process.execPath, [LAUNCHER, 'login'], { env: home });
    await session.waitFor('Management key (logs');
    session.type('canary-wrong-key\r');
    await session.waitFor(/Management key \(logs[^]*Management key \(logs/);
    session.type('\r');
    await session.waitFor('Private key (3DS');
    session.type('\r');
    expect(await session.exited).toEqual({ exitCode: 4 });
    expect(session.screen()).toMatch(/error: .*was not accepted/);
    expect(config()).toBe('');
  });

  it('svc login names the base URL that was typed in the command that checks it', async () => {
    const { env, config } = await place();
    const session = new TerminalSession(process.execPath, [LAUNCHER, 'login'], {
      env: { HOME: temporaryDirectory(), ...env },
    });
    await session.waitFor('Base URL');
    session.type('http://127.0.0.1:9\r');
    await session.waitFor('Management key (logs');
    session.type('canary-key\r');
    expect(await session.exited).toEqual({ exitCode: 8 });
    expect(session.screen()).toContain('svc doctor --base-url http://127.0.0.1:9');
    expect(config()).toBe('');
  });

  it('svc login asks for the management key again after a private key', async () => {
    const { env, config, url } = await place();
    const session = new TerminalSession(process.execPath, [LAUNCHER, 'login'], {
      env: { HOME: env['SVC_CONFIG_DIR'] ?? '', ...env, SVC_BASE_URL: url },
    });
    await session.waitFor(/Management key/);
    session.type('sandbox-private-key\r');
    await session.waitFor(/is a private key, not a management key[^]*Management key/);
    session.type('sandbox-management-key\r');
    await session.waitFor(/Private key \(3DS/);
    session.type('sandbox-private-key\r');
    expect(await session.exited).toEqual({ exitCode: 0 });
    const keys = { management: { value: 'sandbox-management-key' }, private: { value: 'sandbox-private-key' } };
    expect(JSON.parse(config())).toMatchObject({ profiles: { default: { keys } } });
  });

  it('svc login stores the accepted key when no answer to the next question is a key', async () => {
    const { env, config, url } = await place();
    const home = { HOME: env['SVC_CONFIG_DIR'] ?? '', ...env, SVC_BASE_URL: url };
    const session = new TerminalSession(process.execPath, [LAUNCHER, 'login'], { env: home });
    await session.waitFor('Management key (logs');
    session.type('sandbox-management-key\r');
    for (let count = 1; count <= 3; count += 1) {
      await session.waitFor(new RegExp(`(?:Private key \\(3DS[^]*){${count}}`));
      session.type('no key\r');
    }
    expect(await session.exited).toEqual({ exitCode: 0 });
    expect(session.screen()).toContain('skipping the private key: the key from your answer contains a space');
    expect(config()).toContain('"value": "sandbox-management-key"');
  });
});
