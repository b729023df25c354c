// Finds the list of exclusions of a refresh, and stops a command whose list was lost.

import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { isoTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { readTenantOfKey } from '../job/tenant-of-key.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { Exclusions } from '../request/exclusions.ts';
import type { RefreshDirectory, RefreshRecord } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';

type Counted = NonNullable<RefreshRecord['excluded']>;

/**
 * Returns the list of exclusions, if it exists, and its count for the record. Warns of a list that lost tokens. The list decides
 * which rows are left out, not the ledger: operators add and remove tokens.
 * @throws SvcError `config` for a missing list, unless the operator continues without it
 */
export async function exclusionsFor(
  context: Context,
  directory: RefreshDirectory,
  { exclusions: choice, again }: Pick<RefreshInput, 'exclusions' | 'again'>,
): Promise<{ readonly list: string | undefined; readonly noted: Counted | undefined }> {
  const { exclusions: list } = directory;
  const none = { tokens: 0, at: isoTime(context.clock.now()) };
  if (choice === 'none') {
    context.notices.note(`no row of this request is left out because of ${list} (--exclusions none)`);
    // An existing list was not read, so the count in earlier records stays valid.
    return { list: undefined, noted: directory.has(list) ? undefined : none };
  }
  const before = tokensBefore(directory);
  if (directory.has(list)) {
    const noted = await countExclusions(context, list);
    if (before !== undefined && noted.tokens < before)
      context.notices.warn(
        `${list} lists ${countText(noted.tokens, 'token')}, and it listed ${before} before: rows of the others are no longer left out`,
      );
    return { list, noted };
  }
  const closed = before === undefined ? await closedElsewhere(context, directory) : undefined;
  if (!before && closed === undefined) return { list: undefined, noted: none };
  const [message, hint, facts] =
    closed === undefined
      ? [
          `${list} is gone; it listed ${countText(before ?? 0, 'token')} to leave out`,
          'Put the file back and run the same command again, or go on without it: the rows that it left out are then submitted and billed.',
          { file: list, tokens: before },
        ]
      : [
          `${list} does not exist, and results of earlier cycles, such as ${closed.cycle}, had ${countText(closed.accounts, 'closed account')}`,
          'If the list is on a volume, mount it, or go on in the directory of these cycles (--out-dir): the list leaves out closed accounts, which are billed otherwise. Only if no row is to be left out, run the last of these commands.',
          { closed_accounts: closed.accounts },
        ];
  throw new SvcError('config', message, {
    hint,
    next: again,
    alternatives: [[...again, '--exclusions', 'none']],
    facts,
  });
}

/** Records how many tokens the list of exclusions has, if that is another number than any refresh last counted. */
export async function noteExclusions(context: Context, directory: RefreshDirectory): Promise<void> {
  const counted = await countExclusions(context, directory.exclusions);
  if (counted.tokens !== tokensBefore(directory)) directory.record.excluded = counted;
}

/** Counts the tokens on a list of exclusions. */
async function countExclusions(context: Context, list: string): Promise<Counted> {
  return { tokens: (await Exclusions.open(resolvePath(context, list))).tokenCount, at: isoTime(context.clock.now()) };
}

/** The number of tokens on the list when a refresh of any cycle last read or extended it. */
function tokensBefore(directory: RefreshDirectory): number | undefined {
  const counted = directory.recordsOfCycles().flatMap(({ excluded }) => excluded ?? []);
  const timed = counted.map(({ tokens, at }) => ({ tokens, at: Date.parse(at) || 0 }));
  // Of counts with the same time, the largest decides: a needless stop costs less than billed rows of closed accounts.
  return timed.toSorted((a, b) => a.at - b.at || a.tokens - b.tokens).at(-1)?.tokens;
}

/**
 * Counts the closed accounts of other cycles in the ledger, and names one of these cycles. Such accounts without a list mean
 * that a volume is not mounted, or that the command runs in another directory.
 */
async function closedElsewhere(context: Context, directory: RefreshDirectory) {
  // Nothing is billed in a sandbox.
  if (serviceOf(context) === 'sandbox') return undefined;
  const tenant = await tenantIfShown(context);
  if (tenant === undefined) return undefined;
  const ledger = await new CommandLedger(context, { onlyReads: true }).open(tenant);
  let closed: { readonly accounts: number; readonly cycle: string } | undefined;
  for (const name of await ledger.cycleNames()) {
    if (name === directory.cycle) continue;
    for (const accounts of await ledger.cycle(name).closedAccounts())
      closed = { accounts: (closed?.accounts ?? 0) + accounts.size, cycle: name };
  }
  return closed;
}

/** Returns the tenant of the key; undefined without a key, or if the service does not show it. */
async function tenantIfShown(context: Context): Promise<string | undefined> {
  try {
    return await readTenantOfKey(await context.client());
  } catch (error) {
    if (context.signal.aborted || !isSvcError(error)) throw error;
    return undefined;
  }
}
