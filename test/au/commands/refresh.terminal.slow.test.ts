import { existsSync, writeFileSync } from 'node:fs';
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

it('svc au refresh on a terminal counts the results, and then says where the new tokens and the report are', async () => {
  const desk = await openDesk();
  writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
  const session = onTerminal(desk, `${LINE} --next`);
  expect((await session.exited).exitCode).toBe(0);
  const shown = session.screen();
  expect(shown).not.toContain('WRN_OPT_OUT');
  expect(shown).toMatch(/^40 rows: \d+ updated/m);
  expect(shown).toMatch(/report +refresh\/2026-12\/report\.html/);
  expect(shown).not.toMatch(/step \d|completed|dropped/);
  // Nothing is asked where the cycle is named.
  expect(shown).not.toContain('[y/N]');
  expect(shown).toMatch(/new tokens?: refresh\/2026-12\/todo\/replace\.csv/);
  expect(shown).toMatch(/next +refresh\/2026-12\/next\.csv/);
});

it('svc au refresh on a terminal asks whether to begin the cycle that nobody named, and leaves nothing after a no', async () => {
  const desk = await openDesk();
  writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
  const rows = exampleRequestFile().trimEnd().split('\n').length - 1;
  const line = 'au refresh export.csv --fail-on err=60% --yes';
  const begin = new RegExp(`Begin cycle (\\d{4}-\\d{2}) \\(UTC\\) with ${rows} rows\\? \\[y/N\\]`);
  const declined = onTerminal(desk, line);
  await declined.waitFor(begin);
  declined.type('\r');
  expect((await declined.exited).exitCode).toBe(2);
  expect([existsSync(desk.home.file('refresh')), desk.uploads()]).toEqual([false, 0]);
  const interrupted = onTerminal(desk, line);
  await interrupted.waitFor(begin);
  interrupted.type('\u0003');
  expect((await interrupted.exited).exitCode).toBe(130);
  expect(interrupted.screen()).toContain('interrupted; nothing was submitted');
  // A command that names the cycle would begin and pay for it without asking.
  expect(interrupted.screen()).not.toContain('--cycle');
  expect([existsSync(desk.home.file('refresh')), desk.uploads()]).toEqual([false, 0]);
  const begun = onTerminal(desk, line);
  await begun.waitFor(begin);
  begun.type('y\r');
  expect((await begun.exited).exitCode).toBe(0);
  expect(desk.uploads()).toBe(1);
  const stopped = onTerminal(desk, line);
  await stopped.waitFor(/Go on/);
  stopped.type('\u0003');
  expect((await stopped.exited).exitCode).toBe(130);
  expect(stopped.screen()).toContain('interrupted; nothing was submitted');
  expect(stopped.screen()).not.toContain('--cycle');
  const again = onTerminal(desk, line);
  await again.waitFor(/Go on with cycle \d{4}-\d{2} \(UTC\)\? \[y\/N\]/);
  again.type('y\r');
  expect((await again.exited).exitCode).toBe(0);
  expect(desk.uploads()).toBe(1);
});
