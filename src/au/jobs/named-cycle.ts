// Finds cycles in the ledger of the key's tenant: the cycle that was typed, or the cycles with open jobs.

import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { tenantInUse } from '../../cli/app/tenant-mark.ts';
import type { Client } from '../../client/api/client.ts';
import type { ListedJob } from '../../schema/account-updater.ts';
import { cycleName } from '../ledger/cycle-names.ts';
import { tenantOfKey } from '../job/tenant-of-key.ts';
import { findJob, jobPages } from '../job/job.ts';
import { senderOf } from '../job/job-files.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { Entry } from '../ledger/entry.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openComparedLedger } from './compare-jobs.ts';

/** A cycle that an operator named, as the ledger has it now. */
export interface NamedCycle {
  readonly name: string;
  readonly tenant: string;
  readonly ledger: CommandLedger;
  readonly cycle: LedgerCycle;
  readonly entries: readonly Entry[];
}

/**
 * Opens the ledger of the key's tenant. Where the service does not show the tenant, returns undefined if no ledger that may be
 * the tenant's passes `isWanted`, by default: has open jobs. `isNamed` says that the operator named a cycle. Otherwise a
 * ledger whose jobs another profile sent only gets a note, because one machine may use keys of several tenants.
 * @throws SvcError `outcome_unknown` if a wanted ledger may belong to the key
 */
export async function ledgerOfKey(
  context: Context,
  client: Client,
  ledger: CommandLedger,
  isWanted: (ledger: Ledger) => Promise<boolean> = hasOpenJobs,
  { isNamed = false } = {},
): Promise<[string, Ledger] | undefined> {
  const tenant = (await tenantOfKey(client)) ?? (await tenantOfAnyJob(client, ledger));
  if (tenant !== undefined) return [tenant, await ledger.open(tenant)];
  for await (const [other, opened] of ledger.everyTenant()) {
    if (!(await isWanted(opened))) continue;
    const profileTenant = tenantInUse(context)?.id ?? other;
    const mayBeOwn = isNamed || ledger.isShared || (await wasSentHere(context, ledger, opened));
    if (mayBeOwn && profileTenant === other) throw unknownOwnerError(other, opened.name);
    context.notices.note(
      `the service shows no job of this key's tenant, so the jobs of tenant ${other} in ${opened.name} were not looked at`,
    );
  }
  return undefined;
}

/** Tells whether this profile sent the file of an open job from this machine. */
async function wasSentHere(context: Context, ledger: CommandLedger, opened: Ledger): Promise<boolean> {
  for await (const { open } of opened.openCycles())
    if (open.some((job) => ledger.jobFiles(job).mayBeOf(senderOf(context)))) return true;
  return false;
}

function unknownOwnerError(tenant: string, place: string): SvcError {
  return new SvcError(
    'outcome_unknown',
    `the service shows no job of this key's tenant, so whether that is tenant ${tenant}, which has jobs in ${place}, is not known`,
    {
      hint: 'A new job shows the tenant. Without a file, it costs nothing and is deleted within an hour. Create one, then run this command again:',
      next: ['au', 'create'],
      facts: { tenant, ledger: place },
    },
  );
}

/** Tells whether a ledger has jobs whose results nobody has read. */
async function hasOpenJobs(ledger: Ledger): Promise<boolean> {
  for await (const _ of ledger.openCycles()) return true;
  return false;
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
  const ofKey = await ledgerOfKey(context, client, ledger, hasCycle, { isNamed: true });
  if (ofKey === undefined) throw missing;
  const [tenant, opened] = ofKey;
  const cycle = opened.cycle(name);
  const entries = [...(await cycle.read())];
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

/** Returns the tenant of any job; undefined if the service has no job. @throws SvcError for a key that may read no job */
async function tenantOfAnyJob(client: Client, ledger: CommandLedger): Promise<string | undefined> {
  const job = await firstJob(client, ledger);
  return job && ledger.tenantOf(job);
}

/** Returns the first job of the list. For a key that may not list jobs, returns a job in the ledger that it can read. */
async function firstJob(client: Client, ledger: CommandLedger): Promise<ListedJob | undefined> {
  try {
    const { value: jobs } = await jobPages(client).next();
    return jobs?.[0];
  } catch (error) {
    if (!isSvcError(error, 'forbidden')) throw error;
    for await (const [, opened] of ledger.everyTenant())
      for (const name of await opened.cycleNames()) {
        const claim = (await opened.cycle(name).read()).findLast(({ kind }) => kind === 'claim');
        const job = claim && (await findJob(client, claim.job));
        if (job) return job;
      }
    throw error;
  }
}

/**
 * Returns the cycles of the key's tenant with open jobs, sent by any machine, oldest first. An open job is one whose results
 * nobody received. With `shared`, only a shared ledger is read.
 * @throws SvcError `config` if this machine shared a ledger before, and none is set now
 */
export async function openCycles(
  context: Context,
  { shared = false, onlyReads = false }: { readonly shared?: boolean; readonly onlyReads?: boolean } = {},
): Promise<readonly NamedCycle[]> {
  const reading = new CommandLedger(context, { onlyReads: true });
  const ledger = onlyReads ? reading : openComparedLedger(context, ['au', 'resume']);
  const wasShared = reading.isShared || reading.wasShared();
  if (shared && !wasShared) return [];
  // Without open jobs, the command needs no key.
  if (!wasShared && !(await isAnyOpen(reading.everyTenant()))) return [];
  const client = await context.client();
  const ofKey = await ledgerOfKey(context, client, ledger);
  if (ofKey === undefined || (shared && !ledger.isShared)) return [];
  const [tenant, opened] = ofKey;
  // Other machines may be stopped until this machine puts back its lost entries, even without open jobs here.
  if (!opened.isReadOnly) await opened.restore();
  const cycles: NamedCycle[] = [];
  for await (const { cycle, entries } of opened.openCycles())
    cycles.push({ name: cycle.name, tenant, ledger, cycle, entries });
  return cycles.toSorted((a, b) => ((a.entries[0]?.at ?? '') < (b.entries[0]?.at ?? '') ? -1 : 1));
}

async function isAnyOpen(ledgers: AsyncIterable<readonly [string, Ledger]>): Promise<boolean> {
  for await (const [, ledger] of ledgers) if (await hasOpenJobs(ledger)) return true;
  return false;
}
