import { afterAll, beforeAll, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningSandbox } from '../../../src/emulator/options.ts';
import { startSandbox } from '../../../src/emulator/server.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-features-'));
let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ directory, without: ['3ds', 'account-updater'] });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(directory, { recursive: true, force: true });
});

it.each([
  ['3DS', ['3ds', 'show', '5f0c']],
  ['Account Updater', ['au', 'jobs']],
])('a 403 of %s says that the permission is missing or the feature is not enabled', async (feature, argv) => {
  const env = { SVC_API_KEY: '', SVC_PRIVATE_API_KEY: 'sandbox-private-key' };
  const run = await svcHere(argv, { baseUrl: new URL(sandbox.url), env });
  expect([run.code, errorIn(run)]).toEqual([4, expect.objectContaining({ code: 'forbidden' })]);
  expect(run.stderr).toContain(`${feature} is an enterprise feature that needs access to be enabled.`);
  expect(run.stderr).toContain(`or ${feature}, an enterprise feature, is not enabled for the tenant`);
});
