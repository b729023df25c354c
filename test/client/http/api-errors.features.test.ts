import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningSandbox } from '../../../src/emulator/running-sandbox.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const directory = temporaryDirectory();
let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ directory, without: ['3ds', 'account-updater'] });
});
afterAll(() => sandbox.close());

it.each([
  ['3DS', ['3ds', 'show', '5f0c']],
  ['Account Updater', ['au', 'jobs']],
])('a 403 of %s says that the feature is not enabled, and points to no key', async (feature, argv) => {
  const env = { SVC_API_KEY: '', SVC_PRIVATE_API_KEY: 'sandbox-private-key' };
  const run = await svcHere(argv, { baseUrl: new URL(sandbox.url), env });
  expect(run.code).toBe(4);
  const detail = `Forbidden – ${feature} is an enterprise feature that needs access to be enabled.`;
  expect(errorIn(run)).toMatchObject({ code: 'forbidden', detail, disabled_feature: feature });
  expect(errorIn(run)['next']).toBeUndefined();
  expect(run.stderr).toContain(`${feature} is an enterprise feature that needs access to be enabled.`);
  expect(run.stderr).toContain(`${feature} is not enabled for the tenant, and no permission of a key changes that`);
});

it('svc whoami and svc doctor say that a feature is not enabled, and advise no permission', async () => {
  const options = {
    baseUrl: new URL(sandbox.url),
    env: {
      SVC_API_KEY: '',
      SVC_MANAGEMENT_API_KEY: 'sandbox-management-key',
      SVC_PRIVATE_API_KEY: 'sandbox-private-key',
    },
  };
  const detail = 'Forbidden – 3DS is an enterprise feature that needs access to be enabled.';
  const { permissions, refusals } = JSON.parse((await svcHere(['whoami'], options)).stdout) as Record<string, unknown>;
  expect(permissions).toMatchObject({
    '3ds:session:read': 'forbidden',
    '3ds:session:create': 'forbidden',
    '3ds:session:authenticate': 'forbidden',
    'account-updater:job:create': 'forbidden',
    'token:create': 'allowed',
    'tenant:update': 'allowed',
  });
  expect(refusals).toEqual({
    'log:read': null,
    'tenant:read': null,
    'report:read': null,
    '3ds:session:read': detail,
    'account-updater:job:read': expect.any(String),
  });
  const shown = (await svcHere(['whoami', '-o', 'table', '--plain'], options)).stdout;
  expect(shown).toContain(detail);
  expect(shown).not.toMatch(/may: .*3ds/);
  const found = JSON.parse((await svcHere(['doctor', '-o', 'json'], options)).stdout) as Record<string, unknown>[];
  expect(found.find(({ check }) => check === '3ds:session:read')).toMatchObject({
    result: 'warning',
    found: `not allowed (403): ${detail}`,
    fix: "If you need it, ask the service's support to enable 3DS for the tenant.",
  });
  expect(found.find(({ check }) => check === 'private key')).toMatchObject({
    result: 'warning',
    fix: "Ask the service's support to enable the features that you need.",
  });
});

it('svc login says why a key has no read permission', async () => {
  const argv = ['login', '--base-url', sandbox.url, '--private-key-stdin'];
  const run = await svcHere(argv, { env: { SVC_API_KEY: '' }, input: 'sandbox-private-key' });
  expect(run.code).toBe(0);
  expect(run.stderr).toContain('has no read permission (403): Forbidden – 3DS is an enterprise feature');
});

it('a 403 that names no feature leaves both causes open', async () => {
  const key = 'sandbox-management-key-logs-only';
  const env = { SVC_API_KEY: '', SVC_MANAGEMENT_API_KEY: key };
  const run = await svcHere(['tenant', 'show'], { baseUrl: new URL(sandbox.url), env });
  expect(errorIn(run)).toMatchObject({ next: 'svc whoami', hint: expect.stringContaining('lacks the permission') });
  const other = await svcHere(['api', '/tenants/self'], { baseUrl: new URL(sandbox.url), env });
  expect(errorIn(other)['hint']).toContain('lacks the permission for this endpoint');
});
