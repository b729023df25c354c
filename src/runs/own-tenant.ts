import type { Client } from '../api/client.ts';
import { SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import { jobPages } from './job.ts';
import type { RunWork } from './part-work.ts';
import { type RunPart, type RunRecord, sentOf } from './record.ts';
import { TenantProof } from './tenant-proof.ts';

/** The tenant that each client's key was seen to belong to. */
const tenants = new WeakMap<Client, string>();

/**
 * Checks by reads alone that the key is not another tenant's: then a job that is not found says nothing.
 * @returns whether it is proven to be the run's own; false where nothing tells
 * @throws SvcError `config` when it is another's
 */
export async function isOwnTenant({ client, record }: Pick<RunWork, 'client' | 'record'>): Promise<boolean> {
  if (record.tenant_id !== undefined && tenants.get(client) === record.tenant_id) return true;
  const relation = await new TenantProof(client).relationOf(record);
  if (relation === 'other') throw tenantError(record, 'and this key to another');
  if (relation === 'same' && record.tenant_id !== undefined) tenants.set(client, record.tenant_id);
  return relation === 'same';
}

/**
 * Checks before a job is created that the key is of the run's tenant. A tenant without any job says nothing, which is
 * no objection as long as nothing of the run was stored: the job to come says whose it is before anything is uploaded.
 * @throws SvcError `config` when it is another's, `bad_answer` when its jobs cannot be listed
 */
export async function requireOwnTenant(work: Pick<RunWork, 'client' | 'record'>): Promise<void> {
  const { client, record } = work;
  if (record.tenant_id === undefined || (await isOwnTenant(work))) return;
  for await (const jobs of jobPages(client)) {
    if (jobs.length > 0 || record.parts.some(hadFile))
      throw tenantError(record, 'and this key does not see its jobs');
    return;
  }
}

function hadFile(part: RunPart): boolean {
  return sentOf(part) === 'stored' || part.earlier_jobs?.some(({ ended }) => ended === 'failed') === true;
}

/** The same for the job that was created: without a file it vanishes after an hour and costs nothing. */
export function noteTenant(
  { client, record }: Pick<RunWork, 'client' | 'record'>,
  { tenant_id: tenant }: AccountUpdaterJob,
): void {
  if (!tenant) return;
  tenants.set(client, tenant);
  record.tenant_id ??= tenant;
  if (tenant !== record.tenant_id) throw tenantError(record, `and this key to tenant ${tenant}`);
}

function tenantError({ id, tenant_id: tenant }: RunRecord, but: string): SvcError {
  return new SvcError('config', `run ${id} belongs to tenant ${tenant}, ${but}: nothing was uploaded`, {
    hint: 'Use the key that the run was begun with, or begin another run with --again.',
    facts: { run: id, tenant_id: tenant },
  });
}
