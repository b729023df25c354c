import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { LedgerCycle } from '../../../src/au/ledger/cycle.ts';
import type { EndBody } from '../../../src/au/ledger/entry.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { openMachine } from '../commands/machine.ts';
import { openDesk, openQuickDesk, writeRows } from '../commands/support.ts';
import { JobFaults } from '../job-faults.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';
import { ended, rowOf, rowsIn, succeeded } from '../../support/run-here.ts';

/** Enters everything but the delivery of results, as in a ledger that stops responding. */
async function notDelivered(this: LedgerCycle, end: EndBody): Promise<void> {
  const isDelivery = end.kind === 'done' && end.delivered !== false;
  if (isDelivery) throw new SvcError('server', 'the bucket does not respond');
  await this.append(async () => end);
}

it('svc au resume gets the results of every open job, and two at once do not disturb each other', async () => {
  const { svc, home, uploads } = await openDesk();
  // These are other rows than those of the example.
  writeFileSync(home.file('more.csv'), `${exampleRequestFile().split('\n')[0]}\none-more,,,\n`);
  await svc('au submit tokens.csv');
  await svc('au submit more.csv');
  const line = 'au resume';
  const both = await Promise.all([svc(line), svc(line)]);
  expect(both.some(({ code }) => code === 0 || code === 11)).toBe(true);
  succeeded(await svc(line));
  expect(existsSync(home.file('tokens.results.csv')) && existsSync(home.file('more.results.csv'))).toBe(true);
  expect(uploads()).toBe(2);
});

it('svc au resume overwrites nothing where the place of results is taken, and then names the command that writes them elsewhere', async () => {
  const { svc, home } = await openQuickDesk();
  const { jobs } = rowOf(await svc('au submit tokens.csv'));
  const [cycle = ''] = rowsIn((await svc('au status')).stdout).map((row) => String(row['cycle']));
  const [usual, other] = ['tokens.results.csv', `${cycle}.results.csv`];
  for (const name of [usual, other]) writeFileSync(home.file(name), 'mine');
  ended(await svc('au resume'), 2, `svc au resume ${cycle} --out <file>`);
  for (const name of [usual, other]) expect(readFileSync(home.file(name), 'utf8')).toBe('mine');
  rmSync(home.file(other));
  ended(await svc('au resume'), 0, { row: { cycle, jobs, outcome: 'done', results: { file: other } } });
  expect(readFileSync(home.file(usual), 'utf8')).toBe('mine');
  expect(readFileSync(home.file(other), 'utf8')).toMatch(/^token,/);
});

it('svc au resume says that a job failed before it says that the place of its results is taken', async () => {
  const service = new JobFaults();
  const { svc, home } = await openQuickDesk({ intercept: service.intercept });
  const job = String(rowOf(await svc('au submit tokens.csv --cycle 2026-12'))['job']);
  writeFileSync(home.file('2026-12.results.csv'), `${RESULT_COLUMNS.join(',')}\n`);
  service.failed = [job];
  ended(await svc('au resume'), 10, `job ${job} with 40 rows`);
});

it('svc au resume writes the results of two files with the same name, also after it was killed between them and the ledger', async () => {
  const desk = await openQuickDesk();
  const { svc, home } = desk;
  const rows = { first: 'one,26,12,', second: 'two,26,12,' };
  for (const [folder, row] of Object.entries(rows)) {
    mkdirSync(home.file(folder));
    writeRows(desk, `${folder}/tokens.csv`, row);
    succeeded(await svc(`au submit ${folder}/tokens.csv`));
  }
  const ending = vi.spyOn(LedgerCycle.prototype, 'endClaim').mockImplementation(notDelivered);
  onTestFinished(() => ending.mockRestore());
  const files = async () => rowsIn(succeeded(await svc('au resume')).stdout).map(({ results }) => results);
  const written = await files();
  expect(written).toEqual([
    { file: 'tokens.results.csv' },
    { file: expect.stringMatching(/^file-\w+\.results\.csv$/) },
  ]);
  expect(await files()).toEqual(written);
  ending.mockRestore();
  expect(await files()).toEqual(written);
  expect((await svc('au resume')).stderr).toContain('nothing is open');
});

it.each([
  // The results go into a file with the name of the cycle.
  ['au submit tokens.csv', 'au resume', 'tokens.results.csv', 0],
  ['au submit tokens.csv --cycle 2026-12', 'au resume 2026-12', '2026-12.results.csv', 2],
])(
  'R36: after svc %s, svc %s takes results as delivered whose command was killed before the ledger said so',
  async (submission, line, name, codeOfChanged) => {
    const { svc, home } = await openQuickDesk();
    succeeded(await svc(submission));
    const ending = vi.spyOn(LedgerCycle.prototype, 'endClaim').mockImplementation(notDelivered);
    onTestFinished(() => ending.mockRestore());
    for (let time = 0; time < 2; time += 1)
      expect(succeeded(await svc(line)).stderr).toContain('the ledger still has their jobs as open');
    ending.mockRestore();
    const results = readFileSync(home.file(name), 'utf8');
    const changed = `${results}another,row\n`;
    writeFileSync(home.file(name), changed);
    ended(await svc(line), codeOfChanged);
    expect(readFileSync(home.file(name), 'utf8')).toBe(changed);
    writeFileSync(home.file(name), results);
    succeeded(await svc(line));
    expect((await svc('au resume')).stderr).toContain('nothing is open');
  },
);

it('svc au resume without a job that it could look for needs no key', async () => {
  const { svc } = await openQuickDesk();
  succeeded(await svc('au submit tokens.csv --wait'));
  succeeded(await svc('au resume', { SVC_PRIVATE_API_KEY: '', SVC_MANAGEMENT_API_KEY: '' }));
});

it('svc au resume goes on with a cycle at another address of its service, once it was submitted there too', async () => {
  const { svc, sandbox } = await openQuickDesk({ processingMs: 3_600_000 });
  const there = { SVC_BASE_URL: sandbox.url.replace('127.0.0.1', 'localhost') };
  succeeded(await svc('au submit tokens.csv --cycle 2026-12'));
  succeeded(await svc('au submit tokens.csv --cycle 2026-12', there));
  ended(await svc('au resume', there), 11, { stdout: expect.stringContaining('"outcome":"pending"') });
});

it('svc au resume names the command that waits while jobs are under way', async () => {
  const { svc } = await openQuickDesk({ processingMs: 3_600_000 });
  succeeded(await svc('au submit tokens.csv --cycle 2026-12'));
  ended(await svc('au resume'), 11, 'svc au resume --wait');
  ended(await svc('au resume --wait'), 0, { unsaid: 'au resume' });
});

it.each(['au resume', 'au resume --wait'])(
  'svc %s ends with 3 without the ledger that this machine shares, and with 0 for a tenant without one',
  async (line) => {
    const machine = await openMachine();
    const shared = sharedLedger(machine.path('shared'));
    succeeded(await machine.svc('au submit tokens.csv --cycle 2026-12 --wait', shared));
    succeeded(await machine.svc(line, shared));
    ended(await machine.svc(line), 3, `ledger is ${machine.path('shared')}, and no ledger is set`);
    const other = await machine.tenant(2);
    succeeded(await machine.svc(line, { SVC_BASE_URL: other.url }));
  },
);

it('svc au resume --wait waits for the jobs that are under way beside one that failed, and writes their results', async () => {
  const service = new JobFaults();
  const desk = await openQuickDesk({ processingMs: 3_600_000, intercept: service.intercept });
  const jobs: string[] = [];
  for (const name of ['failed', 'other']) {
    writeRows(desk, `${name}.csv`, `row-of-${name},26,12,`);
    jobs.push(String(rowOf(await desk.svc(`au submit ${name}.csv --cycle 2026-12`))['job']));
  }
  service.failed = jobs.slice(0, 1);
  const began = desk.clock.now();
  ended(await desk.svc('au resume --wait'), 10, 'has 1 row of failed.csv', {
    row: { cycle: '2026-12', results: { file: '2026-12.results.csv' }, outcome: 'job_failed' },
  });
  expect(desk.clock.now() - began).toBeGreaterThan(3_500_000);
});
