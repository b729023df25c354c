import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

const SUBMIT = 'au submit tokens.csv --cycle 2026-12';
const OUT = '--wait --out results.csv';

/** Lets the service forget a job. */
function forget(machine: Machine, job: string): void {
  machine.fault = ({ method, url = '' }, outgoing, proceed) => {
    if (method === 'GET' && url.includes(job))
      return void outgoing
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"title":"Not Found","status":404}');
    if (method === 'GET' && /\/jobs(\?|$)/.test(url))
      captureResponse(outgoing, (body) => {
        const list = JSON.parse(body.toString()) as { data: { readonly id: string }[] };
        const text = JSON.stringify({ ...list, data: list.data.filter(({ id }) => id !== job) });
        outgoing.setHeader('content-length', Buffer.byteLength(text)).end(text);
      });
    proceed();
  };
}

function jobOf({ stdout }: { readonly stdout: string }): { readonly job: string } {
  return JSON.parse(stdout) as { readonly job: string };
}

it('a job that the service has forgotten after its results were read is no doubt for machines that want no results', async () => {
  const machine = await openMachine();
  const env = sharedLedger(machine.path('ledger'));
  const sent = await machine.svc(`${SUBMIT} ${OUT}`, { ...env, SVC_STATE_DIR: machine.path('runner') });
  expect(sent.code, sent.stderr).toBe(0);
  const { job } = jobOf(sent);
  forget(machine, job);
  const first = await machine.svc(SUBMIT, env);
  expect(first.code, first.stderr).toBe(0);
  expect(jobOf(first)).toMatchObject({ job, status: 'already_submitted', sent: 40, left_out: 0 });
  expect(first.stderr).not.toContain('to wait for the results');
  for (const line of [SUBMIT, 'au resume', 'au status 2026-12']) {
    const { code, stderr } = await machine.svc(line, env);
    expect([line, code], stderr).toEqual([line, 0]);
    await machine.clock.advance(10 * 60_000);
  }
  for (const line of [`${SUBMIT} --wait --out other.csv`, 'au resume 2026-12 --wait --out other.csv']) {
    const begun = machine.clock.now();
    const wanted = await machine.svc(line, env);
    expect([line, wanted.code], wanted.stderr).toEqual([line, 9]);
    expect(wanted.stderr).toContain(job);
    expect(machine.clock.now() - begun).toBeLessThan(60_000);
  }
  expect(machine.uploads()).toBe(1);
});

it('a job that the service has forgotten after its results were read ends the doubt of a machine that waited for it before', async () => {
  const machine = await openMachine();
  const env = sharedLedger(machine.path('ledger'));
  const runner = { ...env, SVC_STATE_DIR: machine.path('runner') };
  writeFileSync(machine.path('work/other.csv'), 'token,expiration_year,expiration_month,merchant_id\none,,,\n');
  const other = await machine.svc('au submit other.csv --wait --out first.csv', runner);
  expect(other.code, other.stderr).toBe(0);
  const { job } = jobOf(await machine.svc(SUBMIT, runner));
  const joined = await machine.svc(SUBMIT, env);
  expect(joined.code, joined.stderr).toBe(0);
  forget(machine, job);
  for (let time = 0; time < 2; time += 1) {
    const doubt = await machine.svc('au resume', env);
    expect(doubt.code, doubt.stderr).toBe(9);
    await machine.clock.advance(10 * 60_000);
  }
  machine.fault = undefined;
  const read = await machine.svc(`${SUBMIT} ${OUT}`, runner);
  expect(read.code, read.stderr).toBe(0);
  forget(machine, job);
  const settled = await machine.svc('au resume', env);
  expect(settled.code, settled.stderr).toBe(0);
  expect(machine.uploads()).toBe(2);
});

it('R84: a job that the service has forgotten after its results were read only for their new tokens is sent, but its results are no success', async () => {
  const machine = await openMachine();
  const env = sharedLedger(machine.path('ledger'));
  writeFileSync(machine.path('work/other.csv'), 'token,expiration_year,expiration_month,merchant_id\none,,,\n');
  const gone = await machine.svc(SUBMIT, { ...env, SVC_STATE_DIR: machine.path('gone') });
  expect(gone.code, gone.stderr).toBe(0);
  await machine.clock.advance(10 * 60_000);
  // The reader needs none of these results, and has its own, so that only the forgotten job stays open.
  const reader = await machine.svc('au submit other.csv --cycle 2026-12 --wait', {
    ...env,
    SVC_STATE_DIR: machine.path('reader'),
  });
  expect(reader.code, reader.stderr).toBe(0);
  expect(reader.stderr).toContain('reading the results of job');
  const { job } = jobOf(gone);
  forget(machine, job);
  for (const [line, expected] of [
    [SUBMIT, 0],
    ['au resume', 9],
    [`${SUBMIT} --wait`, 9],
  ] as const) {
    const { code, stderr } = await machine.svc(line, env);
    expect([line, code], stderr).toEqual([line, expected]);
    await machine.clock.advance(10 * 60_000);
  }
  expect(machine.uploads()).toBe(2);
});
