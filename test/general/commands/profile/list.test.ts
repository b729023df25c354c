import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { createRedactor } from '../../../../src/base/security/redact.ts';
import { rememberTenant } from '../../../../src/cli/config/known-keys.ts';
import { testSystem } from '../../../cli/config/support/system.ts';
import { type HereResult, svcIn } from '../../../support/run-here.ts';
import { Home } from '../../../support/svc.ts';

let home: Home;
beforeEach(() => {
  home = new Home();
  mkdirSync(home.file('config'), { mode: 0o700, recursive: true });
  const base_url = 'https://api.example';
  const keys = { management: { value: 'canary-key-1', base_url } };
  const profiles = { live: { base_url, keys }, qa: { base_url: 'https://qa.example', keys } };
  const text = JSON.stringify({ version: 1, current: 'live', profiles });
  writeFileSync(join(home.file('config'), 'config.json'), text, { mode: 0o600 });
  const system = testSystem({ env: { SVC_CACHE_DIR: home.file('cache') } });
  const cache = { system, out: createRedactor() };
  rememberTenant(cache, { profile: 'live', baseUrl: base_url, keys }, { id: 'i', name: 'Acme', type: 'production' });
  const other = { profile: 'qa', baseUrl: 'https://other.example', keys };
  rememberTenant(cache, other, { id: 'j', name: 'Other', type: 'test' });
});

function list(...options: string[]): Promise<HereResult> {
  return svcIn(home.path, ['profile', 'list', ...options], { env: environment() });
}

function listOn(columns: number): Promise<HereResult> {
  return svcIn(home.path, ['profile', 'list', '--no-pager'], { env: { ...environment(), NO_COLOR: '1' }, columns });
}

function environment() {
  return { SVC_CONFIG_DIR: home.file('config'), SVC_CACHE_DIR: home.file('cache') };
}

it('svc profile list marks the tenant of each profile, and has no column in which no profile has anything', async () => {
  const { stdout } = await list('-o', 'table');
  const [head, live, qa] = stdout.split('\n');
  expect(head?.split(/\s{2,}/)).toEqual(['NAME', 'STATE', 'TENANT', 'BASE URL', 'MANAGEMENT KEY', 'PRIVATE KEY']);
  expect(live).toMatch(/^live +in use +PRODUCTION +https:\/\/api\.example +stored/);
  // Its tenant was seen at another base URL.
  expect(qa).toMatch(/^qa +- +- +https:\/\/qa\.example/);
});

it.each([
  [80, 'NAME', undefined],
  [200, 'ACTIONS', 'WRN_OPT_OUT exclude, ERR_X keep'],
])(
  'svc profile list on %i columns cuts no base URL, and shows actions in words where there is room',
  async (columns, last, actions) => {
    const file = join(home.file('config'), 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as { profiles: Record<string, object> };
    const base_url = 'https://api.a-longer-name.example.com';
    config.profiles['live'] = {
      ...config.profiles['live'],
      base_url,
      actions: { WRN_OPT_OUT: 'exclude', ERR_X: 'keep' },
    };
    writeFileSync(file, JSON.stringify(config));
    const { stdout } = await listOn(columns);
    expect(stdout).toContain(base_url);
    expect(stdout).toContain(last);
    expect(/WRN_.*/.exec(stdout)?.[0]).toBe(actions);
  },
);

it('svc profile list gives programs the type and the name of the tenant', async () => {
  const { stdout } = await list('-o', 'json', '--fields', 'name,tenant_type,tenant_name');
  expect(JSON.parse(stdout)).toEqual([
    { name: 'live', tenant_type: 'production', tenant_name: 'Acme' },
    { name: 'qa', tenant_type: null, tenant_name: null },
    { name: 'sandbox', tenant_type: null, tenant_name: null },
  ]);
});
