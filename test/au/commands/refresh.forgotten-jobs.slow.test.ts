import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, rowOf } from '../../support/run-here.ts';
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
async function openForgetful() {
  const service = new JobFaults();
  const desk = await openQuickDesk({ tenants: ['production'], intercept: service.intercept });
  const { on } = desk;
  const write = (rows: readonly string[]): void =>
    writeFileSync(desk.home.file('export.csv'), `${[HEADER, ...rows].join('\n')}\n`);
  write(ROWS.slice(0, 20));
  const { jobs } = rowOf(await on('runner', REFRESH)) as { readonly jobs: readonly string[] };
  await desk.clock.advance(10 * DAY_MS);
  service.forgotten = jobs;
  const results = desk.home.file('refresh/2026-12/results.csv');
  return { desk, write, on, rows: (): string[] => readFileSync(results, 'utf8').trimEnd().split('\n').slice(1) };
}

it('svc au refresh --add ends with 9 and leaves results.csv on a machine without results that the service has forgotten', async () => {
  const { desk, write, on, rows } = await openForgetful();
  const before = rows();
  write(ROWS);
  ended(await on('other-runner', `${REFRESH} --add`), 9, {
    error: { message: expect.stringContaining('the service does not find job ') },
  });
  expect(rows()).toEqual(before);
  ended(await on('runner', REFRESH), 0, { uploads: 2 });
  expect(rows().slice(0, before.length)).toEqual(before);
  expect(desk.uploads()).toBe(2);
});
