// Finds cycles in the ledger of the key's tenant: the cycle that was typed, or the cycles with open jobs.

import { openComparedLedger, requireClaims } from './compare-jobs.ts';
import { hasOpenJobs, ledgerOfKey } from './ledger-of-key.ts';
import { claimFoundJobs } from './settle-claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { cycleName } from '../ledger/cycle-names.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import type { Client } from '../../client/api/client.ts';

/** A cycle that an operator named, as the ledger has it now. */
export interface NamedCycle {
  readonly name: string;
  readonly tenant: string;
  readonly ledger: CommandLedger;
  readonly cycle: LedgerCycle;
  readonly entries: readonly Entry[];
}

/** The error for a cycle that the ledger does not have. */
class CycleMissing extends SvcError {}

/** Finds a cycle in the ledger. @throws CycleMissing if the cycle has no entry */
export async function namedCycle(
  context: Context,
  client: Client,
  ledger: CommandLedger,
  typed: string,
): Promise<NamedCycle> {
  const missing = new CycleMissing('not_found', 'the ledger has no such cycle', {
    hint: 'Name a cycle or the id of a job. What is open:',
    next: ['au', 'status'],
  });
  const name = parseCycleName(typed);
  if (name === undefined) throw missing;
  const hasCycle = async (opened: Ledger): Promise<boolean> => (await opened.cycle(name).read()).length > 0;
  const ofKey = await ledgerOfKey(context, client, ledger, hasCycle);
  if (ofKey === undefined) throw missing;
  const { tenant } = ofKey;
  const cycle = ofKey.ledger.cycle(name);
  const entries = [...(await cycle.readWhole())];
  await requireClaims(client, ofKey.ledger);
  if (entries.length === 0) throw missing;
  return { name, tenant, ledger, cycle, entries };
}

/**
 * Runs `withCycle`, or `withJob` if no cycle has the typed name: a name may also be the id of a job.
 * @throws SvcError `not_found` if neither exists
 */
export async function cycleOrJob<C, J>(withCycle: () => Promise<C>, withJob: () => Promise<J>): Promise<C | J> {
  try {
    return await withCycle();
  } catch (missing) {
    if (!(missing instanceof CycleMissing)) throw missing;
    try {
      return await withJob();
    } catch (error) {
      if (!isSvcError(error, 'job_expired', 'not_found')) throw error;
      throw missing.with({ message: `${missing.message}, and the service has no such job` });
    }
  }
}

function parseCycleName(typed: string): string | undefined {
  try {
    return cycleName(typed);
  } catch {
    return undefined;
  }
}

/** The cycles with open jobs or with rows that no job has, oldest first. */
export interface OpenCycles {
  readonly cycles: readonly NamedCycle[];
  /** Whether the ledger has jobs; undefined if the service shows no job of the key's tenant. */
  readonly hasJobs: boolean | undefined;
}

/**
 * Returns the cycles of the key's tenant with open jobs or rows that no job has, sent by any machine. An open job is one whose results nobody
 * received. With `shared`, only a shared ledger is read.
 * @throws SvcError `config` if this machine shared a ledger before, and none is set now
 */
export async function openCycles(
  context: Context,
  { shared = false, onlyReads = false }: { readonly shared?: boolean; readonly onlyReads?: boolean } = {},
): Promise<OpenCycles> {
  const reading = new CommandLedger(context, { onlyReads: true });
  const ledger = onlyReads ? reading : openComparedLedger(context, ['au', 'resume']);
  const wasShared = reading.isShared || reading.wasShared();
  if (shared && !wasShared) return NONE;
  if (!wasShared) {
    const { isAnyOpen, hasJobs } = await lookInto(reading.everyTenant());
    // Without open jobs, the command needs no key.
    if (!isAnyOpen) return { cycles: [], hasJobs };
  }
  const client = await context.client();
  const ofKey = await ledgerOfKey(context, client, ledger);
  if (ofKey === undefined || (shared && !ledger.isShared)) return NONE;
  const { tenant, ledger: opened } = ofKey;
  // Other machines may be stopped until this machine puts back its lost entries, even without open jobs here.
  if (!opened.isReadOnly) await opened.restore();
  await requireClaims(client, opened);
  const cycles: NamedCycle[] = [];
  for await (const { cycle, lost } of opened.openCycles()) {
    if (lost.length > 0 && !onlyReads) await claimFoundJobs(client, cycle, (text) => context.notices.warn(text));
    cycles.push({ name: cycle.name, tenant, ledger, cycle, entries: [...(await cycle.read())] });
  }
  const sorted = cycles.toSorted((a, b) => ((a.entries[0]?.at ?? '') < (b.entries[0]?.at ?? '') ? -1 : 1));
  return { cycles: sorted, hasJobs: (await opened.cycleNames()).length > 0 };
}

const NONE: OpenCycles = { cycles: [], hasJobs: undefined };

async function lookInto(
  ledgers: AsyncIterable<readonly [string, Ledger]>,
): Promise<{ readonly isAnyOpen: boolean; readonly hasJobs: boolean }> {
  let hasJobs = false;
  for await (const [, ledger] of ledgers) {
    if (await hasOpenJobs(ledger)) return { isAnyOpen: true, hasJobs: true };
    hasJobs ||= (await ledger.cycleNames()).length > 0;
  }
  return { isAnyOpen: false, hasJobs };
}

/** Notes that nothing is open. An empty ledger may not be the one that the jobs are in. */
export function noteNothingOpen(context: Context, place: string, hasJobs: boolean | undefined): void {
  if (hasJobs === undefined) return context.notices.note('the service shows no job of this tenant');
  if (hasJobs) return context.notices.note('nothing is open: the results of every job that has rows were received');
  context.notices.note(`the ledger in ${place} has no job: what was sent without it is not known here`);
  noteNext(context, 'to see the jobs of the service', ['au', 'jobs']);
}
