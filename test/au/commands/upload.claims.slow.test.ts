import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { host } from '../../client/transfer/support.ts';
import { errorIn, rowOf } from '../../support/run-here.ts';
import { type Machine, openMachine } from './machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { MINUTE, loseFiles, refuseUploads, submittedElsewhere, upload } from './uploading.ts';
const [HEADER = ''] = exampleRequestFile().split('\n', 1);

function write(machine: Machine, name: string, ...rows: readonly string[]): void {
  writeFileSync(machine.path(join('work', name)), [HEADER, ...rows, ''].join('\n'));
}

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
  const refused = await machine.files(String(id)).hold(host(), () => machine.svc(`au upload ${String(id)} tokens.csv`));
  expect([refused.code, existsSync(join(place, 'jobs'))], refused.stderr).toEqual([11, false]);
  rowOf(await machine.svc(`au upload ${String(id)} tokens.csv`));
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
  machine.files(String(id)).record('claiming');
  const kept = readdirSync(machine.path('state/ledger'), { recursive: true, encoding: 'utf8' }).map((name) =>
    machine.path(join('state/ledger', name)),
  );
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
