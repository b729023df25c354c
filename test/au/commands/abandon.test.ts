import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ended, errorIn, rowOf, succeeded, svcHere } from '../../support/run-here.ts';
import { sentDesk } from './abandoning.ts';

async function refusal(word: string): Promise<unknown> {
  return errorIn(await svcHere(['--sandbox', 'au', 'abandon', word]))['message'];
}

it('svc au abandon refuses a word that is no job, and does not repeat it, since it may be a secret', async () => {
  expect(await refusal('nope')).toBe('no rows of such a job were found in the ledger');
  expect(await refusal('key_7Qz4Xw91')).not.toContain('7Qz4');
});

it.each([
  { status: 'completed', next: 'svc au download' },
  { status: 'processing', next: 'svc au resume' },
])('R79: svc au abandon frees no rows of a job that is $status', async ({ status, next }) => {
  const desk = await sentDesk();
  desk.said.statuses = [status];
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 6, {
    stdout: '',
    error: { job: desk.job, next: expect.stringContaining(`${next} ${desk.job}`) },
  });
  desk.said.statuses = [];
  await desk.svc('au submit tokens.csv --cycle 2026-12 --wait');
  expect(desk.uploads()).toBe(1);
});

it('R79: svc au abandon frees no rows of a job whose file the store confirmed, although the service says that it is pending', async () => {
  const desk = await sentDesk();
  desk.said.statuses = ['pending'];
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 6, {
    stdout: '',
    error: {
      message: `the rows of job ${desk.job} are not free: the store confirmed its file`,
      next: `svc au resume ${desk.job} --wait`,
    },
  });
});

it('svc au abandon warns that another machine may be uploading the file of a job that is pending', async () => {
  const desk = await sentDesk();
  desk.said.statuses = ['pending'];
  rmSync(desk.home.file('.local/state/svc/jobs'), { recursive: true });
  ended(
    await desk.svc(`au abandon ${desk.job} --yes`),
    0,
    /warning: svc of \S+@\S+ may be uploading its file now: make sure that it has ended/,
  );
});

it('the rows of a job that failed stay open until another job has them', async () => {
  const desk = await sentDesk();
  desk.said.statuses = ['failed'];
  ended(await desk.svc('au resume'), 10);
  const { rows } = rowOf(await desk.svc('au status'));
  const again = `svc au submit tokens.csv --cycle 2026-12`;
  for (let time = 0; time < 2; time += 1)
    ended(await desk.svc('au resume'), 10, again, `svc au abandon ${desk.job}`, {
      row: { cycle: '2026-12', status: 'not completed', outcome: 'job_failed' },
    });
  for (const line of ['au resume --dry-run', 'au resume 2026-12 --dry-run']) ended(await desk.svc(line), 0, again);
  ended(await desk.svc('au status'), 0, `no job has ${String(rows)} rows of 2026-12`, {
    row: { cycle: '2026-12', status: 'failed', open_jobs: [], lost_rows: rows },
  });
  desk.said.statuses = [];
  succeeded(await desk.svc('au submit tokens.csv --cycle 2026-12 --wait'));
  ended(await desk.svc('au resume'), 0, 'nothing is open');
});

it('svc au abandon leaves the rows of a job that failed out of their cycle', async () => {
  const desk = await sentDesk();
  desk.said.statuses = ['failed'];
  ended(await desk.svc('au resume'), 10);
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 0, { row: { progress: 'left out of the cycle' } });
  ended(await desk.svc('au resume'), 0, 'nothing is open');
  ended(await desk.svc('au status'), 0, 'nothing is open', { stdout: '' });
  ended(await desk.svc(`au abandon ${desk.job} --yes`), 0, 'nothing was changed');
});
