import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, errorIn, rowOf, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';
import { JobFaults } from '../job-faults.ts';

// A low limit splits even small files into several jobs.
vi.mock('../../../src/schema/account-updater-files.ts', async (original) => ({
  ...(await original<object>()),
  MAX_REQUEST_FILE_ROWS: 20,
}));

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const DAY_MS = 86_400_000;
const REFRESH = 'au refresh export.csv --cycle 2026-12 --fail-on err=100%';

/** A desk whose service can forget jobs. Each machine has its own state, and shares the ledger and the refresh directory. */
async function openForgetful(rows: readonly string[] = ROWS.slice(0, 20)) {
  const service = new JobFaults();
  const desk = await openQuickDesk({ tenants: ['production'], merchants: ['M1', 'M2'], intercept: service.intercept });
  const { on } = desk;
  const write = (rows: readonly string[]): void =>
    writeFileSync(desk.home.file('export.csv'), `${[HEADER, ...rows].join('\n')}\n`);
  write(rows);
  const { jobs } = rowOf(await on('runner', REFRESH)) as { readonly jobs: readonly string[] };
  await desk.clock.advance(10 * DAY_MS);
  service.forgotten = jobs;
  const results = desk.home.file('refresh/2026-12/results.csv');
  return {
    desk,
    jobs,
    service,
    write,
    on,
    results,
    rows: (): string[] => readFileSync(results, 'utf8').trimEnd().split('\n').slice(1),
  };
}

it('svc au refresh --add joins new results with results.csv, where the service has forgotten the job of the earlier ones', async () => {
  const { desk, write, on, rows } = await openForgetful();
  const before = rows();
  write(ROWS);
  ended(await on('other-runner', `${REFRESH} --add`), 0, { row: { status: 'completed', rows: ROWS.length } });
  expect(rows().slice(0, before.length)).toEqual(before);
  expect(rows().length).toBeGreaterThan(before.length);
  expect(desk.uploads()).toBe(2);
});

it('svc au refresh --add ends with 9 where a forgotten job has results that neither a machine nor results.csv has', async () => {
  const { write, on, results } = await openForgetful();
  rmSync(results);
  write(ROWS);
  ended(await on('other-runner', `${REFRESH} --add`), 9, {
    error: { message: expect.stringContaining('the service does not find job ') },
  });
  ended(await on('runner', REFRESH), 0, { uploads: 2 });
});

it.each([0, 1])(
  'svc au refresh leaves results.csv as it is, where the service has forgotten one of two jobs of a file, but not the one at %i',
  async (known) => {
    const { jobs, service, on, rows } = await openForgetful(ROWS);
    expect(jobs).toHaveLength(2);
    const before = rows();
    service.forgotten = jobs.filter((_, at) => at !== known);
    ended(await on('other-runner', REFRESH), 0, { row: { status: 'completed', rows: ROWS.length } });
    expect(rows()).toEqual(before);
  },
);

it.each([0, 1])(
  'R71: svc au refresh ends with 12 and leaves results.csv, where the service has forgotten one of two jobs with a token, but not the one at %i',
  async (known) => {
    const [A = '', B = ''] = ROWS.map((row) => row.slice(0, 36));
    const { jobs, service, on, rows } = await openForgetful([`${A},28,05,M1`, `${B},28,05,M1`, `${A},28,05,M2`]);
    const before = rows();
    service.forgotten = jobs.filter((_, at) => at !== known);
    const refused = ended(await on('other-runner', REFRESH), 12);
    const { message, next } = errorIn(refused);
    expect([message, next]).toEqual([
      `the service does not find job ${jobs[1 - known]}, and results.csv does not show which results are of that job: it has a token that another job has too`,
      'svc au status 2026-12',
    ]);
    expect(rows()).toEqual(before);
    succeeded(await on('other-runner', String(next).slice(4)));
    succeeded(await on('runner', REFRESH));
    expect(rows()).toEqual(before);
  },
);
