import { WHO, claimBody } from './entries.ts';
import { expect, it } from 'vitest';
import { rowsTakenError } from '../../../src/au/jobs/claim-file.ts';
import { type Doubt, doubtError } from '../../../src/au/ledger/doubt.ts';
import type { ClaimEntry } from '../../../src/au/ledger/entry.ts';

/** 15 minutes after the end of the second in which the claim's upload address expires. */
const PROVABLE = Date.parse('2026-12-01T06:15:01Z');

const CLAIM: ClaimEntry = {
  version: 1,
  previous: null,
  at: '2026-12-01T05:00:00Z',
  by: { ...WHO },
  ...claimBody('job-1'),
};

const TAKEN = { claim: CLAIM, rows: 31, status: 'processing', wasRead: false } as const;

function doubtOf(why: Doubt['why'], now: number) {
  return doubtError([{ claim: CLAIM, why }], { cycle: '2026-12', now });
}

it('the error about rows that another job has says that the same command does not help later', () => {
  const file = { name: 'tokens.csv', cycle: '2026-12', isNamed: true };
  expect(rowsTakenError(file, [TAKEN], 40, PROVABLE)).toMatchObject({ exitCode: 6, retryable: false });
});

it('the errors about claims name the command that frees the rows, once a week has passed and nothing can be proven', () => {
  const week = Date.parse('2026-12-08T05:00:00Z');
  const [inTime, late] = [week, week + 2_000].map((now) => doubtOf('missing', now));
  expect(inTime).toMatchObject({ retryable: true, alternatives: [] });
  expect(late).toMatchObject({ retryable: false, alternatives: [['au', 'abandon', 'job-1']] });
  expect(late?.message).toContain('cannot be proven any more');
});

it.each([
  ['ended', 9, false, false],
  ['sent', 9, true, false],
  ['confirmed', 9, true, false],
  ['read', 9, true, true],
  ['delivered', 9, true, true],
  ['shown', 9, true, true],
] as const)(
  'the error about a job in doubt that was %s says whether its rows are paid for',
  (why, code, retryable, isPaid) => {
    const error = doubtOf(why, PROVABLE);
    expect(error).toMatchObject({ exitCode: code, retryable, facts: { job: 'job-1', rows: 31 } });
    expect(error.hint?.includes('The rows are paid for and are not sent again.')).toBe(isPaid);
    expect(error.next).toEqual(['au', 'status', 'job-1']);
  },
);
