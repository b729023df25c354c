// Finds the tenant whose ledger gets the rows of a file.

import { type KeyFacts, readKeyFacts, tenantOfSandbox } from '../job/tenant-of-key.ts';
import { outlast } from '../job/wait.ts';
import { type FileToSubmit, fileCommand } from './divide-file.ts';
import type { Comparison } from './unknown-jobs.ts';
import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import { knownTenant } from '../../cli/config/known-keys.ts';
import type { Client } from '../../client/api/client.ts';

/** What is known of a key that the service does not show. */
const NO_FACTS: KeyFacts = { tenant: undefined, pending: [] };

/** The tenant whose ledger gets the rows. */
export interface FoundTenant {
  /** The comparison of the service's jobs with the ledger of the tenant; undefined if the tenant is not known. */
  readonly comparing?: Comparison;
  /** Undefined if the service did not show the tenant, as for a dry run without a key. */
  readonly client?: Client;
}

/** Finds the tenant of the key. Only for a dry run, the tenant of the profile's last key check is enough. */
export async function findTenant(context: Context, toSubmit: FileToSubmit): Promise<FoundTenant> {
  const { input, ledger } = toSubmit;
  const { tenant: shown, pending } = input.dryRun ? await factsIfKey(context) : await factsOfKey(context, toSubmit);
  const pendingBefore = shown === undefined ? undefined : await ledger.pendingBefore(shown, pending);
  const tenant = shown ?? (await tenantWithoutRequest(context));
  requireKnownTenant(context, shown, 'nothing was uploaded');
  if (tenant === undefined) return {};
  input.checkTenant?.(tenant);
  const comparing = comparisonFor(toSubmit, tenant, pendingBefore);
  return shown === undefined ? { comparing } : { comparing, client: await context.client() };
}

/** Returns how the jobs of the service are compared with the ledger of a tenant. */
export function comparisonFor(
  { file, input, ledger }: FileToSubmit,
  tenant: string,
  pendingBefore?: ReadonlySet<string>,
): Comparison {
  const { confirmed, cycle, onlyRecorded } = input;
  const words = fileCommand({ file, input }, cycle);
  return { ledger, tenant, onlyRecorded, newLedger: confirmed.newLedger, words, pendingBefore };
}

/** Reads the key's tenant. If no read shows it, creates a job, which shows the tenant and gets the first rows. */
async function factsOfKey(context: Context, { input, ledger, spareJob }: FileToSubmit): Promise<KeyFacts> {
  const client = await context.client();
  const facts = await outlast(context, input.outlasts, () => readKeyFacts(client));
  if (facts.tenant !== undefined) return facts;
  // A command that ends after it creates the job leaves it pending, without a file.
  if (facts.pending.length === 0) await ledger.noteFirstJob();
  const job = await (await spareJob()).get();
  await ledger.noteFirstJob(job.id);
  return { ...facts, tenant: ledger.tenantOf(job) };
}

/** Reads the key's tenant. It is undefined without a key, or with a note if the service does not show it. */
async function factsIfKey(context: Context): Promise<KeyFacts> {
  let why = 'shows no job of this key yet';
  try {
    const facts = await readKeyFacts(await context.client());
    if (facts.tenant !== undefined) return facts;
  } catch (error) {
    if (isSvcError(error, 'key_missing')) return NO_FACTS;
    if (!isSvcError(error, 'network', 'server')) throw error;
    why = `does not respond (${error.message})`;
  }
  context.notices.note(
    `the service ${why}, so its jobs were not compared with the ledger: the plan is made from the ledger alone`,
  );
  return NO_FACTS;
}

/** Returns the tenant of the profile's last key check, since a dry run needs no key. */
export async function tenantWithoutRequest(context: Context): Promise<string | undefined> {
  const [profile, baseUrl] = [context.settings.profile.value, serviceOf(context)];
  if (baseUrl === 'sandbox') return tenantOfSandbox(await context.client());
  return knownTenant(context.system, profile, baseUrl)?.id;
}
