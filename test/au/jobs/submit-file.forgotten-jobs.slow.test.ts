import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Machine, openMachine } from '../commands/machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { JobFaults } from '../job-faults.ts';
import { ended, succeeded } from '../../support/run-here.ts';

const SUBMIT = 'au submit tokens.csv --cycle 2026-12';
const OUT = '--wait --out results.csv';

/** Lets the service forget a job. */
function forget(machine: Machine, job: string): void {
  machine.fault = Object.assign(new JobFaults(), { forgotten: [job] }).intercept;
}

function jobOf({ stdout }: { readonly stdout: string }): { readonly job: string } {
  return JSON.parse(stdout) as { readonly job: string };
}

it('a job that the service has forgotten after its results were read is no doubt for machines that want no results', async () => {
  const machine = await openMachine();
  const env = sharedLedger(machine.path('ledger'));
  const sent = succeeded(await machine.svc(`${SUBMIT} ${OUT}`, { ...env, SVC_STATE_DIR: machine.path('runner') }));
  const { job } = jobOf(sent);
  forget(machine, job);
  const first = succeeded(await machine.svc(SUBMIT, env));
  expect(jobOf(first)).toMatchObject({ job, status: 'already_submitted', sent: 40, left_out: 0 });
  expect(first.stderr).not.toContain('to wait for the results');
  for (const line of [SUBMIT, 'au resume', 'au status 2026-12']) {
    succeeded(await machine.svc(line, env));
    await machine.clock.advance(10 * 60_000);
  }
  for (const line of [`${SUBMIT} --wait --out other.csv`, 'au resume 2026-12 --wait --out other.csv']) {
    const begun = machine.clock.now();
    ended(await machine.svc(line, env), 9, job);
    expect(machine.clock.now() - begun).toBeLessThan(60_000);
  }
  expect(machine.uploads()).toBe(1);
});

it('a job that the service has forgotten after its results were read ends the doubt of a machine that waited for it before', async () => {
  const machine = await openMachine();
  const env = sharedLedger(machine.path('ledger'));
  const runner = { ...env, SVC_STATE_DIR: machine.path('runner') };
  writeFileSync(machine.path('work/other.csv'), 'token,expiration_year,expiration_month,merchant_id\none,,,\n');
  succeeded(await machine.svc('au submit other.csv --wait --out first.csv', runner));
  const { job } = jobOf(await machine.svc(SUBMIT, runner));
  succeeded(await machine.svc(SUBMIT, env));
  forget(machine, job);
  for (let time = 0; time < 2; time += 1) {
    ended(await machine.svc('au resume', env), 9);
    await machine.clock.advance(10 * 60_000);
  }
  machine.fault = undefined;
  succeeded(await machine.svc(`${SUBMIT} ${OUT}`, runner));
  forget(machine, job);
  ended(await machine.svc('au resume', env), 0, { uploads: 2 });
});

it('R84: a job that the service has forgotten after its results were read only for their new tokens is sent, but its results are no success', async () => {
  const machine = await openMachine();
  const env = sharedLedger(machine.path('ledger'));
  writeFileSync(machine.path('work/other.csv'), 'token,expiration_year,expiration_month,merchant_id\none,,,\n');
  const gone = succeeded(await machine.svc(SUBMIT, { ...env, SVC_STATE_DIR: machine.path('gone') }));
  await machine.clock.advance(10 * 60_000);
  // The reader needs none of these results, and has its own, so that only the forgotten job stays open.
  ended(
    await machine.svc('au submit other.csv --cycle 2026-12 --wait', { ...env, SVC_STATE_DIR: machine.path('reader') }),
    0,
    'reading the results of job',
  );
  const { job } = jobOf(gone);
  forget(machine, job);
  for (const [line, expected] of [
    [SUBMIT, 0],
    ['au resume', 9],
    [`${SUBMIT} --wait`, 9],
  ] as const) {
    ended(await machine.svc(line, env), expected);
    await machine.clock.advance(10 * 60_000);
  }
  expect(machine.uploads()).toBe(2);
});
