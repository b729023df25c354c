import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { openQuickDesk } from '../../au/commands/support.ts';
import { systemClock } from '../../../src/base/system.ts';
import { ended, errorIn, type HereResult, rowOf, succeeded, svcIn } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';

it('R58: svc reset loses no job until its results were received', async () => {
  const desk = await openQuickDesk({ processingMs: 60_000 });
  const { job } = rowOf(await desk.svc('au submit tokens.csv --cycle 2026-12'));
  rmSync(desk.home.file('.local/state/svc/jobs'), { recursive: true });
  expect(errorIn(await desk.svc('reset --yes'))['message']).toContain(`nobody has the results: ${String(job)}`);
  succeeded(await desk.svc('au resume 2026-12 --wait'));
  succeeded(await desk.svc('reset --yes'));
  // The request and the results of the job are removed too.
  expect(existsSync(desk.home.file('.local/state/svc'))).toBe(false);
});

it('R58: svc reset names every open job, however many files were submitted since, and none that a shared ledger has', async () => {
  const home = new Home();
  const tenant = 'state/ledger/tenant-1';
  const enter = (file: string, entry: object): void => {
    mkdirSync(dirname(home.file(file)), { recursive: true });
    writeFileSync(home.file(file), JSON.stringify({ version: 1, at: '2026-12-01T00:00:00.000Z', ...entry }));
  };
  const jobs = Array.from({ length: 8 }, (_, at) => `job-${at}`);
  for (const job of jobs) enter(`${tenant}/cycles/file-${job}/00000001.json`, { kind: 'claim', job });
  const svc = (...argv: string[]): Promise<HereResult> =>
    svcIn(home.path, argv, { env: { SVC_STATE_DIR: home.file('state') }, clock: systemClock });
  expect((await svc()).stdout).toMatch(/^8 jobs open for /);
  ended(await svc('reset', '--dry-run'), 6, {
    error: { message: `8 jobs may be billed, and nobody has the results: ${jobs.join(', ')}` },
  });
  // The machine has copied the claims of all but one, as if it had been killed then.
  for (const job of jobs.slice(1))
    enter(`${tenant}/seen/location/tenant-1/cycles/file-${job}/00000001.json`, { kind: 'claim', job });
  enter(`${tenant}/moved.json`, { ledger: '/shared' });
  expect((await svc()).stdout).toMatch(/^8 jobs open for /);
  ended(await svc('reset', '--dry-run'), 6, {
    error: { message: '1 job may be billed, and nobody has the results: job-0' },
  });
  succeeded(await svc('reset', '--yes', '--forget', 'job-0'));
});
