import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorIn, rowOf } from '../../support/run-here.ts';
import { openMachine } from '../commands/machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { DAY_MS, MINUTE_MS, UNKNOWN, hideJobs, submitted, uploaded } from './missing.ts';
import { listOnly } from '../support.ts';

describe('a job that the service does not find and whose file this machine sent', () => {
  it('svc au resume <job> --wait waits some minutes for it, and ends with 9', async () => {
    const { machine, job } = await submitted();
    const { clock } = machine;
    const began = clock.now();
    const ended = await machine.svc(`au resume ${job} --wait`);
    expect(ended.code, ended.stderr).toBe(9);
    expect(clock.now() - began).toBeGreaterThan(5 * MINUTE_MS);
    expect(clock.now() - began).toBeLessThan(10 * MINUTE_MS);
    let reads = 0;
    machine.fault = (...exchange) => ((reads += 1) > 3 ? exchange[2]() : hideJobs(...exchange));
    const found = await machine.svc(`au resume ${job} --wait`);
    expect([found.code, rowOf(found)['status']], found.stderr).toEqual([0, 'completed']);
  });
});

describe('a job that the service does not find and that the ledger has', () => {
  it('R43: svc au status ends with 9 where the files of this machine are lost, and on another machine', async () => {
    const machine = await openMachine();
    const shared = sharedLedger(machine.path('ledger'));
    const { job } = rowOf(await machine.svc('au submit tokens.csv --cycle 2026-12', shared));
    await machine.clock.advance(MINUTE_MS);
    machine.fault = hideJobs;
    const other = { ...shared, SVC_STATE_DIR: machine.path('elsewhere') };
    const elsewhere = await machine.svc(`au status ${String(job)}`, other);
    expect([elsewhere.code, errorIn(elsewhere)['next']], elsewhere.stderr).toEqual([9, 'svc au resume 2026-12']);
    rmSync(machine.path('state'), { recursive: true });
    const lost = await machine.svc(`au status ${String(job)}`, shared);
    expect(lost.code, lost.stderr).toBe(9);
    // Without the ledger, nothing is known of the job.
    const without = await machine.svc(`au status ${String(job)}`, { SVC_STATE_DIR: machine.path('third') });
    expect([without.code, errorIn(without)['message']], without.stderr).toEqual([5, `job ${String(job)} is not found`]);
  });

  it('svc au status says that another machine received the results of the job', async () => {
    const { machine, job } = await submitted({ options: '--cycle 2026-12 --wait' });
    rmSync(machine.path('state/jobs'), { recursive: true });
    for (const days of [0, 30]) {
      await machine.clock.advance(days * DAY_MS);
      const ended = await machine.svc(`au status ${job}`);
      expect(ended.code, ended.stderr).toBe(9);
      expect(errorIn(ended)).toMatchObject({
        message: expect.stringContaining('whose results were read before'),
        next: 'svc au status 2026-12',
        retryable: days === 0,
      });
    }
  });

  it('svc au status says after 7 days that nothing can be proven, and how to free the rows', async () => {
    const { machine, job } = await uploaded();
    await machine.clock.advance(8 * DAY_MS);
    const ended = await machine.svc(`au status ${job}`);
    expect(ended.code, ended.stderr).toBe(9);
    expect(errorIn(ended)).toMatchObject({ retryable: false, alternatives: [`svc au abandon ${job}`] });
  });

  it('svc au status ends with 9 where the ledger cannot be read', async () => {
    const { machine } = await submitted();
    const [tenant] = machine.ours.tenants;
    writeFileSync(machine.path(`state/ledger/${tenant?.id}/ledger.json`), '{');
    const ended = await machine.svc(`au status ${UNKNOWN}`);
    expect([ended.code, errorIn(ended)['message']], ended.stderr).toEqual([
      9,
      expect.stringContaining(`job ${UNKNOWN} is not found, and whether its file was sent is not known: `),
    ]);
  });

  it('svc au status ends with 9 where only the files of the job are left', async () => {
    const { machine, job } = await uploaded();
    const [tenant] = machine.ours.tenants;
    for (const name of ['cycles', 'jobs'])
      rmSync(machine.path(`state/ledger/${tenant?.id}/${name}`), { recursive: true });
    const ended = await machine.svc(`au status ${job}`);
    expect([ended.code, errorIn(ended)['message']], ended.stderr).toEqual([
      9,
      `job ${job} is not found, though it may have the file that svc sent from this machine`,
    ]);
  });
});

describe('a job that the service does not find and that certainly has no file', () => {
  it('svc au status ends with 5 once its rows are free', async () => {
    const { machine, job } = await uploaded();
    await machine.clock.advance(8 * DAY_MS);
    // The list shows another job, and with it whose the key is.
    expect(await machine.svc('au create')).toMatchObject({ code: 0 });
    machine.fault = (incoming, outgoing, proceed) => {
      if (!incoming.url?.includes('/jobs?')) return hideJobs(incoming, outgoing, proceed);
      listOnly(outgoing, (id) => id !== job);
      proceed();
    };
    expect(await machine.svc(`au abandon ${job} --yes`)).toMatchObject({ code: 0 });
    const ended = await machine.svc(`au status ${job}`);
    expect([ended.code, errorIn(ended)['message']], ended.stderr).toEqual([5, `job ${job} is not found`]);
  });
});
