import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, type HereResult, rowOf, rowsIn, succeeded } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk, writeRows } from '../commands/support.ts';

const DAY = 86_400_000;
const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');

function read({ home }: QuickDesk, name: string): string[] {
  return readFileSync(home.file(name), 'utf8').trimEnd().split('\n');
}

/** Returns the command that a message shows for a file with left-out rows. */
function fixCommand({ stderr }: HereResult): string {
  return /^.*svc (au submit \S*fix\.csv .*)$/m.exec(stderr)?.[1] ?? '';
}

/** Returns the rows that each job got. */
function jobsOf({ received }: QuickDesk): string[][] {
  return received().map((text) => text.trimEnd().split('\n').slice(1));
}

const tokenOf = (row: string): string => row.split(',')[0] ?? '';

/** Gives a row another expiration. */
const corrected = (row: string): string => `${tokenOf(row)},31,07,`;

/** A desk on which the results of the example file were delivered. */
async function deliveredDesk(options = '--cycle 2026-12') {
  const desk = await openQuickDesk();
  writeRows(desk, 'tokens.csv', ...ROWS);
  rowOf(await desk.svc(`au submit tokens.csv ${options} --wait`.replace('  ', ' ')));
  const wrong = read(desk, 'tokens.results.csv').filter((row) => row.split(',').at(-1)?.startsWith('ERR_'));
  const tokens = new Set(wrong.map(tokenOf));
  const isWrong = (row: string): boolean => tokens.has(tokenOf(row));
  return { ...desk, wrong: ROWS.filter(isWrong), isWrong };
}

describe('left-out rows whose result is an error', () => {
  it('R79: left-out rows whose result is an error are written as the file has them now, and the printed command bills only these', async () => {
    const desk = await deliveredDesk();
    const { wrong, isWrong } = desk;
    expect(wrong.length).toBeGreaterThan(3);
    writeRows(desk, 'tokens.csv', ...ROWS.map((row) => (isWrong(row) ? corrected(row) : row)));
    const done = ended(await desk.svc('au submit tokens.csv --cycle 2026-12 --wait --force'), 0, {
      row: { sent: 0, left_out: ROWS.length, left_out_errors: wrong.length },
    });
    expect(read(desk, 'tokens.fix.csv')).toEqual([HEADER, ...wrong.map(corrected)]);
    expect(statSync(desk.home.file('tokens.fix.csv')).mode & 0o777).toBe(0o600);
    expect(fixCommand(done)).toBe('au submit tokens.fix.csv --cycle 2026-12.2 --pay-again');
    expect(rowOf(await desk.svc(fixCommand(done)))).toMatchObject({ sent: wrong.length, left_out: 0 });
    expect(jobsOf(desk)).toEqual([ROWS, wrong.map(corrected)]);
    // The command is safe to repeat. The whole file names the next unused name, without the word that would let it begin
    // with rows that were sent again already.
    rowOf(await desk.svc(fixCommand(done)));
    expect(desk.uploads()).toBe(2);
    const again = await desk.svc('au submit tokens.csv --cycle 2026-12 --wait');
    expect(fixCommand(again)).toBe('au submit tokens.fix.csv --cycle 2026-12.3');
    ended(await desk.svc(fixCommand(again)), 6, { uploads: 2 });
  });

  it('left-out rows are counted as errors only once their results are known', async () => {
    const desk = await deliveredDesk();
    writeRows(desk, 'more.csv', ...desk.wrong, 'one-more,27,01,');
    const submitted = rowOf(await desk.svc('au submit more.csv --cycle 2026-12'));
    expect(submitted).toMatchObject({ sent: 1, left_out: desk.wrong.length, left_out_errors: null });
    expect(existsSync(desk.home.file('more.fix.csv'))).toBe(false);
    const waited = rowOf(await desk.svc('au submit more.csv --cycle 2026-12 --wait'));
    expect(waited).toMatchObject({ left_out_errors: desk.wrong.length });
    // The row that this file sent itself was not left out.
    expect(read(desk, 'more.fix.csv')).toEqual([HEADER, ...desk.wrong]);
  });

  it('left-out rows without an error leave no file', async () => {
    const desk = await deliveredDesk();
    writeRows(desk, 'more.csv', ...ROWS.filter((row) => !desk.isWrong(row)), 'one-more,27,01,');
    const done = ended(await desk.svc('au submit more.csv --cycle 2026-12 --wait'), 0, { row: { left_out_errors: 0 } });
    expect(fixCommand(done)).toBe('');
    expect(existsSync(desk.home.file('more.fix.csv'))).toBe(false);
  });

  it('a file of the operator with the name of the left-out rows stays, and the same command writes them once it was moved away', async () => {
    const desk = await deliveredDesk();
    writeRows(desk, 'more.csv', ...ROWS, 'one-more,27,01,');
    writeFileSync(desk.home.file('more.fix.csv'), 'mine\n');
    ended(
      await desk.svc('au submit more.csv --cycle 2026-12 --wait --force'),
      0,
      'more.fix.csv is another file or cannot be written, and was left as it is',
    );
    expect(read(desk, 'more.fix.csv')).toEqual(['mine']);
    renameSync(desk.home.file('more.fix.csv'), desk.home.file('mine.csv'));
    await desk.svc('au submit more.csv --cycle 2026-12 --wait');
    expect(read(desk, 'more.fix.csv')).toEqual([HEADER, ...desk.wrong]);
  });

  it('left-out rows of a file without a cycle get a cycle that is named after the file', async () => {
    const desk = await deliveredDesk('');
    writeRows(desk, 'tokens.csv', ...ROWS.toReversed());
    const done = succeeded(await desk.svc('au submit tokens.csv --wait --force'));
    expect(fixCommand(done)).toBe('au submit tokens.fix.csv --cycle tokens-fix --pay-again');
    rowOf(await desk.svc(fixCommand(done)));
    expect(fixCommand(await desk.svc('au submit tokens.csv --wait'))).toContain('--cycle tokens-fix.2');
    expect(jobsOf(desk).at(-1)).toEqual(desk.wrong.toReversed());
  });

  it('left-out rows of standard input are written into the current directory', async () => {
    const desk = await deliveredDesk();
    const input = [HEADER, ...ROWS, 'one-more,27,01,', ''].join('\n');
    const done = ended(await desk.svc('au submit - --cycle 2026-12 --wait', {}, input), 0, {
      row: { left_out_errors: desk.wrong.length },
    });
    expect(fixCommand(done)).toBe('au submit fix.csv --cycle 2026-12.2 --pay-again');
    expect(read(desk, 'fix.csv')).toEqual([HEADER, ...desk.wrong]);
  });

  it('the results of two files from standard input have different names', async () => {
    const desk = await openQuickDesk();
    for (const row of ['one-more,27,01,', 'another,27,01,'])
      succeeded(await desk.svc('au submit - --pay-again', {}, `${HEADER}\n${row}\n`));
    const done = succeeded(await desk.svc('au resume --wait'));
    const files = rowsIn(done.stdout).map((row) => (row['results'] as { file: string }).file);
    expect(files).toHaveLength(2);
    expect(files.map((file) => read(desk, file).length)).toEqual([2, 2]);
  });

  it('R79: no message names the whole file with a cycle in which its left-out rows are paid for again', async () => {
    const desk = await deliveredDesk();
    writeRows(desk, 'more.csv', ...ROWS, 'one-more,27,01,');
    await desk.clock.advance(36 * DAY);
    for (const options of ['', '--wait', '--wait']) {
      const { stderr } = await desk.svc(`au submit more.csv --cycle 2026-12 ${options}`.trim());
      expect(stderr).not.toMatch(/more\.csv --cycle (?!2026-12(?:\s|$))/m);
    }
  });
});
