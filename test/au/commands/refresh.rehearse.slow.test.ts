import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ended, errorIn, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

const ROWS = 1000;
const MARK = 'REHEARSAL: outcomes are invented';
const REHEARSE = '--sandbox au refresh export.csv --cycle 2026-12 --rehearse';
const MONTH = 'au refresh export.csv --cycle 2026-12';

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

function filesOutside({ home }: QuickDesk): string[] {
  const found = readdirSync(home.path, { recursive: true }).map(String);
  return found.filter((name) => !name.startsWith('rehearsal') && statSync(home.file(name)).isFile()).toSorted();
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
    ended(await svc('au check rehearsal/2026-12/next.csv'), 13);
  });

  it.each(['--out-dir refresh', '--dry-run'])('a rehearsal refuses %s', async (options) => {
    const { svc, home } = await openExport();
    ended(await svc(`${REHEARSE} ${options}`), 2, { error: { next: `svc ${REHEARSE}` } });
    expect(readdirSync(home.path)).not.toContain('rehearsal');
  });

  it('an error of a rehearsal names commands with --rehearse, so that nobody goes on with a real month', async () => {
    const { svc, home } = await openExport();
    writeFileSync(home.file('export.csv'), `token,valid\n${TOKENS.map((token) => `${token},05/06`).join('\n')}\n`);
    const refused = ended(await svc(`${REHEARSE} --map expiration=valid`), 13);
    const { next, alternatives = [] } = errorIn(refused) as { next: string; alternatives?: string[] };
    for (const command of [next, ...alternatives]) expect(command).toMatch(/ au refresh .* --rehearse$/);
  });

  it('R91: results of a rehearsal make no request and leave out no card, also in the month of the sandbox', async () => {
    const { svc, home } = await openExport();
    rowOf(await svc(REHEARSE));
    ended(await svc('au next rehearsal/2026-12/request.csv rehearsal/2026-12/results.csv --exclusions closed.csv'), 13);
    expect(readdirSync(home.path)).not.toContain('closed.csv');
    expect(rowOf(await svc(`--sandbox ${MONTH} --fail-on err=100%`))).toMatchObject({ rows: ROWS, errors: ROWS });
    expect(readdirSync(home.file('refresh-sandbox'))).toContain('2026-12');
  });

  it('R91: a rehearsal leaves nothing outside its directory, and does not read the list of closed accounts', async () => {
    const desk = await openExport();
    for (const parent of ['refresh', 'refresh-sandbox']) {
      mkdirSync(desk.home.file(parent));
      writeFileSync(desk.home.file(join(parent, 'exclusions.csv')), `token\n${TOKENS[0]}\n`);
    }
    const before = filesOutside(desk);
    expect(rowOf(await desk.svc(REHEARSE))).toMatchObject({ rows: ROWS, exclusions: 'rehearsal/exclusions.csv' });
    expect(filesOutside(desk)).toEqual(before);
    for (const parent of ['refresh', 'refresh-sandbox'])
      expect(readFileSync(desk.home.file(join(parent, 'exclusions.csv')), 'utf8')).toBe(`token\n${TOKENS[0]}\n`);
  });

  it('R91: the month after a rehearsal in the same directory sends the same rows as without it', async () => {
    const [rehearsed, plain] = [await openExport(), await openExport()];
    rowOf(await rehearsed.svc(REHEARSE));
    expect(rehearsed.uploads()).toBe(0);
    for (const desk of [rehearsed, plain]) rowOf(await desk.svc(`${MONTH} --fail-on err=100%`));
    expect(rehearsed.received()).toEqual(plain.received());
    expect(plain.received()).toHaveLength(1);
  });

  it('a second rehearsal of a cycle ends the same, and one of another cycle has the same rows', async () => {
    const { svc } = await openExport();
    const { status, ...first } = rowOf(await svc(REHEARSE));
    expect(status).toBe('completed');
    expect(rowOf(await svc(REHEARSE))).toMatchObject(first);
    const other = rowOf(await svc(`${REHEARSE} --cycle 2027-01 --exclusions none`));
    expect(other).toMatchObject({ rows: ROWS, new_tokens: first['new_tokens'] });
  });

  it('a rehearsal goes on where it stopped, with the command that it names', async () => {
    const { svc } = await openExport();
    const stopped = ended(await svc(`${REHEARSE} --no-wait`), 11, {
      error: { next: `svc ${MONTH.replace('au', '--sandbox au')} --no-wait --rehearse` },
    });
    expect(errorIn(stopped)['alternatives']).toBeUndefined();
    expect(rowOf(await svc('--sandbox au refresh --rehearse'))).toMatchObject({ cycle: '2026-12', rows: ROWS });
  });

  it.each(['au refresh', '--base-url http://127.0.0.1:9 --sandbox au refresh'])(
    'a rehearsal refuses a service with a base URL (%s), and names the command that works',
    async (command) => {
      const { svc } = await openExport();
      const refused = ended(await svc(`${command} export.csv --cycle 2026-12 --rehearse`), 2, { uploads: 0 });
      const { next } = errorIn(refused);
      expect(next).toBe('svc au refresh export.csv --cycle 2026-12 --rehearse --profile sandbox');
      rowOf(await svc(String(next).replace('svc ', '')));
    },
  );
});

it('svc au refresh prepares nothing for a sandbox server that invents results, and names the rehearsal', async () => {
  const desk = await openQuickDesk({ acceptTokens: true });
  writeFileSync(desk.home.file('export.csv'), 'token\n00000000-0000-4000-8000-000000000001\n');
  ended(await desk.svc('au refresh export.csv --cycle 2026-12'), 13, {
    error: {
      message: `the sandbox at ${desk.sandbox.url} invents the results of tokens`,
      next_words: `svc au refresh export.csv --cycle 2026-12 --rehearse --profile sandbox`.split(' '),
    },
  });
  expect([existsSync(desk.home.file('refresh')), desk.uploads()]).toEqual([false, 0]);
});
