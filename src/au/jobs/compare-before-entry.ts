import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import { showJobs } from '../job/show-progress.ts';
import { creatorMemory } from '../job/spare-job.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { refuseUnknownJobs } from './compare-jobs.ts';

/**
 * Compares the jobs of the service with a shared ledger before this command enters anything there. A ledger that was restored
 * to an older time can be put back by another machine only while nothing is added, and the copies of this machine may be as old.
 */
export function compareBeforeEntry(
  context: Context,
  client: Client,
  ledger: CommandLedger,
  again: readonly string[],
): void {
  if (!ledger.isShared) return;
  ledger.beforeFirstEntry(async (tenant) => {
    const comparing = { ledger, tenant, onlyRecorded: true, newLedger: false, words: again };
    try {
      await refuseUnknownJobs(client, comparing, await creatorMemory(context, client)?.known());
    } catch (error) {
      // A key that may not list jobs sends no rows with a shared ledger, and may get the results of others.
      if (!isSvcError(error, 'forbidden')) throw error;
      showJobs(context)({ kind: 'unrecorded', jobs: undefined });
    }
  });
}
