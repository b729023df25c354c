import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ended, errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { JobFaults } from '../job-faults.ts';
import { HEADER } from '../rows.ts';
import { openMachine } from './machine.ts';
import { openQuickDesk } from './support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it.each([
  ['au submit q.csv --out -', 'svc au download <job> --out -'],
  ['au report r.csv', 'svc au download <job> --out <file>'],
])('%s fails with the command that helps', async (line, next) => {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'r.csv'), 'token,result_code\n"open');
  const result = await svcHere(line.split(' '), { cwd, baseUrl: new URL('http://127.0.0.1:9') });
  expect(errorIn(result)).toMatchObject({ next });
});

it('a submission that a young cycle refuses names commands with the options typed', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc('au submit tokens.csv --cycle first-half --wait'));
  const file = machine.path('work/tokens.csv');
  const typed = `au submit ${file} --only-recorded --wait --out ${machine.path('work/r.csv')} --fail-on err`;
  ended(await machine.svc(`${typed} --cycle second-half`), 6, {
    error: { next: `svc ${typed} --cycle first-half`, alternatives: [`svc ${typed} --cycle second-half --pay-again`] },
  });
});

it('a submission with an empty ledger names the command that begins it with the options typed', async () => {
  const machine = await openMachine();
  succeeded(await machine.svc('au submit tokens.csv'));
  await machine.clock.advance(60_000);
  const file = machine.path('work/tokens.csv');
  const out = machine.path('work/r.csv');
  const line = `au submit ${file} --only-recorded --wait --out ${out} --fail-on err --cycle c9`;
  ended(await machine.svc(line, { SVC_STATE_DIR: machine.path('elsewhere') }), 9, {
    error: { alternatives: ['svc au jobs', `svc ${line} --new-ledger`] },
  });
});

it('an interrupted submission with --pay-again names a command with --pay-again, which resuming does not take', async () => {
  let isBusy = false;
  const { svc } = await openQuickDesk({
    intercept: ({ method }, outgoing, proceed) =>
      isBusy && method === 'POST' ? outgoing.writeHead(429, { 'retry-after': '900' }).end() : proceed(),
  });
  succeeded(await svc('au submit tokens.csv --cycle first-half --wait --yes'));
  const line = 'au submit tokens.csv --cycle second-half --wait --out second.csv --pay-again';
  isBusy = true;
  const interrupted = await svc(`${line} --yes --timeout 10m --max-wait 2h`);
  expect(errorIn(interrupted), interrupted.stderr).toMatchObject({
    code: 'timeout',
    next: 'svc au submit tokens.csv --pay-again --wait --out second.csv --cycle second-half',
  });
  isBusy = false;
  ended(await svc(`${line} --yes`), 0, { uploads: 2 });
});

it('an interrupted submission of standard input names the command that gets its results, and one that failed itself', async () => {
  const service = new JobFaults();
  const desk = await openQuickDesk({ processingMs: 3_600_000, intercept: service.intercept });
  const input = readFileSync(desk.home.file('tokens.csv'));
  const stopped = await desk.svc('au submit - --wait --out r.csv --timeout 10m', {}, input);
  const { code, next } = errorIn(stopped);
  expect([stopped.code, code, next]).toEqual([
    11,
    'pending',
    expect.stringMatching(/^svc au resume file-\w+ --wait --out r\.csv$/),
  ]);
  succeeded(await desk.svc(String(next).split(' ').slice(1)));
  const other = [HEADER, 'other,26,12,', ''].join('\n');
  service.say = (shown) =>
    shown['status'] === 'processing' ? { ...shown, status: 'failed', errors: ['made up'] } : shown;
  ended(await desk.svc('au submit - --wait --out other.csv', {}, other), 10, {
    error: { next: 'svc au submit - --wait --out other.csv' },
  });
});

it('a submission of standard input that was stopped before any job had its rows names itself', async () => {
  const desk = await openQuickDesk({
    intercept: ({ method }, outgoing, proceed) =>
      method === 'POST' ? outgoing.writeHead(429, { 'retry-after': '900' }).end() : proceed(),
  });
  const line = 'au submit - --wait --out r.csv';
  const stopped = await desk.svc(`${line} --timeout 10m --max-wait 2h`, {}, readFileSync(desk.home.file('tokens.csv')));
  expect(errorIn(stopped), stopped.stderr).toMatchObject({ next: `svc ${line}` });
});
