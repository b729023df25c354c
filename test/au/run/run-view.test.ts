import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { tenantOf } from '../../../src/au/run/run-view.ts';
import { rememberTenant } from '../../../src/cli/config/tenant-of-keys.ts';
import type { System } from '../../../src/base/system.ts';
import { recordOf } from './parts.ts';

it('the tenant of a run is named as the profile knows it, unless the profile has the key of another one by now', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-tenant-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const system = { platform: 'linux', home, cwd: home, env: { SVC_CACHE_DIR: home } } as unknown as System;
  const record = recordOf();
  expect(tenantOf({ system }, record)).toBe('ours');
  for (const [id, shown] of [
    ['ours', 'TEST Acme (ours)'],
    ['theirs', 'ours'],
  ] as const) {
    const { profile, base_url: baseUrl } = record;
    rememberTenant(system, { profile, baseUrl, keys: undefined }, { id, name: 'Acme', type: 'test' });
    expect(tenantOf({ system }, record)).toBe(shown);
  }
});
