import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { rowOf } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';
import { ALL, CYCLE, dividedDesk, FIRST } from './divided-desk.ts';

// A low limit splits even small files into several parts.
vi.mock('../../../src/schema/account-updater-files.ts', async (original) => ({
  ...(await original<object>()),
  MAX_REQUEST_FILE_ROWS: 3,
}));

const tokenOf = (row: string): string => row.slice(0, 36);

describe('a run of which two parts wait for the same job', () => {
  it.each(['state', 'other'])('the results of the job are delivered once: sent from the directory %s', async (by) => {
    const { svc, lines, parts } = await dividedDesk(ALL, by);
    const done = rowOf(await svc(`au submit all.csv ${CYCLE} --wait`));
    expect(parts().flatMap(({ joined, rows }) => (joined ? rows : []))).toEqual([1, 1]);
    expect(done).toMatchObject({ left_out: 2, results: { updated: 12, unchanged: 0, compared: true } });
    expect(lines('all.results.csv').map(tokenOf)).toEqual(ALL.map(tokenOf));
    const jobs = done['jobs'] as readonly string[];
    expect(jobs).toEqual([...new Set(jobs)]);
    rowOf(await svc(`au download ${String(done['run'])} --out again.csv`));
    expect(lines('again.csv')).toEqual(lines('all.results.csv'));
  });

  it('the results of a token with two merchants are delivered once each, since each of its jobs has it once', async () => {
    // The last part has a row of each other part once more, for a merchant of whom each row is an error.
    const again = [0, 3, 6].map((at) => (FIRST[at] ?? '').replace('M1', 'unknown'));
    const { svc, lines } = await dividedDesk([...FIRST, ...again], 'other');
    const done = await svc(`au submit all.csv ${CYCLE} --wait`);
    expect(rowOf(done)).toMatchObject({ left_out: 2, results: { updated: 9, errors: 3, unchanged: 0 } });
    expect(lines('all.results.csv').map(tokenOf)).toEqual([...FIRST, ...again].map(tokenOf));
    expect(done.stderr).not.toContain('another order');
  });

  it.each(['state', 'other'])(
    'R79: only the row whose own result is an error is written to be billed again: sent from the directory %s',
    async (by) => {
      const again = [0, 3, 6].map((at) => (FIRST[at] ?? '').replace('M1', 'unknown'));
      const { svc, lines } = await dividedDesk([...FIRST, ...again], by);
      const done = await svc(`au submit all.csv ${CYCLE} --wait`);
      expect(rowOf(done)).toMatchObject({ left_out: 2, left_out_errors: 1 });
      expect(lines('all.fix.csv').map((row) => row.includes('unknown'))).toEqual([true]);
    },
  );

  it('the job is open for no machine any more once a run has the results of all of its rows', async () => {
    const { svc } = await dividedDesk(ALL, 'other');
    expect(await svc('au resume', 'third')).toMatchObject({ code: 11 });
    rowOf(await svc(`au submit all.csv ${CYCLE} --wait`));
    expect(await svc('au resume', 'third')).toMatchObject({ code: 0 });
  });
});

it('parts that are divided twice get numbers, and so files, that no other part of the run has', async () => {
  let isRefused = false;
  const desk = await openQuickDesk({
    tenants: ['production'],
    merchants: ['M1'],
    intercept: ({ method }, outgoing, proceed) =>
      method === 'POST' && isRefused ? void outgoing.writeHead(403).end() : proceed(),
  });
  // A job shows the tenant, so that a run begins although no other job can be created.
  rowOf(await desk.svc('au create'));
  writeRows(desk, 'all.csv', ...ALL);
  // Each time, some of the rows that are left get a job of another file.
  for (const [at, rows] of [FIRST, ALL.slice(9, 10)].entries()) {
    isRefused = true;
    expect(await desk.svc(`au submit all.csv ${CYCLE}`)).toMatchObject({ code: 4 });
    isRefused = false;
    writeRows(desk, `other-${at}.csv`, ...rows);
    rowOf(await desk.svc(`au submit other-${at}.csv ${CYCLE}`));
  }
  const { run } = rowOf(await desk.svc(`au submit all.csv ${CYCLE} --wait`));
  const { parts } = desk.record(String(run));
  expect(parts.map(({ number, rows }) => [number, rows])).toEqual([
    [5, 3],
    [6, 3],
    [7, 3],
    [9, 1],
    [10, 2],
  ]);
  const results = readFileSync(desk.home.file('all.results.csv'), 'utf8').trimEnd().split('\n');
  expect(results.slice(1).map(tokenOf)).toEqual(ALL.map(tokenOf));
});
