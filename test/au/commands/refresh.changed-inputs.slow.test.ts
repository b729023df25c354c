import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { inventedCard } from '../../../src/emulator/vault/invented-card.ts';
import { ended, errorIn, type HereResult, rowOf } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';

const SEED = 7;
const UUIDS = Array.from({ length: 2000 }, (_, at) => `0b1c2d3e-4f50-4a61-8b72-${String(at).padStart(12, '0')}`);
const outcomeOf = (token: string): string | undefined => inventedCard(SEED, token, 0)?.update?.code;
const UNCHANGED = UUIDS.filter((token) => outcomeOf(token) === undefined);
const WARNED = UUIDS.find((token) => outcomeOf(token) === 'WRN_CONTACT_CARDHOLDER') ?? '';

/** A service that invents results and does not say so. */
const saysNothing: Interceptor = (incoming, outgoing, proceed) =>
  incoming.url === '/sandbox/key' ? outgoing.writeHead(404).end() : proceed();

/** A desk that refreshes an export of these tokens, and reads the files of its cycle. */
async function openRefresh() {
  const desk = await openQuickDesk({ acceptTokens: true, seed: SEED, intercept: saysNothing });
  const refresh = (tokens: readonly string[], ...words: string[]): Promise<HereResult> =>
    refreshTo(tokens, '--next', ...words);
  const refreshTo = (tokens: readonly string[], ...words: string[]): Promise<HereResult> => {
    writeFileSync(desk.home.file('export.csv'), ['token', ...tokens, ''].join('\n'));
    return desk.svc(['au', 'refresh', 'export.csv', '--cycle', '2026-12', ...words]);
  };
  const tokensIn = (name: string): string[] => {
    const rows = readFileSync(desk.home.file(join('refresh', name)), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1);
    return rows.map((row) => row.split(',')[0] ?? '');
  };
  return {
    desk,
    refresh,
    refreshTo,
    tokensIn,
    page: () => readFileSync(desk.home.file('refresh/2026-12/report.html'), 'utf8'),
  };
}

describe('a cycle whose files are to be made again though its results are the same', () => {
  it('the files of a cycle have rows that are added and have no update, which the results do not show', async () => {
    const { refresh, tokensIn, page } = await openRefresh();
    const first = [WARNED, ...UNCHANGED.slice(0, 2)];
    expect(rowOf(await refresh(first))).toMatchObject({ rows: 3, unchanged: 2, next_rows: 3 });
    const before = page();
    const all = [...first, ...UNCHANGED.slice(2, 4)];
    expect(rowOf(await refresh(all, '--add'))).toMatchObject({ rows: 5, unchanged: 4, next_rows: 5 });
    expect(tokensIn('2026-12/next.csv').toSorted()).toEqual(all.toSorted());
    expect(page()).not.toBe(before);
    expect(rowOf(await refresh(all))).toMatchObject({ rows: 5, next_rows: 5 });
  });

  it('next.csv follows rows that are added without --next, and stays with a warning where it may not be written', async () => {
    const { desk, refresh, refreshTo, tokensIn } = await openRefresh();
    const all = [WARNED, ...UNCHANGED.slice(0, 4)];
    const old = 'refresh/2026-12/next.csv was not written now, and may be of earlier rows or results of the cycle';
    rowOf(await refresh(all.slice(0, 3)));
    ended(await refreshTo(all, '--add'), 0, { row: { rows: 5, next: 'refresh/2026-12/next.csv', next_rows: 5 } });
    ended(await refreshTo(all, '--fail-on', 'wrn'), 10, old, { row: { next: null } });
    expect(tokensIn('2026-12/next.csv')).toHaveLength(5);
    ended(await refreshTo(all), 0, { row: { next_rows: 5 } });
    writeFileSync(desk.home.file('refresh/2026-12/next.csv'), 'mine');
    const edited = ended(await refreshTo(all), 3, {
      row: { next: null },
      error: { files: ['refresh/2026-12/next.csv'] },
    });
    expect(edited.stderr).not.toContain(old);
    expect(readFileSync(desk.home.file('refresh/2026-12/next.csv'), 'utf8')).toBe('mine');
    rmSync(desk.home.file('refresh/2026-12/next.csv'));
    ended(await desk.svc(String(errorIn(edited)['next']).split(' ').slice(1)), 0, { row: { next_rows: 5 } });
  });

  it('the files of a cycle follow an action that is chosen after they were written', async () => {
    const { refresh, tokensIn } = await openRefresh();
    const tokens = [WARNED, ...UNCHANGED.slice(0, 2)];
    expect(rowOf(await refresh(tokens))).toMatchObject({ excluded: 0, next_rows: 3 });
    ended(await refresh(tokens, '--action', 'WRN_CONTACT_CARDHOLDER=exclude'), 0, {
      row: { excluded: 1, next_rows: 2 },
    });
    expect(tokensIn('exclusions.csv')).toEqual([WARNED]);
    expect(tokensIn('2026-12/next.csv')).not.toContain(WARNED);
    expect(tokensIn('2026-12/todo/exclude.csv')).toEqual([WARNED]);
  });
});
