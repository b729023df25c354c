import { expect, it } from 'vitest';
import { endError } from '../../../src/au/job/job.ts';

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
