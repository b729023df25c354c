import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorIn, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

const ROWS = 1000;
const MARK = 'REHEARSAL: outcomes are invented';
const REHEARSE = '--sandbox au refresh export.csv --cycle 2026-12 --rehearse';

/** Tokens that no sandbox created. */
const TOKENS = Array.from({ length: ROWS }, (_, at) => {
  const digits = (at + 1).toString(16).padStart(4, '0');
  return `${digits}9a41-${digits}-4b6e-9d20-3c5a8e7f${digits}`;
});

/** A desk with an export, at whose service no token has a card. */
async function openExport(): Promise<QuickDesk> {
  const desk = await openQuickDesk();
  writeFileSync(desk.home.file('export.csv'), ['token', ...TOKENS, ''].join('\n'));
  return desk;
}

describe('svc au refresh --rehearse', () => {
  it('a rehearsal goes through the whole month, and says first and last and in its page that outcomes are invented', async () => {
    const { svc, home } = await openExport();
    const done = await svc(`${REHEARSE} --next`);
    const row = rowOf(done);
    expect(row).toMatchObject({ rows: ROWS, replace: 'rehearsal/2026-12/todo/replace.csv' });
    const lines = done.stderr.trimEnd().split('\n');
    expect([lines[0], lines.at(-1)]).toEqual([MARK, MARK]);
    // A command that goes on with one step would meet the usual sandbox, which does not know the tokens.
    expect(done.stderr).not.toContain('svc ');
    const read = (name: string): string => readFileSync(home.file(name), 'utf8');
    expect(read('rehearsal/2026-12/report.html')).toContain(
      `<title>${MARK}. Account Updater report: cycle 2026-12</title>`,
    );
    const issued = read('rehearsal/2026-12/todo/replace.csv').trimEnd().split('\n').slice(1);
    expect(issued).toHaveLength(Number(row['new_tokens']));
    expect(issued.length).toBeGreaterThan(0);
    for (const line of issued) expect(line.split(',')[1]).toMatch(/^rehearsal-[0-9a-f]{16}$/);
    expect((await svc('au check rehearsal/2026-12/next.csv')).code).toBe(13);
  });

  it.each(['--out-dir refresh', '--dry-run'])('a rehearsal refuses %s', async (options) => {
    const { svc, home } = await openExport();
    const refused = await svc(`${REHEARSE} ${options}`);
    expect([refused.code, errorIn(refused)['next']]).toEqual([2, `svc ${REHEARSE}`]);
    expect(readdirSync(home.path)).not.toContain('rehearsal');
  });

  it('an error of a rehearsal names commands with --rehearse, so that nobody goes on with a real month', async () => {
    const { svc, home } = await openExport();
    writeFileSync(home.file('export.csv'), `token,valid\n${TOKENS.map((token) => `${token},05/06`).join('\n')}\n`);
    const refused = await svc(`${REHEARSE} --map expiration=valid`);
    expect(refused.code).toBe(13);
    const { next, alternatives = [] } = errorIn(refused) as { next: string; alternatives?: string[] };
    for (const command of [next, ...alternatives]) expect(command).toMatch(/ au refresh .* --rehearse$/);
  });

  it('R91: results of a rehearsal make no request and leave out no card', async () => {
    const { svc, home } = await openExport();
    rowOf(await svc(REHEARSE));
    const refused = await svc(
      'au next rehearsal/2026-12/request.csv rehearsal/2026-12/results.csv --exclusions closed.csv',
    );
    expect(refused.code).toBe(13);
    expect(readdirSync(home.path)).not.toContain('closed.csv');
  });
});

it('svc au refresh prepares nothing for a sandbox server that invents results, and names the rehearsal', async () => {
  const desk = await openQuickDesk({ acceptTokens: true });
  writeFileSync(desk.home.file('export.csv'), 'token\n00000000-0000-4000-8000-000000000001\n');
  const done = await desk.svc('au refresh export.csv --cycle 2026-12');
  expect(done.code).toBe(13);
  expect(errorIn(done)).toMatchObject({
    message: `the sandbox at ${desk.sandbox.url} invents the results of tokens`,
    next_words: `svc au refresh export.csv --cycle 2026-12 --rehearse --profile sandbox`.split(' '),
  });
  expect([existsSync(desk.home.file('refresh')), desk.uploads()]).toEqual([false, 0]);
});
