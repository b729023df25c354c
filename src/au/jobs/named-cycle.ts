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
 * Opens the ledger of the key's tenant; undefined if the tenant is not known, and `isSought` is true of no ledger in the place
 * that may be its own. `isNamed` says that the operator named what is sought, such as a cycle. By default, a ledger with open
 * jobs is sought. Keys of several tenants may be used on one machine, so that only a note says of jobs that this profile did
 * not send.
 * @throws SvcError `outcome_unknown` where one is sought, and the service does not show whether it is that of the key
 */
export async function ledgerOfKey(
  context: Context,
  client: Client,
  ledger: CommandLedger,
  isSought: (ledger: Ledger) => Promise<boolean> = hasOpenJobs,
  { isNamed = false } = {},
): Promise<[string, Ledger] | undefined> {
  const tenant = (await tenantOfKey(client)) ?? (await tenantOfAnyJob(client, ledger));
  if (tenant !== undefined) return [tenant, await ledger.open(tenant)];
  for await (const [other, found] of ledger.everyTenant()) {
    if (!(await isSought(found))) continue;
    const known = tenantInUse(context)?.id ?? other;
    const mayBeOwn = isNamed || ledger.isShared || (await wasSentHere(context, ledger, found));
    if (mayBeOwn && known === other) throw unknownOwner(other, found.name);
    context.notices.note(
      `the service shows no job of this key's tenant, so the open jobs of tenant ${other} in ${found.name} were not looked for`,
    );
  }
  return undefined;
}

/** Tells whether this profile sent the file of an open job from this machine. */
async function wasSentHere(context: Context, ledger: CommandLedger, found: Ledger): Promise<boolean> {
  for await (const { open } of found.openCycles())
    if (open.some((job) => ledger.jobFiles(job).mayBeOf(senderOf(context)))) return true;
  return false;
}

function unknownOwner(tenant: string, place: string): SvcError {
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

/** Finds a cycle in the ledger. @throws SvcError `not_found` if no row was sent in it */
export async function namedCycle(
  context: Context,
  client: Client,
  ledger: CommandLedger,
  typed: string,
): Promise<NamedCycle> {
  const missing = new SvcError('not_found', 'the ledger has no such cycle', {
    hint: 'Name a cycle or the id of a job. What is open:',
    next: ['au', 'status'],
  });
  const name = cycleNamed(typed);
  if (name === undefined) throw missing;
  const hasCycle = async (found: Ledger): Promise<boolean> => (await found.cycle(name).read()).length > 0;
  const opened = await ledgerOfKey(context, client, ledger, hasCycle, { isNamed: true });
  if (opened === undefined) throw missing;
  const [tenant, found] = opened;
  const cycle = found.cycle(name);
  const entries = [...(await cycle.read())];
  if (entries.length === 0) throw missing;
  return { name, tenant, ledger, cycle, entries };
}

/**
 * Does something with a cycle, or with the job of that name if no cycle has it: the id of a job is any text.
 * @throws SvcError `not_found` if there is neither
 */
export async function cycleOrJob<C, J>(withCycle: () => Promise<C>, withJob: () => Promise<J>): Promise<C | J> {
  try {
    return await withCycle();
  } catch (missing) {
    if (!isSvcError(missing, 'not_found')) throw missing;
    try {
      return await withJob();
    } catch (error) {
      if (!isSvcError(error, 'job_expired', 'not_found')) throw error;
      throw missing.with({ message: `${missing.message}, and the service has no such job` });
    }
  }
}

function cycleNamed(typed: string): string | undefined {
  try {
    return cycleName(typed);
  } catch {
    return undefined;
  }
}

/** Returns the tenant of a job; undefined if the service has none. @throws SvcError for a key that may read no job */
async function tenantOfAnyJob(client: Client, ledger: CommandLedger): Promise<string | undefined> {
  const job = await firstJob(client, ledger);
  return job && ledger.tenantOf(job);
}

/** Returns the first job of the list, or for a key that may not list jobs, one in the ledger that it can read. */
async function firstJob(client: Client, ledger: CommandLedger): Promise<ListedJob | undefined> {
  try {
    const { value: jobs } = await jobPages(client).next();
    return jobs?.[0];
  } catch (error) {
    if (!isSvcError(error, 'forbidden')) throw error;
    for await (const [, found] of ledger.everyTenant())
      for (const name of await found.cycleNames()) {
        const claim = (await found.cycle(name).read()).findLast(({ kind }) => kind === 'claim');
        const job = claim && (await findJob(client, claim.job));
        if (job) return job;
      }
    throw error;
  }
}

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
  const ledger = onlyReads ? reading : openComparedLedger(context, ['au', 'resume']);
  const wasShared = reading.isShared || reading.wasShared();
  if (shared && !wasShared) return [];
  // A key is needed only if there is such a job.
  if (!wasShared && !(await isAnyOpen(reading.everyTenant()))) return [];
  const client = await context.client();
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
