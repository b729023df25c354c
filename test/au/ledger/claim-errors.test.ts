import { expect, it } from 'vitest';
import {
  doubtError,
  failedElsewhere,
  knownText,
  takenError,
  unknownRowsError,
} from '../../../src/au/ledger/claim-errors.ts';
import type { ClaimEntry } from '../../../src/au/ledger/entry.ts';
import { claimBody, WHO } from './entries.ts';

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
const TAKEN = { claim: CLAIM, rows: 31, status: 'processing', isDone: false } as const;

it.each([
  ['rows that another job has', takenError(FILE, [TAKEN], 40, PROVABLE), 6, false],
  ['rows in doubt', doubtError(FILE, TAKEN, PROVABLE), 9, true],
  ['unknown rows', unknownRowsError(FILE, CLAIM), 9, false],
  ['rows whose job failed elsewhere', failedElsewhere(FILE, TAKEN), 10, true],
])('the errors about claims say whether the same command helps later: %s', (_, error, code, retryable) => {
  expect(error).toMatchObject({ exitCode: code, retryable });
});

it('the errors about claims name the time from which a doubt can be settled, until that time', () => {
  const before = doubtError(FILE, TAKEN, PROVABLE - 1);
  expect(before.message).toMatch(/is known at 2026-12-01 06:15:\d\dZ by the service's clock/);
  expect(before.facts).toMatchObject({ settled_after: '2026-12-01T06:15:01.000Z' });
  expect(before.hint).toContain('Run the same command again after that.');
  for (const now of [PROVABLE, PROVABLE + 1]) {
    const after = doubtError(FILE, TAKEN, now);
    expect(after.message).toContain('is not known yet: the service does not find the job');
    expect(after.facts).not.toHaveProperty('settled_after');
    expect(after.hint).toContain('Run the same command again later.');
  }
  expect(knownText({ ...CLAIM, expires_at: null }, PROVABLE)).toContain('is not known yet');
});

it('the errors about claims name the command that frees the rows, once a week has passed and nothing can be proven', () => {
  const week = Date.parse('2026-12-08T05:00:00Z');
  const [inTime, late] = [week, week + 2_000].map((now) => doubtError(FILE, TAKEN, now));
  expect(inTime).toMatchObject({ retryable: true, alternatives: [] });
  expect(late).toMatchObject({ retryable: false, alternatives: [['au', 'abandon', 'job-1']] });
  expect(late?.message).toContain('cannot be proven any more');
});
