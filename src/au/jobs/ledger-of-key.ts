// Finds the ledger of the tenant of a key, also where the service shows no tenant.

import { senderOf } from '../job/job-files.ts';
import { findJob, jobPages } from '../job/job.ts';
import { readTenantOfKey } from '../job/tenant-of-key.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { tenantInUse } from '../../cli/app/tenant-mark.ts';
import type { Client } from '../../client/api/client.ts';
import type { ListedJob } from '../../schema/account-updater.ts';

/** A tenant and its ledger. */
interface TenantLedger {
  readonly tenant: string;
  readonly ledger: Ledger;
}

/**
 * Opens the ledger of the key's tenant. Where the service does not show the tenant, returns undefined if no ledger that may be
 * the tenant's has what is sought: what the operator named, which `hasNamed` looks for, or else open jobs. A ledger with open jobs
 * or lost rows that another profile sent then only gets a note, because one machine may use keys of several tenants.
 * @throws SvcError `outcome_unknown` if a ledger that has what is sought may belong to the key
 */
export async function ledgerOfKey(
  context: Context,
  client: Client,
  ledger: CommandLedger,
  hasNamed?: (ledger: Ledger) => Promise<boolean>,
): Promise<TenantLedger | undefined> {
  const tenant = (await readTenantOfKey(client)) ?? (await tenantOfAnyJob(client, ledger));
  if (tenant !== undefined) return { tenant, ledger: await ledger.open(tenant) };
  for await (const [other, opened] of ledger.everyTenant()) {
    if (!(await (hasNamed ?? hasOpenJobs)(opened))) continue;
    const profileTenant = tenantInUse(context)?.id ?? other;
    const mayBeOwn = hasNamed !== undefined || ledger.isShared || (await wasSentHere(context, ledger, opened));
    if (mayBeOwn && profileTenant === other) throw unknownOwnerError(other, opened.name);
    context.notices.note(
      `the service shows no job of this key's tenant, so the jobs of tenant ${other} in ${opened.name} were not looked at`,
    );
  }
  return undefined;
}

/** Tells whether this profile may have sent an open job, or rows that no job has now, from this machine. */
async function wasSentHere(context: Context, ledger: CommandLedger, opened: Ledger): Promise<boolean> {
  for await (const { open, lost } of opened.openCycles())
    for (const job of [...open, ...lost.map(({ claim }) => claim.job)])
      if (ledger.jobFiles(job).mayBeOf(senderOf(context))) return true;
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

/** Tells whether a ledger has jobs whose results nobody received, or rows that no job has. */
export async function hasOpenJobs(ledger: Ledger): Promise<boolean> {
  for await (const _ of ledger.openCycles()) return true;
  return false;
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
