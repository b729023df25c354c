import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';
import { sharedLedger } from '../ledger/shared-ledger.ts';

// A low limit splits even small files into several jobs.
vi.mock('../../../src/schema/account-updater-files.ts', async (original) => ({
  ...(await original<object>()),
  MAX_REQUEST_FILE_ROWS: 3,
}));

const CYCLE = '--cycle 2026-12';
const [, ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const ALL = ROWS.slice(0, 12).map((row) => `${row}M1`);
const FIRST = ALL.slice(0, 9);
// Rows of three tokens once more, for a merchant of whom each row is an error.
const AGAIN = [0, 3, 6].map((at) => (FIRST[at] ?? '').replace('M1', 'unknown'));

const tokenOf = (row: string): string => row.slice(0, 36);

/** A desk on which a job, sent from the state directory `by`, has a row of the first and one of the last third of all.csv. */
async function dividedDesk(all: readonly string[], by: string) {
  const desk = await openQuickDesk({ tenants: ['production'], merchants: ['M1'] });
  const shared = sharedLedger(desk.home.file('ledger'));
  const svc = (line: string, state = 'state') => desk.svc(line, { ...shared, SVC_STATE_DIR: desk.home.file(state) });
  writeRows(desk, 'all.csv', ...all);
  writeRows(desk, 'other.csv', all[9] ?? '', all[1] ?? '');
  rowOf(await svc(`au submit other.csv ${CYCLE}`, by));
  const lines = (name: string): string[] => readFileSync(desk.home.file(name), 'utf8').trimEnd().split('\n').slice(1);
  return { svc, lines };
}

it.each(['state', 'other'])(
  'the results of a file of which another job has some rows are delivered once, in the order of the file: sent from the directory %s',
  async (by) => {
    const { svc, lines } = await dividedDesk(ALL, by);
    const done = rowOf(await svc(`au submit all.csv ${CYCLE} --wait`));
    expect(done).toMatchObject({ sent: 10, left_out: 2, results: { updated: 12, unchanged: 0, compared: true } });
    expect(lines('all.results.csv').map(tokenOf)).toEqual(ALL.map(tokenOf));
    expect(done['jobs']).toHaveLength(5);
  },
);

it('R79: the results of a token with two merchants are delivered once each, and only a left-out row with an error is written to be billed again', async () => {
  const { svc, lines } = await dividedDesk([...FIRST, ...AGAIN], 'other');
  ended(await svc(`au submit all.csv ${CYCLE} --wait`), 0, {
    row: { left_out: 2, left_out_errors: 1, results: { updated: 9, errors: 3, unchanged: 0 } },
  });
  expect(lines('all.results.csv').map(tokenOf)).toEqual([...FIRST, ...AGAIN].map(tokenOf));
  expect(lines('all.fix.csv').map((row) => row.includes('unknown'))).toEqual([true]);
});
