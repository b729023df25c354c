import type { Context } from '../../cli/app/command.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { openCycles } from '../ledger/cycle-status.ts';
import { ledgerOfKey } from '../ledger/named-cycle.ts';
import { jobsOf, recordedRuns } from '../run/recorded-runs.ts';

/** Returns the cycles of a shared ledger in which other machines have jobs whose results nobody has read. */
export async function cyclesOfOthers(context: Context): Promise<readonly string[]> {
  const ledger = new CommandLedger(context);
  if (!ledger.isShared) return [];
  const client = await context.client();
  const opened = await ledgerOfKey(client, ledger);
  if (opened === undefined) return [];
  const own = new Set((await recordedRuns(context)).runs.flatMap(({ record }) => jobsOf(record)));
  const cycles = await openCycles(client, opened[1]);
  return cycles.filter(({ open_jobs: jobs }) => jobs.some((job) => !own.has(job))).map(({ cycle }) => cycle);
}
