import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ended, type HereResult, svcIn } from '../../support/run-here.ts';
import { systemClock } from '../../../src/base/system.ts';
import type { Profile } from '../../../src/cli/config/config-format.ts';
import { createRedactor } from '../../../src/base/security/redact.ts';
import { rememberTenant } from '../../../src/cli/config/known-keys.ts';
import type { TenantFacts } from '../../../src/schema/tenant.ts';
import { testSystem } from '../../cli/config/support/system.ts';
import { Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';

let home: Home;
beforeEach(() => (home = new Home()));

function profile(keys: object): void {
  mkdirSync(home.file('config'), { mode: 0o700, recursive: true });
  const profiles = { prod: { base_url: 'https://api.example', keys } };
  const text = JSON.stringify({ version: 1, current: 'prod', profiles });
  writeFileSync(join(home.file('config'), 'config.json'), text, { mode: 0o600 });
}

const env = (): Record<string, string> => ({ SVC_CONFIG_DIR: home.file('config'), SVC_CACHE_DIR: home.file('cache') });

function svc(argv: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<HereResult> {
  return svcIn(home.path, argv, { env: { ...env(), ...more }, clock: systemClock });
}

function remember(tenant: TenantFacts, keys: Profile['keys'], baseUrl = 'https://api.example'): void {
  const cache = { system: testSystem({ env: env() }), out: createRedactor() };
  rememberTenant(cache, { profile: 'prod', baseUrl, keys }, tenant);
}

const MANAGEMENT = { management: { value: 'canary-key-1', base_url: 'https://api.example' } };

it('svc alone points to the sandbox and to login where there are no keys, on a terminal of 80 columns', async () => {
  const session = new TerminalSession(process.execPath, [LAUNCHER], { cwd: home.path, env: home.environment(env()) });
  expect(await session.exited).toEqual({ exitCode: 0 });
  const lines = session.screen().split('\n');
  expect(session.screen()).toMatch(/svc --sandbox logs .*\n.*svc login /);
  expect(lines.length).toBeLessThan(10);
});

it('svc alone says whose profile it is where there are keys, shows none, and runs no command for one', async () => {
  const ran = home.file('ran');
  const keys = { ...MANAGEMENT, private: { command: `touch ${ran}; echo k`, base_url: 'https://api.example' } };
  profile(keys);
  remember({ id: 'i', name: 'Acme\u001B[2J', type: 'production' }, keys);
  const { stdout } = ended(await svc([]), 0, { stderr: '' });
  expect(stdout).toContain('PRODUCTION Acme');
  expect(stdout).toContain('Profile prod, https://api.example');
  expect(stdout).toMatch(/svc logs .*\n/);
  expect(stdout).toMatch(/svc au submit /);
  expect(stdout).not.toContain('canary');
  expect(stdout).not.toContain('\u001B');
  expect((await svc(['profile', 'list'])).stdout).toContain('command touch');
  await svc(['__complete', '--shell', 'bash', 'svc', '']);
  await svc(['--help']);
  expect(() => writeFileSync(ran, '', { flag: 'wx' })).not.toThrow();
});

it('svc alone says which key is still missing', async () => {
  profile(MANAGEMENT);
  expect((await svc([])).stdout).toMatch(/svc login +add the private key/);
});

it('svc alone does not take the tenant of another base URL for this one', async () => {
  profile(MANAGEMENT);
  remember({ id: 'i', name: 'Acme', type: 'test' }, MANAGEMENT, 'https://other.example');
  expect((await svc([])).stdout).not.toContain('Acme');
});

it('svc alone puts the profile that was named into what it proposes', async () => {
  expect((await svc(['-p', 'new'])).stdout).toContain('svc --profile new login');
  expect((await svc(['--sandbox'])).stdout).toContain('svc --sandbox logs');
});

it('svc alone begins with the jobs that are open in the ledger, until their results are read or their rows are free', async () => {
  const state = home.file('state');
  const cycle = join(state, 'ledger', 'tenant-1', 'cycles', '2026-12');
  const at = new Date(Date.now() - 14 * 60_000 - 10_000).toISOString();
  mkdirSync(cycle, { recursive: true });
  const enter = (number: number, entry: object): void =>
    writeFileSync(join(cycle, `0000000${number}.json`), JSON.stringify({ version: 1, at, ...entry }));
  enter(1, { kind: 'claim', job: 'job-1' });
  enter(2, { kind: 'claim', job: 'job-2' });
  enter(3, { kind: 'done', job: 'job-1' });
  writeFileSync(join(cycle, '00000004.json'), '{"kind":"cla');
  const shown = async (): Promise<string> => (await svc([], { SVC_STATE_DIR: state })).stdout;
  expect(await shown()).toMatch(/^1 job open for 14m: svc au status\n\n/);
  // Results that were read only for their new tokens are not delivered.
  enter(5, { kind: 'done', job: 'job-2', delivered: false });
  expect(await shown()).toMatch(/^1 job open for 14m: svc au status\n\n/);
  enter(6, { kind: 'release', job: 'job-2', why: 'operator' });
  expect(await shown()).toMatch(/^svc: the card vault/);
});

it('svc alone sees what other machines did to a shared ledger, as far as this one has seen it', async () => {
  const state = home.file('state');
  const cycle = join(state, 'ledger', 'tenant-1', 'seen', 'location', 'tenant-1', 'cycles', '2026-12');
  mkdirSync(cycle, { recursive: true });
  const claim = { kind: 'claim', job: 'job-1', at: new Date().toISOString() };
  writeFileSync(join(cycle, '00000001.json'), JSON.stringify(claim));
  const { stdout } = await svc([], { SVC_STATE_DIR: state });
  expect(stdout).toMatch(/^1 job open for \d+s: svc au status\n/);
});
