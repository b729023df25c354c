import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { FakeClock } from '../../support/clock.ts';
import { ended, errorIn, rowOf } from '../../support/run-here.ts';
import { type Machine, openMachine } from './machine.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { MINUTE, loseFiles, refuseUploads, submittedElsewhere, upload } from './uploading.ts';
const DAY = 86_400_000;
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

function write(machine: Machine, name: string, ...rows: readonly string[]): void {
  writeFileSync(machine.path(join('work', name)), [HEADER, ...rows, ''].join('\n'));
}

it('R74: the upload of a file to a job stops with a shared ledger while the key has a job that the ledger does not know', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('ledger'));
  write(machine, 'first.csv', 'first,27,01,');
  rowOf(await upload(machine, 'first.csv', shared));
  await machine.clock.advance(MINUTE);
  const job = await submittedElsewhere(machine);
  ended(await upload(machine, 'tokens.csv', shared), 9, {
    uploads: 2,
    error: { unrecorded_jobs: [job], alternatives: ['svc au jobs', `svc au ignore ${job}`] },
  });
  // A begun ledger is not begun again.
  ended(await upload(machine, 'tokens.csv', shared, '--new-ledger'), 9);
  rowOf(await machine.svc(`au ignore ${job} --yes`, shared));
  rowOf(await upload(machine, 'tokens.csv', shared));
  expect(machine.uploads()).toBe(3);
});

it('R79: the upload of a file to a job does not begin with rows of an open or young cycle until --pay-again', async () => {
  const machine = await openMachine();
  rowOf(await machine.svc('au submit tokens.csv --cycle 2026-12 --wait'));
  write(machine, 'more.csv', ...ROWS, '0b7e2f5a-6f0d-4c57-9d0a-1f6f0f3c1a99,27,01,');
  await machine.clock.advance(DAY);
  const { id } = rowOf(await machine.svc('au create'));
  const line = `au upload ${String(id)} more.csv`;
  ended(await machine.svc(`${line} --dry-run`), 6);
  const refused = ended(await machine.svc(line), 6, { uploads: 1 });
  const more = machine.path('work/more.csv');
  expect(errorIn(refused)).toMatchObject({
    next: `svc au submit ${more} --cycle 2026-12`,
    alternatives: [`svc au upload ${String(id)} ${more} --pay-again`],
  });
  ended(await machine.svc(`${line} --new-ledger`), 6);
  rowOf(await machine.svc(`${line} --pay-again`));
  expect(machine.uploads()).toBe(2);
  await machine.clock.advance(15 * DAY);
  write(machine, 'later.csv', ...ROWS.slice(1));
  ended(await upload(machine, 'later.csv'), 6);
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

it('R36: only the machine that claimed a job for a file uploads the file to it', async () => {
  const machine = await openMachine();
  const shared = sharedLedger(machine.path('ledger'));
  const { id } = rowOf(await machine.svc('au create', shared));
  const line = `au upload ${String(id)} tokens.csv`;
  machine.fault = refuseUploads;
  expect((await machine.svc(line, shared)).code).not.toBe(0);
  machine.fault = undefined;
  ended(await machine.svc(line, { ...shared, SVC_STATE_DIR: machine.path('elsewhere') }), 9, { uploads: 0 });
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
