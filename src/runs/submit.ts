import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { UploadSource } from '../transfer/source.ts';
import type { RunOptions } from './events.ts';
import { uploadToJob } from './upload.ts';

const MAX_JOBS = 3;

/** How to submit. */
export interface SubmitOptions extends RunOptions {
  /** The command that starts over, for messages. */
  readonly again?: string | undefined;
}

/**
 * Creates a job and brings a checked file to it. A job that vanished before it had its file gets a successor,
 * and that is said; nothing is ever uploaded twice.
 */
export async function submitFile(
  client: Client,
  source: UploadSource,
  options: SubmitOptions = {},
): Promise<AccountUpdaterJob> {
  let gone: string | undefined;
  for (let made = 1; ; made += 1) {
    const job = await client.accountUpdater.create();
    options.onEvent?.(
      gone === undefined ? { kind: 'created', job } : { kind: 'replaced', gone, job: job.id },
    );
    try {
      await uploadToJob(client, job, source, options);
      return job;
    } catch (error) {
      if (!isSvcError(error, 'job_expired') || made >= MAX_JOBS)
        throw unfinished(error, job.id, options.again ?? 'svc au submit');
      gone = job.id;
    }
  }
}

/** Adds to an error what has become of the job: it has no file and will vanish by itself. */
function unfinished(error: unknown, job: string, again: string): unknown {
  if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'time_up')) return error;
  return new SvcError(
    error.code,
    `${error.message}; job ${job} was created but its file was not uploaded whole`,
    {
      hint: `Run '${again}' again; a job without its file vanishes after an hour and costs nothing.`,
      facts: { job },
    },
  );
}
