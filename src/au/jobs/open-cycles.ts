import type { Context } from '../../cli/app/command.ts';
import { compareBeforeEntry } from './compare-before-entry.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { hasOpenJobs, ledgerOfKey, type NamedCycle } from './named-cycle.ts';

/**
 * Returns the cycles of the key's tenant that have jobs whose results nobody received, oldest first, whichever machine sent
 * them. With `shared`, only a ledger that machines share is read.
 * @throws SvcError `config` where this machine shares a ledger for the tenant of the key, and that ledger is not set, or its
 *   variable is misspelled
 */
export async function openCycles(
  context: Context,
  { shared = false, onlyReads = false }: { readonly shared?: boolean; readonly onlyReads?: boolean } = {},
): Promise<readonly NamedCycle[]> {
  const reading = new CommandLedger(context, { onlyReads: true });
  const ledger = onlyReads ? reading : new CommandLedger(context);
  const wasShared = reading.isShared || reading.wasShared();
  if (shared && !wasShared) return [];
  // A key is needed only if there is such a job.
  if (!wasShared && !(await isAnyOpen(reading.everyTenant()))) return [];
  const client = await context.client();
  compareBeforeEntry(context, client, ledger, ['au', 'resume']);
  const opened = await ledgerOfKey(context, client, ledger);
  if (opened === undefined || (shared && !ledger.isShared)) return [];
  const [tenant, found] = opened;
  // Other machines stop for what only this machine can put back, also where it has no open job.
  if (!found.isReadOnly) await found.restore();
  const cycles: NamedCycle[] = [];
  for await (const { cycle, entries } of found.openCycles())
    cycles.push({ name: cycle.name, tenant, ledger, cycle, entries });
  return cycles.toSorted((a, b) => ((a.entries[0]?.at ?? '') < (b.entries[0]?.at ?? '') ? -1 : 1));
}

async function isAnyOpen(ledgers: AsyncIterable<readonly [string, Ledger]>): Promise<boolean> {
  for await (const [, ledger] of ledgers) if (await hasOpenJobs(ledger)) return true;
  return false;
}
