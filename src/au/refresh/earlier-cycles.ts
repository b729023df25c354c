import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { countText } from '../../cli/output/time.ts';
import { tenantOfKey } from '../job/tenant-of-key.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { RefreshDirectory } from './refresh-directory.ts';

/**
 * Checks that a directory without a list of exclusions does not stand in for the one that has it: a volume may not be mounted,
 * or the command may run in another working directory. The ledger knows whether results of earlier cycles had closed accounts.
 * @throws SvcError `config`
 */
export async function requireNoEarlierCycles(
  context: Context,
  directory: RefreshDirectory,
  again: readonly string[],
): Promise<void> {
  // Nothing is billed in a sandbox.
  if (serviceOf(context) === 'sandbox') return;
  const tenant = await tenantIfShown(context);
  if (tenant === undefined) return;
  const ledger = await new CommandLedger(context, { onlyReads: true }).open(tenant);
  let closed = 0;
  let last: string | undefined;
  for (const name of await ledger.cycleNames()) {
    if (name === directory.cycle) continue;
    for (const accounts of await ledger.cycle(name).closedAccounts()) {
      closed += accounts.size;
      last = name;
    }
  }
  if (last === undefined) return;
  const list = directory.exclusions;
  throw new SvcError(
    'config',
    `${list} does not exist, and results of earlier cycles, such as ${last}, had ${countText(closed, 'closed account')}`,
    {
      hint: 'If the list is on a volume, mount it, or go on in the directory of these cycles (--out-dir): the list leaves out closed accounts, which are billed otherwise. Only if no row is to be left out, run the last of these commands.',
      next: again,
      alternatives: [[...again, '--exclusions', 'none']],
      facts: { closed_accounts: closed },
    },
  );
}

/** Returns the tenant of the key; undefined without a key, or if the service does not say. */
async function tenantIfShown(context: Context): Promise<string | undefined> {
  try {
    return await tenantOfKey(await context.client());
  } catch (error) {
    if (context.signal.aborted || !isSvcError(error)) throw error;
    return undefined;
  }
}
