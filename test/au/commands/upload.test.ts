import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SentFile } from '../../../src/au/run/sent-file.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { host } from '../../client/transfer/support.ts';
import { FakeClock } from '../../support/clock.ts';
import { errorIn, type HereResult, rowOf } from '../../support/run-here.ts';
import type { Fault } from '../support.ts';
import { type Machine, openMachine } from './machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

function write(machine: Machine, name: string, ...rows: readonly string[]): void {
  writeFileSync(machine.path(join('work', name)), [HEADER, ...rows, ''].join('\n'));
}

/** Submits the example file with another state directory and without a shared ledger. Returns the job. */
async function submittedElsewhere(machine: Machine, file = 'tokens.csv'): Promise<string> {
  const elsewhere = { SVC_STATE_DIR: machine.path(`elsewhere-${file}`) };
  const { job } = rowOf(await machine.svc(`au submit ${file} --new-ledger`, elsewhere));
  await machine.clock.advance(MINUTE);
  return String(job);
}

/** Creates a job and uploads a file to it. */
async function upload(machine: Machine, file: string, env = {}, options = ''): Promise<HereResult> {
  const { id } = rowOf(await machine.svc('au create', env));
  return machine.svc(`au upload ${String(id)} ${file} ${options}`.trim(), env);
}

/** Lets the store refuse every file. */
const refuseUploads: Fault = ({ method }, outgoing, proceed) => {
  if (method !== 'PUT') return proceed();
  outgoing.writeHead(400).end();
};

/** Lets every file get lost after it was sent whole. */
const loseFiles: Fault = (incoming, outgoing, proceed) => {
  if (incoming.method !== 'PUT') return proceed();
  incoming.resume().on('end', () => outgoing.socket?.destroy());
};

it('R74: the upload of a file to a job stops with a shared ledger while the key has a job that the ledger does not know', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('ledger'));
  write(machine, 'first.csv', 'first,27,01,');
  rowOf(await upload(machine, 'first.csv', shared));
  await machine.clock.advance(MINUTE);
  const job = await submittedElsewhere(machine);
  const refused = await upload(machine, 'tokens.csv', shared);
  expect([refused.code, machine.uploads()], refused.stderr).toEqual([9, 2]);
  expect(errorIn(refused)).toMatchObject({
    unrecorded_jobs: [job],
    alternatives: ['svc au jobs', `svc au ignore ${job}`],
  });
  // A begun ledger is not begun again.
  expect((await upload(machine, 'tokens.csv', shared, '--new-ledger')).code).toBe(9);
  rowOf(await machine.svc(`au ignore ${job} --yes`, shared));
  rowOf(await upload(machine, 'tokens.csv', shared));
  expect(machine.uploads()).toBe(3);
});

it('R74: the upload of a file to a job does not begin a ledger whose key has jobs until --new-ledger, and the command is shown', async () => {
  const machine = await openMachine();
  const job = await submittedElsewhere(machine);
  const { id } = rowOf(await machine.svc('au create'));
  const line = `au upload ${String(id)} tokens.csv`;
  const planned = await machine.svc(`${line} --dry-run`);
  const refused = await machine.svc(line);
  expect([refused.code, machine.uploads()], refused.stderr).toEqual([9, 1]);
  expect([planned.code, errorIn(planned)['unrecorded_jobs']], planned.stderr).toEqual([9, [job]]);
  const { unrecorded_jobs: jobs, alternatives } = errorIn(refused);
  expect(jobs).toEqual([job]);
  expect(alternatives).toContain(`svc au upload ${String(id)} ${machine.path('work/tokens.csv')} --new-ledger`);
  expect((await machine.svc(`${line} --pay-again`)).code).toBe(9);
  const begun = await machine.svc(`${line} --new-ledger`);
  rowOf(begun);
  expect(begun.stderr).toContain(job);
  expect(machine.uploads()).toBe(2);
});

it('the upload of a file to a job warns of a job that the ledger of this machine alone does not know', async () => {
  const machine = await openMachine();
  write(machine, 'first.csv', 'first,27,01,');
  rowOf(await upload(machine, 'first.csv'));
  await machine.clock.advance(MINUTE);
  const job = await submittedElsewhere(machine);
  const warned = await upload(machine, 'tokens.csv');
  rowOf(warned);
  expect(warned.stderr).toMatch(new RegExp(`^warning: .*${job}`, 'm'));
});

it('R75: a dry run of the upload of a file to a job claims nothing and begins no ledger', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('ledger'));
  const { id } = rowOf(await machine.svc('au create', shared));
  const planned = await machine.svc(`au upload ${String(id)} tokens.csv --dry-run`, shared);
  expect([planned.code, machine.uploads(), readdirSync(shared.SVC_LEDGER)], planned.stderr).toEqual([0, 0, []]);
  const other = await upload(machine, 'tokens.csv', shared);
  expect([other.code, machine.uploads()], other.stderr).toEqual([0, 1]);
  const taken = await machine.svc(`au upload ${String(id)} tokens.csv --dry-run`, shared);
  expect([taken.code, machine.uploads()], taken.stderr).toEqual([6, 1]);
});

it('the upload of a file to a job claims no rows while another process works on that job', async () => {
  const machine = await openMachine();
  const { id, tenant_id: tenant } = rowOf(await machine.svc('au create'));
  const place = machine.path(`state/ledger/${String(tenant)}`);
  const other = new SentFile(place, String(id));
  const refused = await other.hold(host(), () => machine.svc(`au upload ${String(id)} tokens.csv`));
  expect([refused.code, existsSync(join(place, 'jobs'))], refused.stderr).toEqual([11, false]);
  rowOf(await machine.svc(`au upload ${String(id)} tokens.csv`));
});

it('R79: the upload of a file to a job does not begin with rows of an open or young cycle until --pay-again', async () => {
  const machine = await openMachine();
  rowOf(await machine.svc('au submit tokens.csv --cycle 2026-12 --wait'));
  write(machine, 'more.csv', ...ROWS, '0b7e2f5a-6f0d-4c57-9d0a-1f6f0f3c1a99,27,01,');
  await machine.clock.advance(DAY);
  const { id } = rowOf(await machine.svc('au create'));
  const line = `au upload ${String(id)} more.csv`;
  expect((await machine.svc(`${line} --dry-run`)).code).toBe(6);
  const refused = await machine.svc(line);
  expect([refused.code, machine.uploads()], refused.stderr).toEqual([6, 1]);
  const more = machine.path('work/more.csv');
  expect(errorIn(refused)).toMatchObject({
    next: `svc au submit ${more} --cycle 2026-12`,
    alternatives: [`svc au upload ${String(id)} ${more} --pay-again`],
  });
  expect((await machine.svc(`${line} --new-ledger`)).code).toBe(6);
  rowOf(await machine.svc(`${line} --pay-again`));
  expect(machine.uploads()).toBe(2);
  await machine.clock.advance(15 * DAY);
  write(machine, 'later.csv', ...ROWS.slice(1));
  expect((await upload(machine, 'later.csv')).code).toBe(6);
});

it('R79: the upload of a file to a job sends nothing while a job of this machine with rows that are not known had the same file', async () => {
  const machine = await openMachine();
  const { job, run } = rowOf(await machine.svc('au submit tokens.csv'));
  // Neither a copy of the file nor the ledger is left, so that only the record of the run has the hash of the file.
  rmSync(machine.path(`state/runs/${String(run)}/run-request.csv`));
  renameSync(machine.path('work/tokens.csv'), machine.path('work/other.csv'));
  rmSync(machine.path('state/ledger'), { recursive: true });
  const refused = await upload(machine, 'other.csv', {}, '--pay-again --new-ledger');
  expect([refused.code, machine.uploads()], refused.stderr).toEqual([9, 1]);
  expect(errorIn(refused)).toMatchObject({
    message: expect.stringContaining(`the rows of job ${String(job)}`),
    next: `svc au status ${String(job)}`,
  });
});

it('R79: the upload of a file to a job sends nothing while the job belongs to another file', async () => {
  const machine = await openMachine();
  write(machine, 'first.csv', 'first,27,01,', 'second,27,01,');
  write(machine, 'turned.csv', 'second,27,01,', 'first,27,01,');
  write(machine, 'other.csv', 'other,27,01,');
  const { id } = rowOf(await machine.svc('au create'));
  machine.fault = refuseUploads;
  expect((await machine.svc(`au upload ${String(id)} first.csv`)).code).not.toBe(0);
  machine.fault = undefined;
  for (const file of ['other.csv', 'turned.csv']) {
    const refused = await machine.svc(`au upload ${String(id)} ${file} --pay-again --new-ledger`);
    expect([refused.code, machine.uploads()], refused.stderr).toEqual([6, 0]);
    expect(errorIn(refused)).toMatchObject({ code: 'conflict', job: id, next: `svc au status ${String(id)}` });
  }
  rowOf(await machine.svc(`au upload ${String(id)} first.csv`));
  expect(machine.uploads()).toBe(1);
});

it('R79: the upload of a file to a job sends nothing while the job belongs to a run', async () => {
  const machine = await openMachine();
  machine.fault = refuseUploads;
  expect((await machine.svc('au submit tokens.csv')).code).not.toBe(0);
  machine.fault = undefined;
  const [part] = machine.record(`state/runs/${machine.runIds()[0] ?? ''}`).parts;
  const refused = await machine.svc(`au upload ${part?.job ?? ''} tokens.csv`);
  expect([refused.code, machine.uploads()], refused.stderr).toEqual([6, 0]);
  expect(errorIn(refused)).toMatchObject({ code: 'conflict', job: part?.job });
  expect((await machine.svc('au submit tokens.csv')).code).toBe(0);
  expect(machine.uploads()).toBe(1);
});

it('R36: the upload of a file to a job sends nothing again after a lost response, while the job does not show the file', async () => {
  const machine = await openMachine();
  const { id } = rowOf(await machine.svc('au create'));
  const line = `au upload ${String(id)} tokens.csv`;
  machine.fault = loseFiles;
  const first = await machine.svc(line);
  const unclear = { code: 'outcome_unknown', job: id, next: `svc au status ${String(id)}` };
  expect([first.code, errorIn(first)], first.stderr).toEqual([9, expect.objectContaining(unclear)]);
  machine.fault = undefined;
  for (const repeated of [await machine.svc(line), await machine.svc(`${line} --dry-run`)])
    expect([repeated.code, errorIn(repeated)], repeated.stderr).toEqual([9, expect.objectContaining(unclear)]);
  expect(machine.uploads()).toBe(0);
});

it('R36: the upload of a file to a job ends with 9 when a lost response is followed by a service that is away', async () => {
  const machine = await openMachine();
  const { id } = rowOf(await machine.svc('au create'));
  let isAway = false;
  machine.fault = (incoming, outgoing, proceed) => {
    if (isAway) return void outgoing.writeHead(503).end();
    if (incoming.method !== 'PUT') return proceed();
    isAway = true;
    loseFiles(incoming, outgoing, proceed);
  };
  const first = await machine.svc(`au upload ${String(id)} tokens.csv`);
  expect([first.code, errorIn(first)['job']], first.stderr).toEqual([9, id]);
});

it('R36: only the machine that claimed a job for a file uploads the file to it', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('ledger'));
  const { id } = rowOf(await machine.svc('au create', shared));
  const line = `au upload ${String(id)} tokens.csv`;
  machine.fault = refuseUploads;
  expect((await machine.svc(line, shared)).code).not.toBe(0);
  machine.fault = undefined;
  const elsewhere = await machine.svc(line, { ...shared, SVC_STATE_DIR: machine.path('elsewhere') });
  expect([elsewhere.code, machine.uploads()], elsewhere.stderr).toEqual([9, 0]);
  rowOf(await machine.svc(line, shared));
  expect(machine.uploads()).toBe(1);
});

it.each([
  ['other', new Set([0, 6])],
  ['the same', new Set([0])],
])('R36: machines that upload %s bytes of the same rows to one job at once send one file', async (bytes, codes) => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('ledger'));
  write(machine, 'turned.csv', ...ROWS.toReversed());
  const { id } = rowOf(await machine.svc('au create', shared));
  const waiting: (() => void)[] = [];
  let puts = 0;
  machine.fault = ({ method = '', url = '' }, _, proceed) => {
    if (method === 'PUT') puts += 1;
    if (!url.startsWith('/account-updater/jobs?') || waiting.length > 1) return proceed();
    // Both list the jobs before either makes a claim.
    if (waiting.push(proceed) === 2) for (const go of waiting) go();
  };
  const uploads = ['tokens.csv', bytes === 'other' ? 'turned.csv' : 'tokens.csv'].map((file, at) => {
    const clock = new FakeClock({ start: machine.clock.now() + at * 1000 });
    const env = { ...shared, SVC_STATE_DIR: machine.path(`state-${at}`) };
    return machine.svc(`au upload ${String(id)} ${file}`, env, clock);
  });
  const ended = await Promise.all(uploads);
  expect(puts).toBe(1);
  expect(new Set(ended.map(({ code }) => code)), ended.map(({ stderr }) => stderr).join('')).toEqual(codes);
});

it.each([
  ['goes on if the claim is of this machine', hostname(), 0, 1],
  ['sends nothing if the claim is of another machine', 'another-host', 9, 0],
])('R36: after an upload that ended while it made its claim, the same command %s', async (_, host, code, uploads) => {
  const machine = await openMachine();
  const { id } = rowOf(await machine.svc('au create'));
  const line = `au upload ${String(id)} tokens.csv`;
  machine.fault = refuseUploads;
  expect((await machine.svc(line)).code).not.toBe(0);
  machine.fault = undefined;
  const kept = readdirSync(machine.path('state/ledger'), { recursive: true, encoding: 'utf8' }).map((name) =>
    machine.path(join('state/ledger', name)),
  );
  for (const file of kept.filter((name) => name.endsWith(`sent/${String(id)}`))) writeFileSync(file, 'claiming');
  for (const file of kept.filter((name) => name.endsWith('00000001.json')))
    writeFileSync(file, readFileSync(file, 'utf8').replace(`"${hostname()}"`, JSON.stringify(host)));
  const dry = await machine.svc(`${line} --dry-run`);
  expect([dry.code, machine.uploads()], dry.stderr).toEqual([code, 0]);
  const again = await machine.svc(line);
  expect([again.code, machine.uploads()], again.stderr).toEqual([code, uploads]);
});

it('R86: the upload of a file to a job ends with 0 and shows no status when the job cannot be read afterwards', async () => {
  const machine = await openMachine();
  const { id } = rowOf(await machine.svc('au create'));
  machine.fault = ({ method }, outgoing, proceed) => {
    if (method === 'GET' && machine.uploads() > 0) outgoing.writeHead(503).end();
    else proceed();
  };
  const uploaded = await machine.svc(`au upload ${String(id)} tokens.csv`);
  expect(rowOf(uploaded)).toMatchObject({ id, status: null });
  expect(uploaded.stderr).toContain(`the store has the file, but job ${String(id)} could not be read`);
  expect(uploaded.stderr).not.toContain('Nothing was changed');
});
