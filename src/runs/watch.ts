import type { Client } from '../api/client.ts';
import { isSvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { RunOptions } from './events.ts';
import { readJob } from './job.ts';
import type { RunPart, RunRecord } from './record.ts';
import { letGo } from './part-upload.ts';

/** What looking at a run's jobs needs. */
export interface WatchWork extends RunOptions {
  readonly client: Client;
  readonly record: RunRecord;
  readonly save: () => void;
}

/**
 * Looks once at every job that is under way and notes what has become of it. One list call covers a hundred jobs;
 * only what it does not show is read singly.
 * @returns the parts that are still under way
 */
export async function lookAtJobs(work: WatchWork): Promise<RunPart[]> {
  const waiting = work.record.parts.filter(({ state }) => state === 'uploaded');
  const jobs = await findJobs(work.client, waiting);
  for (const part of waiting) note(work, part, jobs.get(part.job ?? ''));
  work.save();
  return waiting.filter(({ state }) => state === 'uploaded');
}

async function findJobs(client: Client, parts: readonly RunPart[]): Promise<Map<string, AccountUpdaterJob>> {
  const wanted = new Set(parts.flatMap(({ job }) => job ?? []));
  const found = new Map<string, AccountUpdaterJob>();
  if (wanted.size > 1) {
    for await (const page of client.accountUpdater.list({ pageSize: 100 }).pages()) {
      for (const job of page.items) if (wanted.delete(job.id)) found.set(job.id, job);
      // Newest first, and ours are recent: far behind them a single read is cheaper than more pages.
      if (wanted.size === 0 || found.size === 0) break;
    }
  }
  for (const id of wanted) {
    const job = await readJob(client, id).catch((error: unknown) => {
      if (isSvcError(error, 'job_expired')) return undefined;
      throw error;
    });
    if (job) found.set(id, job);
  }
  return found;
}

function note({ save, onEvent }: WatchWork, part: RunPart, job: AccountUpdaterJob | undefined): void {
  if (job === undefined) {
    // It had its file, or so it seemed; a job with a file does not vanish, so it had none.
    return letGo({ part, save });
  }
  part.seen = job.status;
  if (job.status === 'completed') {
    part.state = 'completed';
    onEvent?.({ kind: 'completed', job: job.id });
  }
  if (job.status === 'failed') {
    part.state = 'failed';
    part.errors = job.errors ?? [];
    onEvent?.({ kind: 'failed', job: job.id, errors: part.errors });
  }
}
