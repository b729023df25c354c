import type { Client } from '../api/client.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import { findJob, jobPages } from './job.ts';
import { notePoll } from './part-poll.ts';
import type { RunWork } from './part-work.ts';
import type { RunPart } from './record.ts';

/**
 * Polls every job that is under way, or whose file is in doubt, once and notes what has become of it. One list call
 * covers a hundred jobs; only what it does not show is read singly.
 * @returns the parts that are still under way
 */
export async function lookAtJobs(work: RunWork): Promise<RunPart[]> {
  const waiting = work.record.parts.filter(({ state }) => state === 'uploaded' || state === 'unknown');
  const jobs = await findJobs(work.client, waiting);
  for (const part of waiting) await notePoll(work, part, jobs.get(part.job ?? ''));
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
  for await (const jobs of jobPages(client)) {
    const before = wanted.size;
    for (const job of jobs) if (wanted.delete(job.id)) found.set(job.id, job);
    if (wanted.size === 0) break;
    if (wanted.size < before) continue;
    fruitless += 1;
    // Newest first: once ours were met, a page without any lies behind them all.
    if (found.size > 0 || fruitless > wanted.size / 4) break;
  }
  return found;
}
