import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readFaults } from '../../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../../src/emulator/faults/intercept.ts';
import { LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { forget, sentDesk } from './abandoning.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';
import { succeeded } from '../../support/run-here.ts';

/** Opens a desk with a job whose file the store may have. Returns the job. */
async function unclearDesk(): Promise<{ readonly desk: QuickDesk; readonly job: string }> {
  const { faults } = readFaults('500@PUT /store/requests/*:#1');
  const desk = await openQuickDesk({ intercept: faultInterceptor(faults) });
  const unclear = await desk.svc('au submit tokens.csv');
  expect(unclear.code, unclear.stderr).toBe(9);
  return { desk, job: desk.jobs()[0] ?? '' };
}

it('R58: svc au abandon with a job frees its rows only when it is confirmed, and the next submission sends them', async () => {
  const { desk, job } = await unclearDesk();
  expect(await desk.svc(`au abandon ${job}`)).toMatchObject({ code: 2 });
  expect(await desk.svc('au submit tokens.csv')).toMatchObject({ code: 9 });
  const freed = succeeded(await desk.svc(`au abandon ${job} --yes`));
  expect(freed.stderr).toContain('may have been paid for: the service says that it is pending');
  succeeded(await desk.svc('au submit tokens.csv'));
  expect(desk.uploads()).toBe(1);
});

it('R54: svc au abandon asks, takes no for an answer, and without a terminal names --yes', async () => {
  const { desk, job } = await unclearDesk();
  const refused = await desk.svc(`au abandon ${job}`);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('Pass --yes.');
  const session = new TerminalSession(process.execPath, [LAUNCHER, 'au', 'abandon', job], {
    cwd: desk.home.path,
    env: desk.home.environment(desk.env),
    columns: 120,
  });
  await session.waitFor('[y/N]');
  session.type('n\r');
  expect((await session.exited).exitCode).toBe(2);
  expect(session.screen()).toContain('nothing was changed');
  expect(await desk.svc('au submit tokens.csv')).toMatchObject({ code: 9 });
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
    expect((await desk.svc('au submit tokens.csv --cycle 2026-12')).code).toBe(0);
    expect(desk.uploads()).toBe(2);
    // Another job has the rows now, so that nothing may be said of them.
    expect(await abandon()).toEqual([
      expect.objectContaining({ ...ofJob, progress: 'holds no rows any more' }),
      expect.stringContaining(`job ${desk.job} holds no rows any more; nothing was changed`),
    ]);
  },
);
