import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readFault } from '../../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../../src/emulator/faults/intercept.ts';
import { svcHere } from '../../support/run-here.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** An operator at a sandbox, or with faults at a service that does not list the permissions of a key. */
async function operator(...faults: string[]) {
  const directory = temporaryDirectory();
  const cache = join(directory, 'cache');
  const intercept = faultInterceptor(faults.map(readFault));
  const sandbox = await startSandbox({ directory: join(directory, 'sandbox'), intercept });
  onTestFinished(() => sandbox.close());
  const run = (argv: readonly string[], key = 'sandbox-private-key') =>
    svcHere(argv, {
      baseUrl: new URL(sandbox.url),
      env: {
        SVC_API_KEY: '',
        SVC_MANAGEMENT_API_KEY: 'sandbox-management-key',
        SVC_PRIVATE_API_KEY: key,
        SVC_CACHE_DIR: cache,
      },
    });
  const permissions = async (key?: string): Promise<Record<string, string | null>> => {
    const { stdout } = await run(['whoami', '-o', 'json'], key);
    return (JSON.parse(stdout) as { permissions: Record<string, string | null> }).permissions;
  };
  return { run, permissions, sandbox };
}

it('svc whoami shows every permission to write against the sandbox, without a change', async () => {
  const { permissions, sandbox } = await operator();
  expect(await permissions()).toMatchObject({
    'tenant:update': 'allowed',
    'tenant:delete': 'allowed',
    '3ds:session:create': 'allowed',
    '3ds:session:authenticate': 'allowed',
    'token:create': 'allowed',
    'account-updater:job:create': 'allowed',
  });
  expect(await permissions('sandbox-private-key-3ds-only')).toMatchObject({
    '3ds:session:create': 'allowed',
    'account-updater:job:create': 'forbidden',
  });
  expect(new Set(sandbox.ledger().map(({ method }) => method))).toEqual(new Set(['GET']));
});

it('svc whoami leaves permissions to write unknown at a service that does not list them', async () => {
  const { run, permissions } = await operator('404@GET /sandbox/key');
  expect(await permissions()).toMatchObject({ 'tenant:update': null, 'account-updater:job:create': null });
  const { stdout } = await run(['whoami', '-o', 'table', '--plain']);
  expect(stdout).toContain('not known: tenant:update, tenant:delete\n');
});
