import { expect, it } from 'vitest';
import { failedError, nameOf } from '../../../src/au/job/job.ts';

it.each([
  [undefined, 'job 7f failed: the service gave no reason'],
  [[], 'job 7f failed: the service gave no reason'],
  [['row 2: no token'], 'job 7f failed: row 2: no token'],
  [['row 2: no token', 'row 3: no year'], 'job 7f failed: row 2: no token; row 3: no year'],
])('a failed job says why, as far as the service does: %j', (errors, message) => {
  const job = { id: '7f', status: 'failed', ...(errors && { errors }) };
  expect(failedError(job)).toMatchObject({ message, exitCode: 10, facts: { job: '7f', errors: errors ?? [] } });
});

it.each([
  [{ id: '7f' }, '7f'],
  [{ id: '' }, '(an item without a readable id)'],
  [{ created_at: '2026-11-02T04:00:00Z' }, '(an item without a readable id, created 2026-11-02T04:00:00Z)'],
])('an item of the list of jobs has a name: %j', (item, name) => {
  expect(nameOf(item)).toBe(name);
});
