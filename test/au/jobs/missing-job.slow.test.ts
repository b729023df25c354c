import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { DAY_MS, MINUTE_MS, UNKNOWN, hideJobs, submitted, uploaded } from './missing.ts';
import { JobFaults } from '../job-faults.ts';

it('svc au resume <job> --wait waits some minutes for it, and ends with 9', async () => {
  const { machine, job } = await submitted();
  const { clock } = machine;
  const began = clock.now();
  const { stderr } = ended(await machine.svc(`au resume ${job} --wait`), 9);
  expect(stderr.match(/was not found \(404\)/g)).toHaveLength(1);
  expect(clock.now() - began).toBeGreaterThan(5 * MINUTE_MS);
  expect(clock.now() - began).toBeLessThan(10 * MINUTE_MS);
  let reads = 0;
  machine.fault = (...exchange) => ((reads += 1) > 3 ? exchange[2]() : hideJobs(...exchange));
  const found = await machine.svc(`au resume ${job} --wait`);
  expect([found.code, rowOf(found)['status']], found.stderr).toEqual([0, 'completed']);
});

describe('a job that the service does not find and that the ledger has', () => {
  it('R43: svc au status ends with 9 where the files of this machine are lost, and on another machine', async () => {
    const machine = await openMachine();
    const shared = sharedLedger(machine.path('ledger'));
    const { job } = rowOf(await machine.svc('au submit tokens.csv --cycle 2026-12', shared));
    await machine.clock.advance(MINUTE_MS);
    machine.fault = hideJobs;
    const other = { ...shared, SVC_STATE_DIR: machine.path('elsewhere') };
    ended(await machine.svc(`au status ${String(job)}`, other), 9, { error: { next: 'svc au resume 2026-12' } });
    rmSync(machine.path('state'), { recursive: true });
    ended(await machine.svc(`au status ${String(job)}`, shared), 9);
    // Without the ledger, nothing is known of the job.
    ended(await machine.svc(`au status ${String(job)}`, { SVC_STATE_DIR: machine.path('third') }), 5, {
      error: { message: `job ${String(job)} is not found` },
    });
  });

  it('svc au status says that another machine received the results of the job', async () => {
    const { machine, job } = await submitted({ options: '--cycle 2026-12 --wait' });
    rmSync(machine.path('state/jobs'), { recursive: true });
    for (const days of [0, 30]) {
      await machine.clock.advance(days * DAY_MS);
      ended(await machine.svc(`au status ${job}`), 9, {
        error: {
          message: expect.stringContaining('whose results were read before'),
          next: 'svc au status 2026-12',
          retryable: days === 0,
        },
      });
    }
  });

  it('svc au status says after 7 days that nothing can be proven, and how to free the rows', async () => {
    const { machine, job } = await uploaded();
    await machine.clock.advance(8 * DAY_MS);
    ended(await machine.svc(`au status ${job}`), 9, {
      error: { retryable: false, alternatives: [`svc au abandon ${job}`] },
    });
  });

  it('svc au status ends with 9 where the ledger cannot be read', async () => {
    const { machine } = await submitted();
    const [tenant] = machine.ours.tenants;
    writeFileSync(machine.path(`state/ledger/${tenant?.id}/ledger.json`), '{');
    ended(await machine.svc(`au status ${UNKNOWN}`), 9, {
      error: {
        message: expect.stringContaining(`job ${UNKNOWN} is not found, and whether its file was sent is not known: `),
      },
    });
  });

  it('svc au status ends with 9 where only the files of the job are left', async () => {
    const { machine, job } = await uploaded();
    const [tenant] = machine.ours.tenants;
    for (const name of ['cycles', 'jobs'])
      rmSync(machine.path(`state/ledger/${tenant?.id}/${name}`), { recursive: true });
    ended(await machine.svc(`au status ${job}`), 9, {
      error: { message: `job ${job} is not found, though it may have the file that svc sent from this machine` },
    });
  });
});

it('svc au status ends with 5 once its rows are free', async () => {
  const { machine, job } = await uploaded();
  await machine.clock.advance(8 * DAY_MS);
  // The list shows another job, and with it whose the key is.
  succeeded(await machine.svc('au create'));
  machine.fault = Object.assign(new JobFaults(), { forgotten: [job] }).intercept;
  succeeded(await machine.svc(`au abandon ${job} --yes`));
  ended(await machine.svc(`au status ${job}`), 5, { error: { message: `job ${job} is not found` } });
});
