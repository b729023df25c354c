import type { Client } from '../api/client.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { RunOptions } from './events.ts';
import { findJob } from './job.ts';
import { letGo } from './part-work.ts';
import type { RunPart, RunRecord } from './record.ts';

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
  const found = wanted.size > 1 ? await findInList(client, wanted) : new Map<string, AccountUpdaterJob>();
  for (const id of wanted) {
    const job = await findJob(client, id);
    if (job) found.set(id, job);
  }
  return found;
}

/** Takes from `wanted` what the list shows. Pages without any of ours must not cost more than single reads would. */
async function findInList(client: Client, wanted: Set<string>): Promise<Map<string, AccountUpdaterJob>> {
  const found = new Map<string, AccountUpdaterJob>();
  let fruitless = 0;
  for await (const page of client.accountUpdater.list({ pageSize: 100 }).pages()) {
    const before = wanted.size;
    for (const job of page.items) if (wanted.delete(job.id)) found.set(job.id, job);
    if (wanted.size === 0) break;
    if (wanted.size < before) continue;
    fruitless += 1;
    // Newest first: once ours were met, a page without any lies behind them all.
    if (found.size > 0 || fruitless > wanted.size / 4) break;
  }
  return found;
}

function note({ client, save, onEvent }: WatchWork, part: RunPart, job: AccountUpdaterJob | undefined): void {
  if (job === undefined) return noteGone({ save, onEvent }, part);
  part.seen = job.status;
  if (job.status === 'completed') {
    part.state = 'completed';
    part.done_at ??= new Date(client.now()).toISOString();
    onEvent?.({ kind: 'completed', job: job.id });
  }
  if (job.status === 'failed') {
    part.state = 'failed';
    part.errors = job.errors ?? [];
    onEvent?.({ kind: 'failed', job: job.id, errors: part.errors });
  }
}

/**
 * Only a job without a file is removed. One that was never seen at work did not get it, whatever the store said, and
 * the part may have another job; one that was seen at work must not be paid twice unless the operator wants it.
 */
function noteGone({ save, onEvent }: Pick<WatchWork, 'save' | 'onEvent'>, part: RunPart): void {
  const job = part.job ?? '';
  if (part.seen === undefined || part.seen === 'pending') {
    letGo({ part, save }, 'gone');
    return onEvent?.({ kind: 'gone', job });
  }
  part.state = 'failed';
  part.errors = [`it was ${part.seen}, and is not known any more; is this the key of the right tenant?`];
  onEvent?.({ kind: 'failed', job, errors: part.errors });
}
