import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk, writeRows } from './support.ts';

const DAY = 86_400_000;
const [, ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const OLD = /nothing was sent: the newest job with rows of .* is \d+d.* old/;

/** Returns the age in milliseconds of what a submission shows. */
function ageIn({ clock }: QuickDesk, shown: Record<string, unknown>): number {
  return clock.now() - Date.parse(String(shown['in_cycle_since']));
}

describe('the age of a file in its cycle', () => {
  it('the age of a file in its cycle is that of the first job with rows of it', async () => {
    const desk = await openQuickDesk();
    writeRows(desk, 'tokens.csv', ...ROWS.slice(0, 6));
    expect(ageIn(desk, rowOf(await desk.svc('au submit tokens.csv --cycle 2026-12')))).toBeLessThan(DAY);
    await desk.clock.advance(2 * DAY);
    writeRows(desk, 'more.csv', ...ROWS.slice(4, 9));
    expect(ageIn(desk, rowOf(await desk.svc('au submit more.csv --cycle 2026-12')))).toBeGreaterThanOrEqual(2 * DAY);
    // Other rows of the cycle do not count.
    writeRows(desk, 'others.csv', ...ROWS.slice(9, 12));
    expect(ageIn(desk, rowOf(await desk.svc('au submit others.csv --cycle 2026-12')))).toBeLessThan(DAY);
    writeRows(desk, 'alone.csv', 'one-more,27,01,');
    expect(ageIn(desk, rowOf(await desk.svc('au submit alone.csv')))).toBeLessThan(DAY);
  });

  it('a schedule that names the same cycle each month is warned once nothing was sent for more than 35 days', async () => {
    const desk = await openQuickDesk();
    const line = 'au submit tokens.csv --cycle monthly --wait';
    for (const days of [0, 34]) {
      await desk.clock.advance(days * DAY);
      ended(await desk.svc(line), 0, { unsaid: OLD });
    }
    await desk.clock.advance(2 * DAY);
    ended(await desk.svc(line), 0, OLD, { row: { status: 'already_submitted' } });
    // The same rows in another file are not sent either.
    writeRows(desk, 'same.csv', ...ROWS.toReversed());
    expect((await desk.svc('au submit same.csv --cycle monthly')).stderr).toMatch(OLD);
    // A file with one new row is.
    writeRows(desk, 'more.csv', ...ROWS, 'one-more,27,01,');
    expect((await desk.svc('au submit more.csv --cycle monthly')).stderr).not.toMatch(OLD);
  });

  it('a schedule whose file has only tokens that its cycle made is warned too', async () => {
    const desk = await openQuickDesk();
    rowOf(await desk.svc('au submit tokens.csv --cycle monthly --wait'));
    const [, ...results] = readFileSync(desk.home.file('tokens.results.csv'), 'utf8').trimEnd().split('\n');
    const made = results.map((row) => row.split(',')[3] ?? '').filter(Boolean);
    writeRows(desk, 'new.csv', ...made.map((token) => `${token},27,01,`));
    await desk.clock.advance(36 * DAY);
    const { stderr, ...shown } = await desk.svc('au submit new.csv --cycle monthly');
    expect(rowOf({ ...shown, stderr })).toMatchObject({ status: 'nothing_new', in_cycle_since: null });
    expect(stderr).toMatch(OLD);
  });
});
