import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { type Desk, openDesk } from './support.ts';

const LINE = 'au refresh export.csv --cycle 2026-12 --fail-on err=60%';

function onTerminal(desk: Desk, line: string): TerminalSession {
  const session = new TerminalSession(process.execPath, [LAUNCHER, ...line.split(' ')], {
    cwd: desk.home.path,
    env: desk.home.environment(desk.env),
    columns: 80,
  });
  onTestFinished(() => session.kill());
  return session;
}

it('svc au refresh on a terminal shows its steps with --verbose, waits until Ctrl-C, and ends with the command that goes on', async () => {
  const desk = await openDesk({ processingMs: 3_600_000 });
  writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
  const session = onTerminal(desk, `${LINE} --verbose`);
  await session.waitFor(/(pending|processing), for \d+s, next poll in/);
  expect(session.screen()).toContain('step 3 of 4, wait:');
  session.type('\u0003');
  expect((await session.exited).exitCode).toBe(130);
  expect(session.cursorShows).toBe(true);
  expect(session.screen()).toContain('svc au refresh export.csv --cycle 2026-12');
  expect(desk.uploads()).toBe(1);
});
