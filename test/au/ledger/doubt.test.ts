import { WHO, claimBody } from './entries.ts';
import { expect, it } from 'vitest';
import { rowsTakenError } from '../../../src/au/jobs/claim-file.ts';
import { failedElsewhereError } from '../../../src/au/jobs/claim-texts.ts';
import { type Doubt, doubtError, whenKnownText } from '../../../src/au/ledger/doubt.ts';
import type { ClaimEntry } from '../../../src/au/ledger/entry.ts';

const FILE = { name: 'tokens.csv', cycle: '2026-12', isNamed: true };
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

it.each([
  ['rows that another job has', rowsTakenError(FILE, [TAKEN], 40, PROVABLE), 6, false],
  ['rows in doubt', doubtOf('missing', PROVABLE), 9, true],
  ['unknown rows', doubtOf('unknown', PROVABLE), 9, false],
  ['rows whose job failed elsewhere', failedElsewhereError(FILE, [TAKEN]), 10, true],
])('the errors about claims say whether the same command helps later: %s', (_, error, code, retryable) => {
  expect(error).toMatchObject({ exitCode: code, retryable });
});

it('the errors about claims name the time from which a doubt can be settled, until that time', () => {
  const before = doubtOf('missing', PROVABLE - 1);
  expect(before.message).toMatch(/is known at 2026-12-01 06:15:\d\dZ by the service's clock/);
  expect(before.facts).toMatchObject({ settled_after: '2026-12-01T06:15:01.000Z' });
  expect(before.hint).toContain('Run the same command again after that.');
  for (const now of [PROVABLE, PROVABLE + 1]) {
    const after = doubtOf('missing', now);
    expect(after.message).toContain('is not known yet: the service does not find the job');
    expect(after.facts).not.toHaveProperty('settled_after');
    expect(after.hint).toContain('Run the same command again later.');
  }
  expect(whenKnownText({ ...CLAIM, expires_at: null }, PROVABLE)).toContain('is not known yet');
});

it('the errors about claims name the command that frees the rows, once a week has passed and nothing can be proven', () => {
  const week = Date.parse('2026-12-08T05:00:00Z');
  const [inTime, late] = [week, week + 2_000].map((now) => doubtOf('missing', now));
  expect(inTime).toMatchObject({ retryable: true, alternatives: [] });
  expect(late).toMatchObject({ retryable: false, alternatives: [['au', 'abandon', 'job-1']] });
  expect(late?.message).toContain('cannot be proven any more');
});

it('the error about several jobs in doubt names each of them, and the job that needs the operator first', () => {
  const old: ClaimEntry = { ...CLAIM, job: 'job-2', created_at: '2026-11-01T05:00:00Z' };
  const doubts = [
    { claim: CLAIM, why: 'sent' },
    { claim: old, why: 'missing' },
  ] as const;
  const error = doubtError(doubts, { cycle: '2026-12', now: PROVABLE - 1 });
  for (const job of ['job-1', 'job-2']) expect(error.message).toContain(`job ${job} with 31 rows of cycle 2026-12`);
  expect(error).toMatchObject({
    retryable: false,
    next: ['au', 'status', 'job-2'],
    alternatives: [['au', 'abandon', 'job-2']],
    facts: { jobs: ['job-1', 'job-2'], cycle: '2026-12', rows: 62 },
  });
});

it('the error about many jobs in doubt names three of a kind, and has all in its facts', () => {
  const jobs = Array.from({ length: 34 }, (_, at) => `job-${at}`);
  const doubts = jobs.map((job) => ({ claim: { ...CLAIM, job }, why: 'missing' as const }));
  const { message, facts } = doubtError(doubts, { cycle: '2026-12', now: PROVABLE }) ?? {};
  expect(message).toMatch(
    /^whether the service has the rows of job job-0 with 31 rows of cycle 2026-12, sent by .* not find the job; the same is true of 33 other jobs with 1,023 rows: job-1, job-2 and 31 more$/,
  );
  expect(facts).toMatchObject({ jobs, rows: 34 * 31 });
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
