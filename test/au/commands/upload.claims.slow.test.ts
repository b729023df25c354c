import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { host } from '../../client/transfer/support.ts';
import { ended, errorIn, rowOf } from '../../support/run-here.ts';
import { type Machine, openMachine } from './machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { hideJobs } from '../jobs/missing.ts';
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
  const refused = ended(await machine.svc(line), 9, { uploads: 1 });
  expect([planned.code, errorIn(planned)['unrecorded_jobs']], planned.stderr).toEqual([9, [job]]);
  const { unrecorded_jobs: jobs, alternatives } = errorIn(refused);
  expect(jobs).toEqual([job]);
  expect(alternatives).toContain(`svc au upload ${String(id)} ${machine.path('work/tokens.csv')} --new-ledger`);
  ended(await machine.svc(`${line} --accept past --pay-again`), 9, {
    error: { alternatives: ['svc au jobs', expect.stringMatching(/ --accept past --pay-again --new-ledger$/)] },
  });
  ended(await machine.svc(`${line} --new-ledger`), 0, job, { uploads: 2 });
});

it('the upload of a file to a job warns of a job that the ledger of this machine alone does not know', async () => {
  const machine = await openMachine();
  write(machine, 'first.csv', 'first,27,01,');
  rowOf(await upload(machine, 'first.csv'));
  await machine.clock.advance(MINUTE);
  const job = await submittedElsewhere(machine);
  ended(await upload(machine, 'tokens.csv'), 0, new RegExp(`^warning: .*${job}`, 'm'));
});

it('R75: a dry run of the upload of a file to a job claims nothing and begins no ledger', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('ledger'));
  const { id } = rowOf(await machine.svc('au create', shared));
  const planned = await machine.svc(`au upload ${String(id)} tokens.csv --dry-run`, shared);
  expect([planned.code, machine.uploads(), readdirSync(shared.SVC_LEDGER)], planned.stderr).toEqual([0, 0, []]);
  ended(await upload(machine, 'tokens.csv', shared), 0, { uploads: 1 });
  ended(await machine.svc(`au upload ${String(id)} tokens.csv --dry-run`, shared), 6, { uploads: 1 });
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
    ended(await machine.svc(`au upload ${String(id)} ${file} --pay-again --new-ledger`), 6, {
      uploads: 0,
      error: { code: 'conflict', job: id, next: `svc au status ${String(id)}` },
    });
  }
  rowOf(await machine.svc(`au upload ${String(id)} first.csv`));
  expect(machine.uploads()).toBe(1);
});

it('R58: the upload of a file to a job ends with 9 while the service does not find another job with its rows', async () => {
  const machine = await openMachine();
  const { job } = rowOf(await machine.svc('au submit tokens.csv'));
  machine.fault = (...exchange) => (exchange[0].url?.endsWith(String(job)) ? hideJobs(...exchange) : exchange[2]());
  const refused = ended(await upload(machine, 'tokens.csv'), 9, { uploads: 1, error: { jobs: [job] } });
  expect(errorIn(refused)['message']).toContain('nothing was sent');
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
  ended(await machine.svc(`au upload ${String(id)} tokens.csv`), 9, { error: { job: id } });
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
  ended(await machine.svc(`${line} --dry-run`), code, { uploads: 0 });
  ended(await machine.svc(line), code, { uploads: uploads });
});

it('R86: the upload of a file to a job ends with 0 and shows no status when the job cannot be read afterwards', async () => {
  const machine = await openMachine();
  const { id } = rowOf(await machine.svc('au create'));
  machine.fault = ({ method }, outgoing, proceed) => {
    if (method === 'GET' && machine.uploads() > 0) outgoing.writeHead(503).end();
    else proceed();
  };
  ended(
    await machine.svc(`au upload ${String(id)} tokens.csv`),
    0,
    `the store has the file, but job ${String(id)} could not be read`,
    { row: { id, status: null }, unsaid: 'Nothing was changed' },
  );
});
