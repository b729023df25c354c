import type { IncomingMessage, ServerResponse } from 'node:http';
import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { type Desk, openDesk, productionDesk } from './support.ts';
import { ended, succeeded } from '../../support/run-here.ts';

/** A number of rows of a kilobyte that needs two jobs, of which each is larger than the buffers between two processes. */
const ROWS = 42_000;

function onTerminal(desk: Desk, line: string, columns = 120): TerminalSession {
  const session = new TerminalSession(process.execPath, [LAUNCHER, ...line.split(' ')], {
    cwd: desk.home.path,
    env: desk.home.environment(desk.env),
    columns,
  });
  onTestFinished(() => session.kill());
  return session;
}

/** Writes a request file of two parts, which is larger than the buffers between two processes. */
function writeTwoParts({ home }: Desk): void {
  const rows = Array.from({ length: ROWS }, (_, row) => `${String(row).padStart(1_000, 't')},,,\n`).join('');
  writeFileSync(home.file('tokens.csv'), `token,expiration_year,expiration_month,merchant_id\n${rows}`);
}

it('R53: the wait for a file on a terminal shows its jobs and the next poll, and ends at Ctrl-C with the command that continues', async () => {
  const slow = await openDesk({ processingMs: 3_600_000 });
  succeeded(await slow.svc('au submit tokens.csv --cycle 2026-12'));
  const session = onTerminal(slow, 'au resume 2026-12 --wait');
  await session.waitFor(/(pending|processing), for \d[^,]*, next poll in \d+s/);
  expect(session.cursorShows).toBe(false);
  session.type('\u0003');
  expect((await session.exited).exitCode).toBe(130);
  expect(session.cursorShows).toBe(true);
  expect(session.screen()).toContain('svc au resume 2026-12 --wait');
  // The live line is gone.
  expect(session.screen()).not.toContain('next poll');
});

it('R53: the upload of several parts on a terminal shows the parts, and ends at Ctrl-C with the command that continues, which uploads each once', async () => {
  let isStuck = true;
  const intercept = (incoming: IncomingMessage, _: ServerResponse, proceed: () => void): void => {
    if (!isStuck || incoming.method !== 'PUT') proceed();
  };
  const desk = await openDesk({ intercept });
  writeTwoParts(desk);
  const session = onTerminal(desk, 'au submit tokens.csv');
  await session.waitFor(/upload, [12] of 2 █+░* \d+%, \S+ \w+ of [^(]*\(and 1 more\)/);
  expect(session.cursorShows).toBe(false);
  session.type('\u0003');
  expect((await session.exited).exitCode).toBe(130);
  expect(session.cursorShows).toBe(true);
  const screen = session.screen();
  expect(screen).toContain('upload, 1 of 2: stopped at');
  expect(screen).toContain('svc au submit tokens.csv');
  isStuck = false;
  ended(await desk.svc('au submit tokens.csv --wait -o json'), 0, {
    uploads: 2,
    row: { rows: ROWS, status: 'completed' },
  });
});

describe('the question before rows are paid for', () => {
  const QUESTION = /PRODUCTION tenant "Acme": submit \d+ rows in 1 job\? This may be billed\. \[y\/N\]/;

  it('the question before rows are paid for is asked once, with no as the default, and not where nothing more is uploaded', async () => {
    const desk = await productionDesk();
    const declined = onTerminal(desk, 'au submit tokens.csv');
    await declined.waitFor(QUESTION);
    declined.type('\r');
    expect((await declined.exited).exitCode).toBe(2);
    expect(declined.screen()).toContain('nothing was submitted');
    expect(existsSync(desk.home.file('.local/state/svc/jobs'))).toBe(false);
    expect(desk.uploads()).toBe(0);
    const interrupted = onTerminal(desk, 'au submit tokens.csv');
    await interrupted.waitFor(QUESTION);
    interrupted.type('\u0003');
    expect((await interrupted.exited).exitCode).toBe(130);
    expect(interrupted.screen()).toContain('interrupted; nothing was submitted');
    expect(desk.uploads()).toBe(0);
    const accepted = onTerminal(desk, 'au submit tokens.csv');
    await accepted.waitFor(QUESTION);
    accepted.type('y\r');
    expect((await accepted.exited).exitCode).toBe(0);
    expect(accepted.screen().match(/ PRODUCTION /g)).toHaveLength(1);
    const again = onTerminal(desk, 'au submit tokens.csv --wait');
    expect((await again.exited).exitCode).toBe(0);
    expect(again.screen()).not.toContain('billed');
    expect(desk.uploads()).toBe(1);
  });

  it.each([
    ['--yes', 'au submit tokens.csv --yes', {}],
    ['--no-input', 'au submit tokens.csv --no-input', {}],
    ['CI', 'au submit tokens.csv', { CI: 'true' }],
  ])('the question before rows are paid for is not asked with %s, and nothing fails for it', async (_, line, env) => {
    const desk = await productionDesk();
    const session = onTerminal({ ...desk, env: { ...desk.env, ...env } }, line);
    expect((await session.exited).exitCode).toBe(0);
    expect(session.screen()).toContain(' PRODUCTION  Acme (');
    expect(session.screen()).not.toContain('billed');
    expect(desk.uploads()).toBe(1);
  });

  it('a coding agent at a terminal is never taken for a person who said yes to paid rows', async () => {
    const desk = await productionDesk();
    const underAgent = { ...desk, env: { ...desk.env, AI_AGENT: 'some-agent' } };
    const refused = onTerminal(underAgent, 'au submit tokens.csv');
    expect((await refused.exited).exitCode).toBe(2);
    expect(refused.screen()).toContain('Pass --yes.');
    expect(desk.uploads()).toBe(0);
    expect((await onTerminal(underAgent, 'au submit tokens.csv --yes').exited).exitCode).toBe(0);
    expect(desk.uploads()).toBe(1);
  });
});

it('the question before only some rows of a file are sent is asked once on a terminal whatever the tenant, and nowhere else', async () => {
  const desk = await openDesk();
  const [header = '', ...rows] = exampleRequestFile().trimEnd().split('\n');
  const write = (name: string, some: readonly string[]): void =>
    writeFileSync(desk.home.file(name), [header, ...some, ''].join('\n'));
  write('tokens.csv', rows.slice(0, 6));
  const whole = onTerminal(desk, 'au submit tokens.csv --cycle 2026-12');
  expect((await whole.exited).exitCode).toBe(0);
  expect(whole.screen()).not.toContain('[y/N]');
  write('more.csv', rows.slice(0, 9));
  const declined = onTerminal(desk, 'au submit more.csv --cycle 2026-12');
  await declined.waitFor(/submit only 3 of 9 rows in 1 job\? \[y\/N\]/);
  declined.type('\r');
  expect((await declined.exited).exitCode).toBe(2);
  expect(declined.screen()).toContain('nothing was submitted');
  expect(desk.uploads()).toBe(1);
  const accepted = onTerminal(desk, 'au submit more.csv --cycle 2026-12');
  await accepted.waitFor(/\[y\/N\]/);
  accepted.type('y\r');
  expect((await accepted.exited).exitCode).toBe(0);
  expect(accepted.screen().match(/\[y\/N\]/g)).toHaveLength(1);
  // Nothing is sent of a file whose rows are all in the cycle, so that nothing is asked.
  write('same.csv', rows.slice(2, 8));
  const joined = onTerminal(desk, 'au submit same.csv --cycle 2026-12');
  expect((await joined.exited).exitCode).toBe(0);
  expect(joined.screen()).not.toContain('[y/N]');
  write('most.csv', rows.slice(0, 12));
  ended(await desk.svc('au submit most.csv --cycle 2026-12'), 0, { uploads: 3 });
});
