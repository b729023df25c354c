import { expect, it } from 'vitest';
import type { ClaimEntry, Entry } from '../../../src/au/ledger/entry.ts';
import { RowSet } from '../../../src/au/ledger/row-set.ts';
import { rowsOfEndedJob, unclaimedRows } from '../../../src/au/ledger/rows-without-job.ts';
import { claimBody, WHO } from './entries.ts';

const COMMON = { version: 1, previous: null, at: '2026-12-01T05:00:00Z', by: WHO } as const;

/** A claim of the rows from one number to another. */
const claim = (job: string, from: number, to: number): Entry => ({
  ...COMMON,
  ...claimBody(job, { row_set: `${from} ${to}`, sha256: `${from} ${to}` }),
});

/** A claim of which it is unknown which rows it has. */
const unknownClaim = (job: string): Entry => ({ ...COMMON, ...claimBody(job, { row_set: null }) });

const release = (job: string, why: 'failed' | 'gone' | 'operator'): Entry => ({
  ...COMMON,
  kind: 'release',
  job,
  why,
  proof: 'read',
});

/** Returns the rows of a claim, which the name of its set says. */
async function rowsOf({ row_set: name }: Pick<ClaimEntry, 'row_set'>): Promise<RowSet | undefined> {
  if (name === null) return undefined;
  const [from = 0, to = 0] = name.split(' ').map(Number);
  return RowSet.of(
    Array.from({ length: to - from }, (_, at) => BigInt(from + at)),
    'salt',
  );
}

/** Returns the number of rows that no job has, with the job that ended without results; nothing if there are none. */
async function unsentIn(...entries: readonly Entry[]): Promise<Readonly<Record<string, unknown>> | undefined> {
  const lost = await rowsOfEndedJob({ entries, cycle: { rowSetOf: rowsOf } });
  return lost && { job: lost.claim.job, rows: lost.rows };
}

it.each([
  ['a job that stands', [claim('a', 0, 9)], undefined],
  ['a job that failed', [claim('a', 0, 9), release('a', 'failed')], { job: 'a', rows: 9 }],
  ['a job that never got its file', [claim('a', 0, 9), release('a', 'gone')], { job: 'a', rows: 9 }],
  [
    'a job that failed, and of which another one has some rows',
    [claim('a', 0, 9), release('a', 'failed'), claim('b', 0, 4)],
    { job: 'a', rows: 5 },
  ],
  [
    'a job that turned out to have its file',
    [claim('a', 0, 9), release('a', 'gone'), claim('b', 20, 30), claim('a', 0, 9)],
    undefined,
  ],
  ['a job that the operator freed', [claim('a', 0, 9), release('a', 'operator')], undefined],
  [
    'a job that failed before the operator freed some of its rows in another one',
    [claim('a', 0, 9), release('a', 'failed'), claim('b', 0, 4), release('b', 'operator')],
    { job: 'a', rows: 5 },
  ],
  [
    'a job that failed before the operator freed all of its rows in another one',
    [claim('a', 0, 9), release('a', 'failed'), claim('b', 0, 9), release('b', 'operator')],
    undefined,
  ],
  [
    'a job that failed after the operator freed its rows in another one',
    [claim('b', 0, 9), release('b', 'operator'), claim('a', 0, 9), release('a', 'failed')],
    { job: 'a', rows: 9 },
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
    { job: 'a', rows: 9 },
  ],
  [
    'a job that failed while another one may have any row',
    [claim('a', 0, 9), release('a', 'failed'), unknownClaim('b')],
    undefined,
  ],
  [
    'a job that failed before one with unknown rows failed',
    [claim('a', 0, 9), release('a', 'failed'), unknownClaim('b'), release('b', 'failed')],
    { job: 'a', rows: 9 },
  ],
])('the rows of a cycle that no job has are counted: %s', async (_, entries, unsent) => {
  expect(await unsentIn(...entries)).toEqual(unsent);
});

/** A claim of rows of a file, after which some of its rows have no job yet. */
const claimOf = (
  job: string,
  rows: number,
  { name = 'tokens.csv', sha256 = name.slice(0, 1), all = 9, unclaimed }: FileOfClaim = {},
): Entry => ({
  ...COMMON,
  ...claimBody(job, { keys: 2, rows, file: { name, sha256: sha256.repeat(64), rows: all, unclaimed } }),
});

interface FileOfClaim {
  readonly name?: string;
  readonly sha256?: string;
  /** The number of rows of the file. */
  readonly all?: number;
  readonly unclaimed?: number;
}

const results = (job: string): Entry => ({ ...COMMON, kind: 'done', job, born: null });

const other = { name: 'b.csv', all: 6 } as const;

it.each([
  ['all rows of a file in two jobs', [claimOf('a', 5, { unclaimed: 4 }), claimOf('b', 4, { unclaimed: 0 })], undefined],
  ['a file that stopped after its first job', [claimOf('a', 5, { unclaimed: 4 })], 4],
  ['a file that stopped, whose first job has results', [claimOf('a', 5, { unclaimed: 4 }), results('a')], 4],
  ['a file that stopped after a job that failed', [claimOf('a', 5, { unclaimed: 4 }), release('a', 'failed')], 4],
  [
    'a file that stopped after a job that the operator freed',
    [claimOf('a', 5, { unclaimed: 4 }), release('a', 'operator'), claimOf('b', 3, { unclaimed: 1 })],
    1,
  ],
  [
    'a file that stopped, of which an earlier file has rows',
    [claimOf('b', 6, { ...other, unclaimed: 0 }), claimOf('a', 2, { unclaimed: 3 })],
    3,
  ],
  [
    'a file that stopped before another one was sent, which may have some of its rows',
    [claimOf('a', 1, { unclaimed: 8 }), claimOf('b', 6, { ...other, unclaimed: 0 })],
    2,
  ],
  [
    'the first of two files that stopped',
    [claimOf('a', 1, { unclaimed: 8 }), claimOf('b', 1, { ...other, unclaimed: 5 })],
    7,
  ],
  [
    'rows that a job of another file may have',
    [claimOf('a', 5, { unclaimed: 4 }), claimOf('b', 4, { ...other, unclaimed: 0 })],
    undefined,
  ],
  [
    'a file whose tokens earlier results made',
    [claimOf('b', 2, { ...other, unclaimed: 0 }), results('b'), claimOf('a', 1, { unclaimed: 0 })],
    undefined,
  ],
  [
    'a file that two machines sent at the same time, each of which counted the rows of the other',
    [claimOf('a', 5, { unclaimed: 4 }), claimOf('b', 4, { unclaimed: 5 })],
    undefined,
  ],
  [
    'a row that the operator took out of the file',
    [claimOf('a', 5, { unclaimed: 4 }), claimOf('b', 3, { sha256: 'e', all: 8, unclaimed: 0 })],
    undefined,
  ],
  ['a claim of an earlier build', [claimOf('a', 5)], undefined],
])('the rows of a file that never had a job are counted: %s', (_, entries, rows) => {
  expect(unclaimedRows(entries)?.rows).toBe(rows);
});
