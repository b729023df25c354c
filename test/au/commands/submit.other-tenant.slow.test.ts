import { expect, it } from 'vitest';
import { ended, errorIn, type HereResult, rowOf, succeeded } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

/** The keys of the profile count, and none of the environment. */
const STORED = { SVC_PRIVATE_API_KEY: '' };

/** The stores of both tenants: whether they refuse files, and how many files came. */
interface Stores {
  refuse: boolean;
  files: number;
}

/** Opens a desk with a test tenant and a production tenant. */
async function twoTenants(): Promise<{ desk: QuickDesk; stores: Stores }> {
  const stores: Stores = { refuse: false, files: 0 };
  const desk = await openQuickDesk({
    tenants: ['test', 'production'],
    merchants: ['M1'],
    intercept: ({ method }, outgoing, proceed) => {
      if (method === 'PUT' && stores.refuse) return void outgoing.writeHead(400).end();
      if (method === 'PUT') stores.files += 1;
      proceed();
    },
  });
  return { desk, stores };
}

async function login(desk: QuickDesk, privateKey: string): Promise<void> {
  const words = 'login --management-key-stdin --private-key-stdin';
  succeeded(await desk.svc(words, STORED, `sandbox-management-key\n${privateKey}\n`));
}

async function tenantType(desk: QuickDesk): Promise<unknown> {
  const { stdout } = await desk.svc('profile list -o json', STORED);
  return (JSON.parse(stdout) as Record<string, unknown>[])[0]?.['tenant_type'];
}

function expectRefusal(run: HereResult): void {
  expect(run.code, run.stderr).toBe(3);
  expect(errorIn(run)['message']).toMatch(
    /^the private key belongs to tenant \S+, and svc knows profile default for the TEST tenant "Sandbox" \(\S+\): nothing was uploaded$/,
  );
  expect(errorIn(run)).toMatchObject({ next: 'svc login --profile <name>', alternatives: ['svc whoami'] });
}

it('nothing is uploaded with a private key of another tenant than the known one of the profile, until whoami was run', async () => {
  const { desk, stores } = await twoTenants();
  await login(desk, 'sandbox-2-private-key');
  expect(await tenantType(desk)).toBe('test');
  expectRefusal(await desk.svc('au submit tokens.csv', STORED));
  expectRefusal(await desk.svc('au submit tokens.csv --dry-run', STORED));
  const { id } = rowOf(await desk.svc('au create', STORED));
  expectRefusal(await desk.svc(`au upload ${String(id)} tokens.csv`, STORED));
  expect(stores.files).toBe(0);
  ended(await desk.svc('whoami', STORED), 0, 'svc treats the tenant of this profile as unknown');
  expect(await tenantType(desk)).toBe(null);
  const submitted = await desk.svc('au submit tokens.csv --new-ledger', STORED);
  expect([submitted.code, stores.files], submitted.stderr).toEqual([0, 1]);
});

it('a 3DS session is not authenticated with a private key of another tenant than the known one of the profile', async () => {
  const { desk } = await twoTenants();
  await login(desk, 'sandbox-2-private-key');
  const template = await desk.svc('3ds template payment-transaction', STORED);
  const created = await desk.svc('3ds create --card Rejected --type customer', STORED);
  const { id } = rowOf(created);
  const authenticate = `3ds authenticate ${String(id)} --file -`;
  ended(await desk.svc(authenticate, STORED, template.stdout), 3, { error: { alternatives: ['svc whoami'] } });
  const session = rowOf(await desk.svc(`3ds show ${String(id)} -o json`, STORED));
  expect(session['authentication']).toBeUndefined();
  await login(desk, 'sandbox-private-key');
  await desk.svc('login -p other --private-key-stdin', STORED, 'sandbox-2-private-key');
  succeeded(await desk.svc(`${authenticate} -p other`, STORED, template.stdout));
});

it('an upload is not resumed with a private key of another tenant than the known one of the profile', async () => {
  const { desk, stores } = await twoTenants();
  await login(desk, 'sandbox-2-private-key');
  stores.refuse = true;
  const other = { SVC_PRIVATE_API_KEY: 'sandbox-2-private-key' };
  expect((await desk.svc('au submit tokens.csv', other)).code).not.toBe(0);
  stores.refuse = false;
  ended(await desk.svc('au resume', STORED), 3, 'the private key belongs to tenant');
  expect(stores.files).toBe(0);
});

it('a file is uploaded with a private key of the known tenant of the profile', async () => {
  const { desk, stores } = await twoTenants();
  await login(desk, 'sandbox-private-key');
  succeeded(await desk.svc('au submit tokens.csv', STORED));
  expect((await desk.svc('whoami', STORED)).stderr).toBe('');
  expect([stores.files, await tenantType(desk)]).toEqual([1, 'test']);
});
