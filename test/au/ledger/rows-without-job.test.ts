import { expect, it } from 'vitest';
import type { Entry } from '../../../src/au/ledger/entry.ts';
import { RowSet } from '../../../src/au/ledger/row-set.ts';
import { lostRows, rowsWithoutJob } from '../../../src/au/ledger/rows-without-job.ts';
import { claimBody, WHO } from './entries.ts';

const COMMON = { version: 1, previous: null, at: '2026-12-01T05:00:00Z', by: WHO } as const;

/** A claim of the rows from one number to another. */
const claim = (job: string, from: number, to: number): Entry => ({
  ...COMMON,
  ...claimBody(job, { row_set: `${from} ${to}`, sha256: `${from} ${to}` }),
});

/** A claim of which it is unknown which rows it has. */
const unknownClaim = (job: string): Entry => ({ ...COMMON, ...claimBody(job, { row_set: null }) });

const release = (job: string, why: 'failed' | 'gone' | 'refused' | 'operator'): Entry => ({
  ...COMMON,
  kind: 'release',
  job,
  why,
  proof: 'read',
});

const leftOut = (job: string, from: number, to: number): Entry => ({
  ...COMMON,
  kind: 'left_out',
  job,
  row_set: `${from} ${to}`,
});

/** Returns the rows of a set, which its name says. */
async function rowSet(name: string): Promise<RowSet> {
  const [from = 0, to = 0] = name.split(' ').map(Number);
  return RowSet.of(
    Array.from({ length: to - from }, (_, at) => BigInt(from + at)),
    'salt',
  );
}

/** Returns the number of rows that no job has, by the jobs whose files have them. */
async function unsentIn(...entries: readonly Entry[]): Promise<Readonly<Record<string, number>>> {
  const found = await rowsWithoutJob({ entries, cycle: { rowSet } });
  return Object.fromEntries(
    found.map(({ claim, isEnded, rows }) => [isEnded ? claim.job : `file of ${claim.job}`, rows.size]),
  );
}

it.each([
  ['a job that stands', [claim('a', 0, 9)], {}],
  ['a job that failed', [claim('a', 0, 9), release('a', 'failed')], { a: 9 }],
  ['a job that never got its file', [claim('a', 0, 9), release('a', 'gone')], { a: 9 }],
  [
    'a job that failed, and of which another one has some rows',
    [claim('a', 0, 9), release('a', 'failed'), claim('b', 0, 4)],
    { a: 5 },
  ],
  [
    'a job that turned out to have its file',
    [claim('a', 0, 9), release('a', 'gone'), claim('b', 20, 30), claim('a', 0, 9)],
    {},
  ],
  ['a job that the operator freed', [claim('a', 0, 9), release('a', 'operator')], { a: 9 }],
  [
    'a job that failed before the operator freed some of its rows in another one',
    [claim('a', 0, 9), release('a', 'failed'), claim('b', 0, 4), release('b', 'operator')],
    { a: 5, b: 4 },
  ],
  [
    'a job that failed before the operator freed all of its rows in another one',
    [claim('a', 0, 9), release('a', 'failed'), claim('b', 0, 9), release('b', 'operator')],
    { b: 9 },
  ],
  [
    'a job that failed after the operator freed its rows in another one',
    [claim('b', 0, 9), release('b', 'operator'), claim('a', 0, 9), release('a', 'failed')],
    { a: 9 },
  ],
  [
    'a job that failed for the second time, after the operator freed its rows in another one',
    [
      claim('a', 0, 9),
      release('a', 'gone'),
      claim('b', 0, 9),
      release('b', 'operator'),
      claim('a', 0, 9),
      release('a', 'failed'),
    ],
    { a: 9 },
  ],
  [
    'a job that failed while another one may have any row',
    [claim('a', 0, 9), release('a', 'failed'), unknownClaim('b')],
    {},
  ],
  [
    'a job that failed before one with unknown rows failed',
    [claim('a', 0, 9), release('a', 'failed'), unknownClaim('b'), release('b', 'failed')],
    { a: 9 },
  ],
])('the rows of a cycle that no job has are counted: %s', async (_, entries, unsent) => {
  expect(await unsentIn(...entries)).toEqual(unsent);
});

/** A claim of rows of a file of several jobs, whose other rows had no job when it was divided. */
const claimOf = (job: string, from: number, to: number, rowSets: readonly string[]): Entry => ({
  ...COMMON,
  ...claimBody(job, {
    row_set: `${from} ${to}`,
    sha256: `${from} ${to}`,
    file: { name: 'tokens.csv', sha256: 'a'.repeat(64), rows: 9, row_sets: [...rowSets] },
  }),
});

const HALVES = ['0 5', '5 9'];
const THIRDS = ['0 5', '5 7', '7 9'];

it.each([
  ['all rows of a file in two jobs', [claimOf('a', 0, 5, HALVES), claimOf('b', 5, 9, HALVES)], {}],
  ['a file that stopped after its first job', [claimOf('a', 0, 5, HALVES)], { 'file of a': 4 }],
  [
    'a file that stopped after a job that failed',
    [claimOf('a', 0, 5, HALVES), release('a', 'failed')],
    { a: 5, 'file of a': 4 },
  ],
  [
    'a job that failed before later ones of its file, which stopped',
    [claimOf('a', 0, 5, THIRDS), claimOf('b', 5, 7, THIRDS), release('a', 'failed')],
    { a: 5, 'file of b': 2 },
  ],
  [
    'rows of a job of a file that the operator left out, and rows of the file that no job had',
    [claimOf('a', 0, 5, HALVES), release('a', 'operator'), leftOut('a', 0, 5)],
    { 'file of a': 4 },
  ],
  [
    'a file that stopped after a job that the operator freed',
    [claimOf('a', 0, 5, HALVES), release('a', 'operator')],
    { a: 5, 'file of a': 4 },
  ],
  [
    'a file that stopped before another one had some of its rows',
    [claimOf('a', 0, 5, HALVES), claim('b', 7, 20)],
    { 'file of a': 2 },
  ],
  ['a file that stopped before another one had all of its rows', [claimOf('a', 0, 5, HALVES), claim('b', 5, 20)], {}],
  [
    'a file that stopped, before a file with other rows',
    [claimOf('a', 0, 5, HALVES), claim('b', 20, 40)],
    { 'file of a': 4 },
  ],
  ['a file that another machine sent at the same time', [claim('b', 5, 9), claimOf('a', 0, 5, HALVES)], {}],
  [
    'two files that stopped',
    [claimOf('a', 0, 5, HALVES), claimOf('b', 20, 25, ['20 25', '25 27'])],
    { 'file of a': 4, 'file of b': 2 },
  ],
  ['rows that the operator left out', [claimOf('a', 0, 5, HALVES), leftOut('a', 5, 9)], {}],
  ['rows of which the operator left some out', [claimOf('a', 0, 5, HALVES), leftOut('a', 5, 8)], { 'file of a': 1 }],
  [
    'rows of a failed job that the operator left out',
    [claim('a', 0, 9), release('a', 'failed'), leftOut('a', 0, 9)],
    {},
  ],
  [
    'rows that the operator left out and then submitted, whose job failed',
    [claim('a', 0, 9), release('a', 'failed'), leftOut('a', 0, 9), claim('b', 0, 4), release('b', 'failed')],
    { b: 4 },
  ],
  ['a file of several jobs whose submission was refused', [claimOf('a', 0, 5, HALVES), release('a', 'refused')], {}],
  ['rows of a submission that was refused', [claim('a', 0, 9), release('a', 'refused')], {}],
  [
    'two jobs that failed',
    [claim('a', 0, 5), claim('b', 3, 9), release('a', 'failed'), release('b', 'gone')],
    { a: 3, b: 6 },
  ],
])('the rows of a file without a job are counted: %s', async (_, entries, unsent) => {
  expect(await unsentIn(...entries)).toEqual(unsent);
});

/** Returns the jobs whose files have lost rows. */
async function jobsWithLostRows(...entries: readonly Entry[]): Promise<readonly string[]> {
  return (await lostRows({ entries, cycle: { rowSet } })).map(({ claim: { job } }) => job);
}

it('rows that never had a job are not lost while a command may still send them', async () => {
  const stopped = claimOf('a', 0, 5, HALVES);
  expect(await jobsWithLostRows(stopped)).toEqual([]);
  expect(await jobsWithLostRows(claim('b', 20, 22), release('b', 'failed'), stopped)).toEqual(['b']);
  expect(await jobsWithLostRows(claimOf('c', 5, 9, HALVES), release('c', 'failed'), stopped)).toEqual(['c']);
  expect(await jobsWithLostRows(stopped, { ...COMMON, kind: 'done', job: 'a', born: null })).toEqual(['a']);
});
