import { existsSync, readdirSync, renameSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openQuickDesk, writeRows } from '../commands/support.ts';
import { JobFaults } from '../job-faults.ts';
import { ended, succeeded } from '../../support/run-here.ts';

/** A desk at a service that can refuse requests. */
async function openSharing() {
  const service = new JobFaults();
  const desk = await openQuickDesk({ intercept: service.intercept, processingMs: 3_600_000 });
  return { ...desk, service };
}

it('svc au status shows the open cycles of the ledger on a machine that sent nothing, until somebody reads the results', async () => {
  const { on, clock } = await openSharing();
  ended(await on('laptop', 'au status'), 0, { stdout: '' });
  const sent = succeeded(await on('runner', 'au submit tokens.csv --cycle 2026-12'));
  const { job } = JSON.parse(sent.stdout) as { readonly job: string };
  await clock.advance(60_000);
  const open = succeeded(await on('laptop', 'au status'));
  const row = { cycle: '2026-12', status: 'processing', file: 'tokens.csv', rows: 40, jobs: 1, open_jobs: [job] };
  expect(JSON.parse(open.stdout)).toMatchObject(row);
  await clock.advance(3_700_000);
  expect(JSON.parse((await on('laptop', 'au status')).stdout)).toMatchObject({ ...row, status: 'completed' });
  succeeded(await on('runner', 'au resume'));
  ended(await on('laptop', 'au status'), 0, 'nothing is open', { stdout: '' });
});

it('svc au status calls a cycle completed only once each of its open jobs is', async () => {
  const { on, clock, ...desk } = await openSharing();
  writeRows(desk, 'more.csv', 'one-more,,,');
  succeeded(await on('runner', 'au submit tokens.csv --cycle 2026-12'));
  await clock.advance(3_700_000);
  succeeded(await on('runner', 'au submit more.csv --cycle 2026-12'));
  const file = 'tokens.csv and 1 more';
  ended(await on('laptop', 'au status'), 0, { row: { status: 'pending', progress: '1 completed, 1 pending', file } });
  await clock.advance(3_700_000);
  ended(await on('laptop', 'au status'), 0, { row: { status: 'completed', progress: '2 completed', file } });
});

it.each(['status', 'resume'])(
  'svc au %s says that a ledger without any job is not the one that the other machines use',
  async (word) => {
    const { on, home, svc } = await openSharing();
    succeeded(await on('runner', 'au submit tokens.csv --cycle 2026-12'));
    ended(
      await svc(`au ${word}`, { SVC_STATE_DIR: home.file('alone') }),
      0,
      /^the ledger in .* has no job: what was sent without it is not known here$/m,
      'svc au jobs',
      { stdout: '' },
    );
  },
);

it('svc au status shows what this machine has copies of, where the ledger has lost it or its list does not show it yet', async () => {
  const { on, home } = await openSharing();
  succeeded(await on('runner', 'au submit tokens.csv --cycle 2026-12'));
  const tenant = readdirSync(home.file('ledger')).find((name) => existsSync(home.file(`ledger/${name}/cycles`)));
  renameSync(home.file(`ledger/${tenant}/cycles`), home.file('lost'));
  ended(await on('runner', 'au status'), 0, /the ledger in .* lacks \d objects/, {
    row: { cycle: '2026-12', jobs: 1 },
  });
  ended(await on('laptop', 'au status'), 0, /^the ledger in .* has no job/m, { stdout: '' });
});

it('svc au status shows nothing to a key that may not list jobs, and says so', async () => {
  const { on, service } = await openSharing();
  succeeded(await on('runner', 'au submit tokens.csv --cycle 2026-12'));
  service.refuse = () => 403;
  ended(await on('laptop', 'au status'), 4, { stdout: '' });
});
