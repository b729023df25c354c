import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from '../commands/support.ts';
import { JobFaults } from '../job-faults.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

const [HEADER = ''] = exampleRequestFile().split('\n');
const MINUTE = 60_000;

/** Opens a machine with the keys of two tenants of one service. Jobs take a week. */
async function openTwoTenants(intercept?: Interceptor) {
  const tenants = ['production', 'production'] as const;
  const desk = await openQuickDesk({ processingMs: 10_000 * MINUTE, tenants, intercept });
  const [ours, theirs] = desk.sandbox.tenants;
  writeFileSync(desk.home.file('one.csv'), `${HEADER}\none-more,,,\n`);
  const second = {
    SVC_PRIVATE_API_KEY: theirs?.private_key ?? '',
    SVC_MANAGEMENT_API_KEY: theirs?.management_key ?? '',
  };
  return {
    ...desk,
    ours: ours?.id ?? '',
    /** Another address of the service, at which this machine has no runs. */
    elsewhere: { SVC_BASE_URL: desk.sandbox.url.replace('127.0.0.1', 'localhost') },
    /** Runs a command line with the keys of the second tenant. */
    theirs: (line: string, more = {}) => desk.svc(line, { ...second, ...more }),
  };
}

/** Uploads a file of the first tenant to a job of which no run here knows. */
async function uploadOurs({ svc }: Pick<Awaited<ReturnType<typeof openTwoTenants>>, 'svc'>): Promise<void> {
  const { id } = JSON.parse((await svc('au create')).stdout) as { readonly id: string };
  succeeded(await svc(`au upload ${id} tokens.csv`));
}

it.each(['au resume', 'au status'])(
  'svc %s ends with 0 for a tenant without jobs beside the open job of another tenant, and names that tenant',
  async (line) => {
    const desk = await openTwoTenants();
    await uploadOurs(desk);
    ended(await desk.theirs(line, desk.elsewhere), 0, `the jobs of tenant ${desk.ours} in `);
    ended(await desk.svc('au resume'), 11);
  },
);

it('rows of a job of another tenant that failed stop no command of a profile whose tenant has no job', async () => {
  const service = new JobFaults();
  const desk = await openTwoTenants(service.intercept);
  const { job } = rowOf(await desk.svc('au submit tokens.csv --cycle 2026-12'));
  service.failed = [String(job)];
  ended(await desk.svc('au resume'), 10);
  for (const line of ['au resume', 'au status'])
    ended(await desk.theirs(line, desk.elsewhere), 0, `the jobs of tenant ${desk.ours} in `);
  // With the files of the job, they may be those of this profile.
  ended(await desk.theirs('au resume'), 9);
});

it.each(['au resume', 'au status'])(
  'svc %s ends with 9 while the service lists no job, although this profile uploaded the file of one',
  async (line) => {
    const service = { isEmpty: false };
    const desk = await openQuickDesk({
      processingMs: 60 * MINUTE,
      intercept: (incoming, outgoing, proceed) => {
        if (service.isEmpty && incoming.method === 'GET' && incoming.url?.includes('/jobs?'))
          captureResponse(outgoing, () => outgoing.setHeader('content-length', 11).end('{"data":[]}'));
        proceed();
      },
    });
    await uploadOurs(desk);
    service.isEmpty = true;
    const told = await desk.svc(line);
    expect([told.code, told.stderr.includes('svc au create')], told.stderr).toEqual([9, true]);
    service.isEmpty = false;
    ended(await desk.svc(line), line === 'au status' ? 0 : 11);
  },
);

it('the open jobs of a tenant whose runs are of another address are not those of this key', async () => {
  const desk = await openTwoTenants();
  succeeded(await desk.svc('au submit one.csv'));
  await uploadOurs(desk);
  for (const line of ['au resume', 'au status']) {
    // With a run of this profile, and while the service shows no job, the key may be that of the tenant.
    ended(await desk.theirs(line), 9);
    succeeded(await desk.theirs(line, desk.elsewhere));
  }
});

it('svc au status ends with 0 for a profile whose keys are known to be of a tenant without jobs', async () => {
  const desk = await openTwoTenants();
  const [, theirs] = desk.sandbox.tenants;
  const { url } = desk.sandbox;
  const stored = (value: string | undefined) => ({ value, base_url: url });
  const keys = { private: stored(theirs?.private_key), management: stored(theirs?.management_key) };
  const profiles = { default: { base_url: url, keys } };
  mkdirSync(desk.home.file('config'), { mode: 0o700 });
  const file = desk.home.file('config/config.json');
  writeFileSync(file, JSON.stringify({ version: 1, profiles }), { mode: 0o600 });
  const env = { SVC_CONFIG_DIR: desk.home.file('config'), SVC_PRIVATE_API_KEY: '', SVC_MANAGEMENT_API_KEY: '' };
  succeeded(await desk.svc('au submit one.csv'));
  ended(await desk.svc('au status', env), 9);
  succeeded(await desk.svc('whoami', env));
  succeeded(await desk.svc('au status', env));
});

it('the shared ledger of one tenant stops no command with the key of another tenant', async () => {
  const desk = await openTwoTenants();
  const ledger = sharedLedger(desk.home.file('ledger'));
  succeeded(await desk.svc('au submit tokens.csv --cycle 2026-12'));
  succeeded(await desk.svc('au submit one.csv --cycle 2026-12', ledger));
  for (const line of ['au status', 'au resume']) {
    ended(
      await desk.theirs(line, desk.elsewhere),
      0,
      `tenant ${desk.ours} uses the ledger ${ledger.SVC_LEDGER}, which is not set`,
    );
  }
  succeeded(await desk.theirs('au status'));
  ended(await desk.svc('au status'), 3);
  succeeded(await desk.theirs('au submit one.csv --cycle 2026-12', sharedLedger(desk.home.file('other'))));
});

it('svc au resume <cycle> writes the results of its tenant while another tenant has an open job in a cycle of the same name', async () => {
  const desk = await openTwoTenants();
  succeeded(await desk.svc('au submit one.csv --cycle 2026-12'));
  await desk.clock.advance(10_001 * MINUTE);
  succeeded(await desk.theirs('au submit tokens.csv --cycle 2026-12'));
  expect(rowOf(await desk.svc('au resume 2026-12'))).toMatchObject({ status: 'completed', progress: 'completed' });
  expect(readFileSync(desk.home.file('2026-12.results.csv'), 'utf8')).toContain('one-more');
  ended(await desk.theirs('au resume 2026-12 --out theirs.csv'), 11);
});
