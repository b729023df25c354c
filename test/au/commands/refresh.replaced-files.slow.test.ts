import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Draft } from '../../../src/base/files/draft.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, succeeded } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';

const CYCLE = 'refresh/2026-12';
const REJECTED = `${CYCLE}/rejected.csv`;
const [, ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const SOON = '0b1c2d3e-4f50-4a61-8b72-9c83ad94be05,soon';
const LATER = '1b1c2d3e-4f50-4a61-8b72-9c83ad94be05,later';
const EITHER = '2b1c2d3e-4f50-4a61-8b72-9c83ad94be05,05/06/31';

/** A desk with an export that has a column to keep, and further rows. */
async function openRefresh(more: readonly string[] = [], options: Parameters<typeof openQuickDesk>[0] = {}) {
  const desk = await openQuickDesk(options);
  const rows = ROWS.map((row, index) => `${row.split(',')[0]},,C-${index}`);
  const text = ['token,expiration,Customer', ...rows, ...more.map((row) => `${row},C`), ''].join('\n');
  writeFileSync(desk.home.file('export.csv'), text);
  const refresh = (...words: string[]) =>
    desk.svc(['au', 'refresh', 'export.csv', '--cycle', '2026-12', '--fail-on', 'err=60%', ...words]);
  const read = (name: string): string => readFileSync(desk.home.file(name), 'utf8');
  const write = (name: string, written: string): void => {
    mkdirSync(desk.home.file(CYCLE), { recursive: true });
    writeFileSync(desk.home.file(name), written);
  };
  return { desk, refresh, read, write };
}

describe('files of a cycle that are not replaced', () => {
  it.each(['', ' --dry-run'])(
    'svc au refresh --max-rejects 1%s does not replace a rejected.csv that is no file of refused rows',
    async (option) => {
      const { desk, refresh, read, write } = await openRefresh([SOON]);
      write(REJECTED, 'mine');
      ended(await desk.svc(`au refresh export.csv --cycle 2026-12 --max-rejects 1${option}`), 3, {
        error: { file: REJECTED },
      });
      expect([read(REJECTED), desk.uploads()]).toEqual(['mine', 0]);
      ended(await refresh('--max-rejects', '1'), 3);
      rmSync(desk.home.file(REJECTED));
      succeeded(await refresh('--max-rejects', '1'));
      expect(read(REJECTED)).toContain('soon');
    },
  );

  it('svc au refresh replaces its refused rows of an earlier attempt, but not rows that were corrected in place', async () => {
    const { desk, refresh, read, write } = await openRefresh([SOON, LATER, EITHER]);
    // With the order of the date nothing is wrong with the third row that was refused before.
    for (const words of [[], [], ['--date-order', 'dmy'], ['--date-order', 'dmy']])
      expect((await refresh('--max-rejects', '1', ...words)).code).toBe(13);
    const corrected = read(REJECTED).replace('soon', '06/2031');
    write(REJECTED, corrected);
    ended(await refresh('--date-order', 'dmy', '--max-rejects', '2'), 3, {
      error: { message: `${REJECTED} was changed after the refresh wrote it` },
    });
    expect([read(REJECTED), desk.uploads()]).toEqual([corrected, 0]);
    renameSync(desk.home.file(REJECTED), desk.home.file('corrected.csv'));
    succeeded(await refresh('--date-order', 'dmy', '--max-rejects', '2'));
    ended(
      await desk.svc(
        'au refresh corrected.csv --cycle 2026-12 --add --max-rejects 1 --fail-on err=60% --no-expiration',
      ),
      0,
      { uploads: 2 },
    );
    expect(read(`${CYCLE}/rejected-2.csv`)).toContain('later');
  });

  it('svc au refresh names no file of refused rows where it writes none', async () => {
    const { refresh } = await openRefresh([SOON]);
    ended(await refresh('--max-rejects', '1', '--dry-run'), 0, 'warning: 1 row left out:\n');
    ended(await refresh('--max-rejects', '0', '--dry-run'), 13, { error: { hint: /^Nothing was written\./ } });
  });

  it('svc au refresh replaces its refused rows after it stopped before it replaced them', async () => {
    const { desk, refresh, read, write } = await openRefresh([SOON]);
    ended(await refresh('--max-rejects', '0'), 13);
    write('export.csv', read('export.csv').replace('soon', 'later'));
    const finishing = vi.spyOn(Draft.prototype, 'finish').mockRejectedValueOnce(new Error('stopped'));
    onTestFinished(() => finishing.mockRestore());
    expect((await refresh('--max-rejects', '0')).code).not.toBe(13);
    expect(read(REJECTED)).toContain('soon');
    succeeded(await refresh('--max-rejects', '1'));
    expect([read(REJECTED), desk.uploads()]).toEqual([expect.stringContaining('later'), 1]);
  });

  it('svc au refresh --keep does not replace a request.keep.csv that appeared beside a request without kept columns', async () => {
    const { refresh, read, write } = await openRefresh([], {
      intercept: (_incoming, outgoing) => outgoing.writeHead(403).end(),
    });
    ended(await refresh(), 4);
    write(join(CYCLE, 'request.keep.csv'), 'mine');
    ended(await refresh('--keep', 'Customer'), 3, { error: { file: `${CYCLE}/request.keep.csv` } });
    expect(read(`${CYCLE}/request.keep.csv`)).toBe('mine');
  });
});
