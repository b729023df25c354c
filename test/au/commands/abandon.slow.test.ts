import { expect, it } from 'vitest';
import { readFaults } from '../../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../../src/emulator/faults/intercept.ts';
import { LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

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
  const freed = await desk.svc(`au abandon ${job} --yes`);
  expect(freed.code, freed.stderr).toBe(0);
  expect(freed.stderr).toContain('may have been paid for: the service says that it is pending');
  const again = await desk.svc('au submit tokens.csv');
  expect(again.code, again.stderr).toBe(0);
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
