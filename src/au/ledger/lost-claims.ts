import type { Client } from '../../client/api/client.ts';
import { findJob } from '../run/job.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import type { Ledger } from './ledger.ts';
import type { RepairedObject } from './repair-ledger.ts';

/**
 * Finds jobs that have their file and whose claims the ledger has lost, which their marks show. Enters the claims again from
 * the runs of this machine, and returns what became of each.
 */
export async function lostClaims(
  client: Client,
  ledger: Ledger,
  runs: readonly RunDirectory[],
  enter: (run: RunDirectory, lost: ReadonlySet<string>) => Promise<void>,
): Promise<RepairedObject[]> {
  const lost = new Set<string>();
  for (const job of await ledger.unclaimedJobs()) {
    const status = (await findJob(client, job))?.status ?? 'pending';
    if (status !== 'pending' && status !== 'failed') lost.add(job);
  }
  const sent = runs.filter(({ record }) => record.parts.some(({ job }) => job !== undefined && lost.has(job)));
  for (const run of sent) await enter(run, lost);
  const left = await ledger.unclaimedJobs();
  return [...lost].map((job) => ({
    object: `${ledger.name}: the claim of job ${job}`,
    status: left.includes(job) ? 'missing' : 'put_back',
    sha256: null,
    abandon: left.includes(job) ? job : null,
    job,
    freed_by: null,
  }));
}
