import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readFaults } from '../../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../../src/emulator/faults/intercept.ts';
import { LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { forget, sentDesk } from './abandoning.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';
import { ended, succeeded } from '../../support/run-here.ts';

/** Opens a desk with a job whose file the store may have. Returns the job. */
async function unclearDesk(): Promise<{ readonly desk: QuickDesk; readonly job: string }> {
  const { faults } = readFaults('500@PUT /store/requests/*:#1');
  const desk = await openQuickDesk({ intercept: faultInterceptor(faults) });
  ended(await desk.svc('au submit tokens.csv'), 9);
  return { desk, job: desk.jobs()[0] ?? '' };
}

it('R58: svc au abandon with a job frees its rows only when it is confirmed, and the next submission sends them', async () => {
  const { desk, job } = await unclearDesk();
  ended(await desk.svc(`au abandon ${job}`), 2);
  ended(await desk.svc('au submit tokens.csv'), 9);
  ended(await desk.svc(`au abandon ${job} --yes`), 0, 'may have been paid for: the service says that it is pending');
  ended(await desk.svc('au submit tokens.csv'), 0, { uploads: 1 });
});

it('R54: svc au abandon asks, takes no for an answer, and without a terminal names --yes', async () => {
  const { desk, job } = await unclearDesk();
  ended(await desk.svc(`au abandon ${job}`), 2, 'Pass --yes.');
  const session = new TerminalSession(process.execPath, [LAUNCHER, 'au', 'abandon', job], {
    cwd: desk.home.path,
    env: desk.home.environment(desk.env),
    columns: 120,
  });
  await session.waitFor('[y/N]');
  session.type('n\r');
  expect((await session.exited).exitCode).toBe(2);
  expect(session.screen()).toContain('nothing was changed');
  ended(await desk.svc('au submit tokens.csv'), 9);
});

it.each([
  { status: 'pending', isElsewhere: true },
  { status: 'failed', isElsewhere: false },
  { status: 'forgotten', isElsewhere: true },
])(
  'svc au abandon frees the rows of a job that is $status once, prints them, and says later that the job holds none',
  async ({ status, isElsewhere }) => {
    const desk = await sentDesk();
    if (status === 'forgotten') await forget(desk);
    else desk.said.statuses = [status];
    if (isElsewhere) rmSync(desk.home.file('.local/state/svc/jobs'), { recursive: true });
    const abandon = async (): Promise<readonly [row: unknown, stderr: string]> => {
      const { stdout, stderr } = succeeded(await desk.svc(`au abandon ${desk.job} --yes`));
      return [JSON.parse(stdout), stderr];
    };
    const ofJob = { job: desk.job, cycle: '2026-12', file: expect.stringContaining('tokens.csv') };
    expect(await abandon()).toEqual([
      expect.objectContaining({ ...ofJob, progress: 'rows are free' }),
      expect.stringContaining(`the rows of job ${desk.job} are free: the next submission`),
    ]);
    ended(await desk.svc('au submit tokens.csv --cycle 2026-12'), 0, { uploads: 2 });
    // Another job has the rows now, so that nothing may be said of them.
    expect(await abandon()).toEqual([
      expect.objectContaining({ ...ofJob, progress: 'holds no rows any more' }),
      expect.stringContaining(`job ${desk.job} holds no rows any more; nothing was changed`),
    ]);
  },
);
