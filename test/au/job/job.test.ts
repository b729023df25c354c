import { expect, it } from 'vitest';
import { endError, nameOf } from '../../../src/au/job/job.ts';

it.each([
  [undefined, 'job 7f failed: the service gave no reason'],
  [[], 'job 7f failed: the service gave no reason'],
  [['row 2: no token'], 'job 7f failed: row 2: no token'],
  [['row 2: no token', 'row 3: no year'], 'job 7f failed: row 2: no token; row 3: no year'],
])('a failed job says why, as far as the service does: %j', (errors, message) => {
  const job = { id: '7f', status: 'failed', ...(errors && { errors }) };
  expect(endError(job)).toMatchObject({ message, exitCode: 10, facts: { job: '7f', errors: errors ?? [] } });
});

it('R43: a job with errors and a status that svc does not know has ended, and is no failed job', () => {
  const errors = ['cancelled by support'];
  expect(endError({ id: '7f', status: 'cancelled', errors })).toMatchObject({
    message: 'job 7f has the status cancelled, which svc does not know: cancelled by support',
    exitCode: 9,
    alternatives: [['au', 'abandon', '7f']],
    facts: { job_status: 'cancelled', errors },
  });
  // A new status without errors may be one on the way.
  for (const status of ['queued', 'processing', 'completed'])
    expect(endError({ id: '7f', status, errors: status === 'queued' ? [] : errors })).toBeUndefined();
});

it.each([
  [{ id: '7f' }, '7f'],
  [{ id: '' }, '(an item without a readable id)'],
  [{ created_at: '2026-11-02T04:00:00Z' }, '(an item without a readable id, created 2026-11-02T04:00:00Z)'],
])('an item of the list of jobs has a name: %j', (item, name) => {
  expect(nameOf(item)).toBe(name);
});
