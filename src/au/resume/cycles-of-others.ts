import type { Context } from '../../cli/app/command.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { openCycles } from '../ledger/cycle-status.ts';
import type { CycleRow } from '../ledger/cycle-view.ts';
import { ledgerOfKey } from '../ledger/named-cycle.ts';
import type { Part } from '../run/part.ts';
import { recordedRuns } from '../run/recorded-runs.ts';

/**
 * Returns the cycles of a shared ledger in which other machines have jobs whose results nobody has read, newest first.
 * @throws SvcError `config` where this machine shares a ledger for the tenant of the key, and that ledger is not set
 */
export async function cyclesOfOthers(context: Context): Promise<readonly CycleRow[]> {
  const ledger = new CommandLedger(context, { onlyReads: true });
  if (!ledger.isShared && !(await ledger.wasShared())) return [];
  const client = await context.client();
  const opened = await ledgerOfKey(client, ledger);
  if (opened === undefined || !ledger.isShared) return [];
  const { runs } = await recordedRuns(context);
  const own = new Set(runs.flatMap(({ record }) => record.parts).flatMap(everyJobOf));
  const cycles = await openCycles(client, opened[1]);
  return cycles.filter(({ open_jobs: jobs }) => jobs.some((job) => !own.has(job)));
}

/** Returns the job of a part, and those that it had before. The results of a job of another run may have been needed in part. */
function everyJobOf({ job, earlier_jobs: earlier = [], joined, state }: Part): string[] {
  if (joined !== undefined && state === 'downloaded') return [];
  return [...earlier, ...(job === undefined ? [] : [{ job }])].map((each) => each.job);
}
