import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { captureResponse } from '../../../src/emulator/faults/intercept.ts';
import { type Machine, openMachine } from '../commands/machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import type { RecordOnDisk } from '../recorded-run.ts';

const SUBMIT = 'au submit tokens.csv --cycle 2026-12';
const DAY = 86_400_000;
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

function jobOf({ stdout }: { readonly stdout: string }): { readonly job: string; readonly run: string } {
  return JSON.parse(stdout) as { readonly job: string; readonly run: string };
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
  const { run, ...shown } = jobOf(first);
  expect(shown).toMatchObject({ job, status: 'completed', sent: 0 });
  expect(first.stderr).not.toContain('to wait for the results');
  for (const line of [SUBMIT, 'au resume', `au resume ${run}`, `au status ${run}`]) {
    const { code, stderr } = await machine.svc(line, env);
    expect([line, code], stderr).toEqual([line, 0]);
    await machine.clock.advance(10 * 60_000);
  }
  for (const line of [`${SUBMIT} --wait --out other.csv`, 'au resume --wait', `au resume ${run} --wait`]) {
    const begun = machine.clock.now();
    const wanted = await machine.svc(line, env);
    expect([line, wanted.code], wanted.stderr).toEqual([line, 9]);
    expect(wanted.stderr).toContain(`does not find job ${job} of run ${run}, whose results were read before`);
    expect(machine.clock.now() - begun).toBeLessThan(60_000);
  }
  expect(machine.uploads()).toBe(1);
});

it('a job that the service has forgotten after its results were read ends the doubt of a run that waited for it before', async () => {
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

it.each([
  ['all', 'own', 9, 1],
  ['a part', 'own', 0, 2],
  // The record of one machine may be older than a ledger that others write too.
  ['a part', 'shared', 9, 1],
] as const)(
  'the rows of a job that seemed gone and may be forgotten are sent again only if its file was never sent whole (sent: %s, ledger: %s)',
  async (sent, ledger, code, uploads) => {
    const machine = await openMachine();
    const env: Record<string, string> = ledger === 'shared' ? sharedLedger(machine.path('ledger')) : {};
    const { job, run } = jobOf(await machine.svc(SUBMIT, env));
    forget(machine, job);
    const file = machine.path(`state/runs/${run}/run.json`);
    const record = JSON.parse(readFileSync(file, 'utf8')) as RecordOnDisk;
    const parts = record.parts.map(({ number, first_row, rows, start, end, bytes, sha256, sent_at: at }) => {
      const earlier = { job, ended: 'gone', ...(sent === 'all' && { sent_at: at }) };
      return { number, first_row, rows, start, end, bytes, sha256, state: 'planned', earlier_jobs: [earlier] };
    });
    writeFileSync(file, JSON.stringify({ ...record, parts }));
    await machine.clock.advance(8 * DAY);
    const again = await machine.svc(SUBMIT, env);
    expect([again.code, machine.uploads()], again.stderr).toEqual([code, uploads]);
  },
);

it.each([
  ['of this machine alone', false, 0, 1],
  ['that machines share', true, 9, 0],
] as const)(
  'R58: a job whose file the store refused, and that the service does not find, is replaced at once only with a ledger %s',
  async (_, isShared, code, uploads) => {
    const machine = await openMachine();
    const env = isShared ? sharedLedger(machine.path('ledger')) : {};
    machine.fault = (incoming, outgoing, proceed) =>
      incoming.method === 'PUT' ? outgoing.writeHead(403).end() : proceed();
    expect(await machine.svc(SUBMIT, env)).toMatchObject({ code: 4 });
    const { job = '', sent } = machine.record(`state/runs/${machine.runIds()[0]}`).parts[0] ?? {};
    expect(sent).toBe('some');
    // A record that was restored to an older time does not know what was sent later, and another machine cannot ask it.
    forget(machine, job);
    const again = await machine.svc(SUBMIT, env);
    expect([again.code, machine.uploads()], again.stderr).toEqual([code, uploads]);
  },
);
