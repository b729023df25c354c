import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { refuseUnknownJobs } from './compare-jobs.ts';
import { creatorMemory } from '../job/spare-job.ts';

/**
 * Lets a machine that has no copies of a shared ledger compare the jobs of the service with it before this command enters
 * anything there. A ledger that was restored to an older time can be put back by another machine only while nothing is added.
 */
export function compareAtFirstUse(
  context: Context,
  client: Client,
  { ledger, tenant }: { readonly ledger: CommandLedger; readonly tenant: string },
  again: readonly string[],
): void {
  if (!ledger.isShared) return;
  ledger.beforeFirstEntry(async () => {
    if (!(await ledger.open(tenant)).isFirstSeen) return;
    const comparing = { ledger, tenant, onlyRecorded: true, newLedger: false, words: again };
    await refuseUnknownJobs(client, comparing, await creatorMemory(context, client)?.known());
  });
}
