import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { findJob, isReadable, jobPages } from './job.ts';

/** Finds jobs by their ids, in the list if there are several. A job that the service does not know is left out. */
export async function findJobs(client: Client, ids: ReadonlySet<string>): Promise<Map<string, AccountUpdaterJob>> {
  const wanted = new Set(ids);
  const found = wanted.size > 1 ? await findInList(client, wanted) : new Map<string, AccountUpdaterJob>();
  for (const id of wanted) {
    const job = await findJob(client, id);
    if (job) found.set(id, job);
  }
  return found;
}

/** Finds wanted jobs in the list and removes them from `wanted`. Stops when single reads need fewer requests. */
async function findInList(client: Client, wanted: Set<string>): Promise<Map<string, AccountUpdaterJob>> {
  const found = new Map<string, AccountUpdaterJob>();
  let fruitless = 0;
  for await (const jobs of jobPages(client, { orNone: true })) {
    const before = wanted.size;
    for (const job of jobs) if (isReadable(job) && wanted.delete(job.id)) found.set(job.id, job);
    if (wanted.size === 0) break;
    if (wanted.size < before) continue;
    fruitless += 1;
    // The list begins with the newest jobs. A page without matches after pages with matches is older than all of them.
    if (found.size > 0 || fruitless > wanted.size / 4) break;
  }
  return found;
}
