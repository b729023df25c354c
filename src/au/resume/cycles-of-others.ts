import type { Context } from '../../cli/app/command.ts';
import { openJobs } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { unreadCycles } from '../ledger/cycle-status.ts';
import type { CycleRow } from '../ledger/cycle-view.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerOfKey } from '../ledger/named-cycle.ts';
import { everyJobOf, type Part } from '../run/part.ts';
import { everyRun } from '../run/recorded-runs.ts';

/**
 * Returns the cycles of the ledger that have jobs without a run on this machine whose results nobody received, newest first:
 * those of other machines, of `au upload` and of lost runs. With `shared`, only a ledger that machines share is read.
 * @throws SvcError `config` where this machine shares a ledger for the tenant of the key, and that ledger is not set
 */
export async function cyclesOfOthers(context: Context, where: 'anywhere' | 'shared'): Promise<readonly CycleRow[]> {
  const ledger = new CommandLedger(context, { onlyReads: true });
  const wasShared = ledger.isShared || (await ledger.wasShared());
  if (where === 'shared' && !wasShared) return [];
  const { runs } = await everyRun(context);
  const own = new Set(runs.flatMap(({ record }) => record.parts).flatMap(ownJobsOf));
  const hasOthers = async (found: Ledger): Promise<boolean> => {
    for (const name of await found.cycleNames())
      if (openJobs(await found.cycle(name).read()).some((job) => !own.has(job))) return true;
    return false;
  };
  // A key is needed only if there is such a job.
  if (!wasShared && !(await isAny(ledger.everyTenant(), hasOthers))) return [];
  const client = await context.client();
  const opened = await ledgerOfKey(context, client, ledger, hasOthers);
  if (opened === undefined || (where === 'shared' && !ledger.isShared)) return [];
  const cycles = await unreadCycles(client, opened[1]);
  return cycles.filter(({ open_jobs: jobs }) => jobs.some((job) => !own.has(job)));
}

async function isAny(
  ledgers: AsyncIterable<readonly [string, Ledger]>,
  isSought: (ledger: Ledger) => Promise<boolean>,
): Promise<boolean> {
  for await (const [, ledger] of ledgers) if (await isSought(ledger)) return true;
  return false;
}

/**
 * Returns the jobs of a part, but not a job of another run that the run no longer waits for: the file may have needed only
 * some of its results, or the service may have forgotten it.
 */
function ownJobsOf(part: Part): string[] {
  const { joined, state } = part;
  return joined !== undefined && (state === 'downloaded' || joined.delivered) ? [] : everyJobOf(part);
}
