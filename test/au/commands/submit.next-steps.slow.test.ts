import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ended, errorIn, succeeded, svcHere, rowsIn } from '../../support/run-here.ts';
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

/** A desk whose service creates three jobs and is busy then, and a file whose rows need five jobs. */
async function openBusyAfterThreeJobs() {
  let left = 3;
  const desk = await openQuickDesk({
    intercept: ({ method }, outgoing, proceed) =>
      method === 'POST' && (left -= 1) < 0 ? outgoing.writeHead(429, { 'retry-after': '900' }).end() : proceed(),
  });
  const rows = ['a', 'b', 'c', 'd', 'e'].map((merchant) => `one-token,26,12,${merchant}`);
  return { ...desk, input: [HEADER, ...rows, ''].join('\n'), goOn: () => void (left = Infinity) };
}

it('R84: a submission of standard input that stopped while no job had some of its rows names itself, and sends only these', async () => {
  const { svc, input, goOn } = await openBusyAfterThreeJobs();
  const line = 'au submit - --wait --out r.csv';
  const stopped = await svc(`${line} --timeout 10m --max-wait 2h`, {}, input);
  expect([stopped.uploads, errorIn(stopped)], stopped.stderr).toMatchObject([3, { next: `svc ${line}` }]);
  goOn();
  ended(await svc(line, {}, input), 0, { uploads: 5, row: { rows: 5, sent: 5 } });
});

it.each(['file-', '2026-12'])(
  'R72: the cycle %s of a file that was sent in part ends with 10 until the rest is sent, and has the results of the others',
  async (cycle) => {
    const { svc, input, goOn, home } = await openBusyAfterThreeJobs();
    writeFileSync(home.file('five.csv'), input);
    const line = cycle === 'file-' ? 'au submit five.csv' : `au submit five.csv --cycle ${cycle}`;
    ended(await svc(`${line} --timeout 10m --max-wait 2h`), 8, { uploads: 3 });
    ended(await svc('au resume --wait'), 10, 'has 2 of 5 rows of five.csv', {
      row: { cycle: expect.stringContaining(cycle), rows: 3, outcome: 'job_failed', results: expect.anything() },
    });
    ended(await svc('au resume'), 10, 'has 2 of 5 rows of five.csv', line);
    ended(await svc('au status'), 0, 'no job has 2 rows', { row: { rows: 3, open_jobs: [], lost_rows: 2 } });
    goOn();
    ended(await svc(`${line} --wait --out all.csv`), 0, { uploads: 5, row: { rows: 5 } });
    succeeded(await svc('au resume'));
  },
);

it('svc au abandon leaves rows that never had a job out of their cycle', async () => {
  const { svc, input, goOn, home } = await openBusyAfterThreeJobs();
  writeFileSync(home.file('five.csv'), input);
  ended(await svc('au submit five.csv --cycle c --timeout 10m --max-wait 2h'), 8, { uploads: 3 });
  const [, words] = /(svc au abandon \S+)/.exec(ended(await svc('au resume --wait'), 10).stderr) ?? [];
  ended(await svc(`${words?.slice(4)} --yes`), 0, { row: { progress: 'left out of the cycle' } });
  ended(await svc('au resume'), 0, 'nothing is open');
  ended(await svc('au resume c --force'), 0, 'cycle c completed');
  goOn();
  // The rows can still be submitted.
  ended(await svc('au submit five.csv --cycle c --wait --out all.csv'), 0, { uploads: 5, row: { rows: 5 } });
});

/** A desk with the results of three of five rows, whose other rows have jobs now. */
async function openIncomplete() {
  const desk = await openBusyAfterThreeJobs();
  writeFileSync(desk.home.file('five.csv'), desk.input);
  ended(await desk.svc('au submit five.csv --timeout 10m --max-wait 2h'), 8, { uploads: 3 });
  ended(await desk.svc('au resume --wait'), 10, 'svc au resume then replaces the results');
  desk.goOn();
  const file = desk.home.file('five.results.csv');
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(4);
  return { ...desk, file };
}

describe('incomplete results that svc au resume wrote', () => {
  it.each(['au resume', 'au resume --wait', 'au resume <cycle>', 'au submit five.csv --wait'])(
    'are replaced by svc %s with the results of all jobs',
    async (line) => {
      const { svc, file } = await openIncomplete();
      succeeded(await svc('au submit five.csv'));
      const [cycle = ''] = rowsIn((await svc('au status')).stdout).map((row) => String(row['cycle']));
      succeeded(await svc(line.replace('<cycle>', cycle)));
      expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(6);
      ended(await svc('au resume'), 0, 'nothing is open');
    },
  );

  it.each(['au resume', 'au resume --wait', 'au submit five.csv --wait'])(
    'stay where svc %s finds them changed',
    async (line) => {
      const { svc, file } = await openIncomplete();
      succeeded(await svc('au submit five.csv'));
      const changed = readFileSync(file, 'utf8').split('\n').slice(0, 2).join('\n');
      writeFileSync(file, changed);
      ended(await svc(line), 2, 'five.results.csv');
      expect(readFileSync(file, 'utf8')).toBe(changed);
    },
  );
});
