import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';

let home: Home;
beforeEach(() => (home = new Home()));
afterEach(() => home.remove());

function profile(keys: object): void {
  mkdirSync(home.file('config'), { mode: 0o700, recursive: true });
  const profiles = { prod: { base_url: 'https://api.example', keys } };
  const text = JSON.stringify({ version: 1, current: 'prod', profiles });
  writeFileSync(join(home.file('config'), 'config.json'), text, { mode: 0o600 });
}

const env = (): Record<string, string> => ({ SVC_CONFIG_DIR: home.file('config'), SVC_CACHE_DIR: home.file('cache') });

const MANAGEMENT = { management: { value: 'canary-key-1', base_url: 'https://api.example' } };

describe('svc alone', () => {
  it('svc alone points to the sandbox and to login where there are no keys, on a terminal of 80 columns', async () => {
    const session = new TerminalSession(process.execPath, [LAUNCHER], { cwd: home.path, env: home.environment(env()) });
    expect(await session.exited).toEqual({ exitCode: 0 });
    const lines = session.screen().split('\n');
    expect(session.screen()).toMatch(/svc --sandbox logs .*\n.*svc login /);
    expect(lines.length).toBeLessThan(10);
  });

  it('svc alone says whose profile it is where there are keys, shows none, and runs no command for one', async () => {
    const ran = home.file('ran');
    profile({ ...MANAGEMENT, private: { command: `touch ${ran}; echo k`, base_url: 'https://api.example' } });
    mkdirSync(home.file('cache'));
    const tenant = { base_url: 'https://api.example', id: 'i', name: 'Acme\u001B[2J', type: 'production' };
    writeFileSync(join(home.file('cache'), 'tenants.json'), JSON.stringify({ prod: tenant }));
    const { code, stdout, stderr } = await home.svc([], { env: env() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('PRODUCTION Acme');
    expect(stdout).toContain('Profile prod, https://api.example');
    expect(stdout).toMatch(/svc logs .*\n/);
    expect(stdout).toMatch(/svc au submit /);
    expect(stdout).not.toContain('canary');
    expect(stdout).not.toContain('\u001B');
    expect((await home.svc(['profile', 'list'], { env: env() })).stdout).toContain('command touch');
    await home.svc(['__complete', '--shell', 'bash', 'svc', ''], { env: env() });
    await home.svc(['--help'], { env: env() });
    expect(() => writeFileSync(ran, '', { flag: 'wx' })).not.toThrow();
  });

  it('svc alone says which key is still missing', async () => {
    profile(MANAGEMENT);
    expect((await home.svc([], { env: env() })).stdout).toMatch(/svc login +add the private key/);
  });

  it('svc alone does not take the tenant of another base URL for this one', async () => {
    profile(MANAGEMENT);
    mkdirSync(home.file('cache'));
    const tenant = { base_url: 'https://other.example', id: 'i', name: 'Acme', type: 'test' };
    writeFileSync(join(home.file('cache'), 'tenants.json'), JSON.stringify({ prod: tenant }));
    expect((await home.svc([], { env: env() })).stdout).not.toContain('Acme');
  });

  it('svc alone puts the profile that was named into what it proposes', async () => {
    expect((await home.svc(['-p', 'new'], { env: env() })).stdout).toContain('svc --profile new login');
    expect((await home.svc(['--sandbox'], { env: env() })).stdout).toContain('svc --sandbox logs');
  });
});
