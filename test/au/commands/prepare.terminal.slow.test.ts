import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';

const home = new Home();

const EXPORT = 'token,name,card_end,created\na,Ann,05/31,2024-01-02\nb,Bob,12/29,2025-03-04\n';

/** Prepares an export on a terminal. */
function prepareOnTerminal(file: string, out: string): TerminalSession {
  const session = new TerminalSession(process.execPath, [LAUNCHER, 'au', 'prepare', file, '--out', out], {
    cwd: home.path,
    env: home.environment(),
    columns: 120,
  });
  onTestFinished(() => session.kill());
  return session;
}

/** Prepares the export on a terminal, and answers the question about its expiration. */
async function answered(answers: readonly string[], out: string): Promise<{ screen: string; request: string }> {
  writeFileSync(home.file('export.csv'), EXPORT);
  const session = prepareOnTerminal('export.csv', out);
  for (const [at, answer] of answers.entries()) {
    await session.waitFor(new RegExp(`(?:Is the column card_end the expiration\\? \\[y/n\\][^]*){${at + 1}}`));
    session.type(`${answer}\r`);
  }
  expect((await session.exited).exitCode).toBe(0);
  return { screen: session.screen(), request: readFileSync(home.file(out), 'utf8') };
}

it('svc au prepare on a terminal asks for the expiration, and shows each column and the spread of the dates but no customer', async () => {
  const { screen, request } = await answered(['y'], 'yes.csv');
  expect(request.split('\n').slice(1)).toEqual(['a,31,05,', 'b,29,12,', '']);
  expect(screen).toContain('expiration is card_end');
  expect(screen).toContain('expirations: 2029-12 to 2031-05');
  expect(screen).toContain('left out: name, created');
  expect(screen).not.toMatch(/Ann|Bob/);
});

it('svc au prepare on a terminal asks again until the answer is yes or no, and goes on without an expiration after no', async () => {
  const { screen, request } = await answered(['', 'maybe', 'svc au submit tokens.csv', 'n'], 'no.csv');
  expect(screen.match(/Is the column card_end the expiration/g)).toHaveLength(4);
  expect(request.split('\n').slice(1)).toEqual(['a,,,', 'b,,,', '']);
  expect(screen).toContain('none is the expiration');
});

it('svc au prepare on a terminal asks for the expiration and the merchant, and reads both', async () => {
  writeFileSync(home.file('both.csv'), 'token,card_end,store\na,05/31,S-1\na,06/31,S-2\n');
  const session = prepareOnTerminal('both.csv', 'both.out.csv');
  await session.waitFor(/Is the column card_end the expiration\? \[y\/n\]/);
  session.type('y\r');
  await session.waitFor(/Is the column store the merchant\? \[y\/n\]/);
  session.type('y\r');
  expect((await session.exited).exitCode).toBe(0);
  expect(readFileSync(home.file('both.out.csv'), 'utf8').split('\n').slice(1)).toEqual([
    'a,31,05,S-1',
    'a,31,06,S-2',
    '',
  ]);
});

it.each([
  ['y', 0],
  ['n', 13],
])('svc au prepare on a terminal asks whether rows that a column tells apart are left out: %s', async (key, code) => {
  const rows = Array.from({ length: 40 }, (_, at) => `card-${at % 20},Shop ${Math.floor(at / 20)}\n`);
  writeFileSync(home.file('shared.csv'), `token,shop_name\n${rows.join('')}`);
  const session = prepareOnTerminal('shared.csv', `shared-${key}.out.csv`);
  await session.waitFor(
    /20 of 40 rows repeat a token, and the column shop_name tells them apart\. Leave them out\? \[y\/n\]/,
  );
  session.type(`${key}\r`);
  expect((await session.exited).exitCode).toBe(code);
  expect(existsSync(home.file(`shared-${key}.out.csv`))).toBe(code === 0);
});
