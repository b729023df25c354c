import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';

/** Reads a job. @throws SvcError `job_expired` when the service knows it no more */
export async function readJob({ accountUpdater }: Client, id: string): Promise<AccountUpdaterJob> {
  try {
    return await accountUpdater.read(id);
  } catch (error) {
    throw isSvcError(error, 'not_found') ? expiredError(id) : error;
  }
}

/** Reads a job, or gives undefined when the service knows it no more. */
export async function findJob(client: Client, id: string): Promise<AccountUpdaterJob | undefined> {
  try {
    return await client.accountUpdater.read(id);
  } catch (error) {
    if (isSvcError(error, 'not_found')) return undefined;
    throw error;
  }
}

/** The job ended without results. */
export function failedError(job: AccountUpdaterJob): SvcError {
  const errors = job.errors ?? [];
  const said = errors.length === 0 ? 'the service gave no reason' : errors.join('; ');
  return new SvcError('job_failed', `job ${job.id} failed: ${said}`, {
    hint: "Mend what the message names and submit the file again, or contact the service's support with the job id.",
    facts: { job: job.id, errors },
  });
}

function expiredError(id: string): SvcError {
  return new SvcError(
    'job_expired',
    `job ${id} is not there: a job without its file is removed one hour after it was created`,
    {
      status: 404,
      hint: "Check the id with 'svc au list', or submit the file again with 'svc au submit'; nothing is processed for a job that was removed.",
      facts: { job: id },
    },
  );
}
