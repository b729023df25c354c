import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sha256Of } from '../../../src/base/files/draft.ts';
import { thisHost } from '../../../src/base/files/lock-owner.ts';
import { ended, rowOf, succeeded } from '../../support/run-here.ts';
import { openDesk, openQuickDesk, type QuickDesk } from './support.ts';

const OLD = new Date('2020-01-01T00:00:00.000Z');
const PRUNE = 'au prune --older-than 90d';

/** Makes the files of a job look as if they had been written long ago. */
function age(desk: QuickDesk, job: string): void {
  const { directory } = desk.files(job);
  for (const name of readdirSync(directory)) utimesSync(join(directory, name), OLD, OLD);
}

async function submitted(desk: QuickDesk, line: string): Promise<string> {
  return String(rowOf(await desk.svc(line))['job']);
}

it('R58: svc au prune removes the old files of a job whose results were received, and its file is still paid for once', async () => {
  const desk = await openQuickDesk();
  const job = await submitted(desk, 'au submit tokens.csv --cycle 2020-01 --wait --out mine.csv');
  age(desk, job);
  const mine = readFileSync(desk.home.file('mine.csv'), 'utf8');

  const shown = await desk.svc(`${PRUNE} --dry-run`);
  expect(JSON.parse(shown.stdout)).toMatchObject({ job, files: 3, bytes: expect.any(Number) });
  expect(shown.stderr).toContain('dry run: the files of 1 job (');
  ended(await desk.svc(PRUNE), 2, '--yes');
  expect(desk.jobs()).toEqual([job]);

  // It needs no service.
  succeeded(await desk.svc(`${PRUNE} --yes`, { SVC_BASE_URL: '', SVC_PRIVATE_API_KEY: '' }));
  expect(desk.jobs()).toEqual([]);
  expect(readFileSync(desk.home.file('mine.csv'), 'utf8')).toBe(mine);
  expect((await desk.svc(`${PRUNE} --yes`)).stderr).toContain('no files to prune');
  // A process that was killed may have left a directory without files.
  mkdirSync(desk.files(job).directory);
  utimesSync(desk.files(job).directory, OLD, OLD);
  succeeded(await desk.svc(`${PRUNE} --yes`));
  expect(desk.jobs()).toEqual([]);

  // The service still has the results.
  ended(await desk.svc('au submit tokens.csv --cycle 2020-01 --wait --out other.csv'), 0, {
    row: { job, status: 'already_submitted' },
  });
  expect(readFileSync(desk.home.file('other.csv'), 'utf8')).toBe(mine);
  expect(desk.uploads()).toBe(1);
});

it('svc au prune keeps the files of jobs whose results nobody received, and young ones', async () => {
  const desk = await openQuickDesk();
  const open = await submitted(desk, 'au submit tokens.csv');
  const [header = ''] = readFileSync(desk.home.file('tokens.csv'), 'utf8').split('\n');
  writeFileSync(desk.home.file('more.csv'), `${header}\nother,,,\n`);
  const young = await submitted(desk, 'au submit more.csv --wait');
  age(desk, open);
  expect(await desk.svc(`${PRUNE} --yes`)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('no files to prune'),
  });
  expect(desk.jobs().toSorted()).toEqual([open, young].toSorted());
});

it('svc au prune removes the files of a job that was open when this machine began to share its ledger, once its results were received', async () => {
  const desk = await openQuickDesk({ processingMs: 60_000 });
  const job = await submitted(desk, 'au submit tokens.csv --cycle 2020-01');
  const { SVC_LEDGER } = desk.envOf('this machine');
  ended(await desk.svc('au resume', { SVC_LEDGER }), 11);
  age(desk, job);
  expect((await desk.svc(`${PRUNE} --yes`, { SVC_LEDGER })).stderr).toContain('no files to prune');
  succeeded(await desk.svc('au resume --wait', { SVC_LEDGER }));
  age(desk, job);
  expect((await desk.svc([], { SVC_LEDGER })).stdout).toMatch(/^svc: the card vault/);
  succeeded(await desk.svc(`${PRUNE} --yes`, { SVC_LEDGER }));
  expect(desk.jobs()).toEqual([]);
});

it('svc au prune names the directory of an old cycle of svc au refresh without removing it', async () => {
  const desk = await openQuickDesk();
  rowOf(await desk.svc('au refresh tokens.csv --cycle 2020-01 --fail-on err=60%'));
  expect((await desk.svc(`${PRUNE} --yes`)).stderr).not.toContain('rm -r');
  const [job = ''] = desk.jobs();
  age(desk, job);
  utimesSync(desk.home.file('refresh/2020-01/refresh.json'), OLD, OLD);
  ended(
    await desk.svc(`${PRUNE} --yes`),
    0,
    '1 cycle in refresh has not been written to for as long',
    '  rm -r refresh/2020-01\n',
  );
  expect(desk.jobs()).toEqual([]);
  expect(existsSync(desk.home.file('refresh/2020-01/results.csv'))).toBe(true);
});

it('svc au prune removes what killed processes left in the spool', async () => {
  const desk = await openDesk();
  const spool = desk.home.file('.local/state/svc/spool');
  mkdirSync(spool, { recursive: true });
  const left = join(spool, `${sha256Of(thisHost()).slice(0, 8)}-4194304-0123456789ab.csv`);
  writeFileSync(left, 'token');
  await desk.svc(`${PRUNE} --yes`);
  expect(existsSync(left)).toBe(false);
});

it('svc au prune needs to be told how old, before anything else', async () => {
  const desk = await openQuickDesk();
  ended(await desk.svc('au prune --yes'), 2, '--older-than');
});

it('svc au jobs shows the file and the cycle of each job that is in the ledger, and finds jobs by status and age', async () => {
  const desk = await openQuickDesk();
  await submitted(desk, 'au submit tokens.csv --cycle 2020-01 --wait');
  const created = rowOf(await desk.svc('au create'));
  const rows = async (line: string): Promise<Record<string, unknown>[]> => {
    const { stdout } = await desk.svc(`${line} -o json`);
    return JSON.parse(stdout) as Record<string, unknown>[];
  };
  const sent = { status: 'completed', cycle: '2020-01', file: 'tokens.csv' };
  expect(await rows('au jobs')).toMatchObject([
    { id: created['id'], status: 'pending', cycle: null, file: null },
    sent,
  ]);
  expect(await rows('au jobs --status completed')).toMatchObject([sent]);
  expect(await rows('au jobs --since 1h --status pending')).toMatchObject([{ id: created['id'] }]);
  expect(await rows('au jobs --since 2099-01-01')).toEqual([]);
  const none = await desk.svc('au jobs --status failed');
  expect(none.stderr).toContain('no jobs match; 2 jobs were read');
});
