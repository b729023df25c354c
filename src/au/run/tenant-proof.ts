import { type ErrorCode, isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob, ListedJob } from '../../schema/account-updater.ts';
import { isObject } from '../../schema/json-value.ts';
import { foreignError } from './job.ts';
import { type Part, sentOf } from './part.ts';
import type { RunRecord } from './record.ts';
import { applyToRun } from './run.ts';

/** Whether a key belongs to the tenant of a run, as far as the service's responses prove it. */
export type TenantRelation = 'same' | 'other' | 'unknown';

type Owned = Pick<RunRecord, 'parts' | 'tenant_id'>;

/** A run, and the client whose key is to be checked. */
interface RunAndClient {
  readonly client: Client;
  readonly record: RunRecord;
}

/** The number of recorded jobs to read. Each of them alone is proof. */
const JOBS_READ = 3;

/**
 * Finds out by reads alone which tenant a key belongs to. A 404 proves nothing, because a gateway, a lagging replica or
 * another tenant's key can cause it. A run is therefore `other` only if the service names another tenant for this key.
 */
export class TenantProof {
  readonly #client: Client;
  #proven: string | undefined;
  #newest: Promise<readonly ListedJob[]> | undefined;
  #self: Promise<string | undefined> | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns how the key relates to a run's tenant. */
  async relationOf(record: Owned): Promise<TenantRelation> {
    const { tenant_id: recorded } = record;
    if (this.#proven !== undefined && recorded !== undefined) return recorded === this.#proven ? 'same' : 'other';
    const relation = await this.#readRelation(record);
    if (relation === 'same') this.#proven = recorded;
    return relation;
  }

  /** Returns the tenant that the service names for this key; undefined if it names none, or several. */
  async tenant(): Promise<string | undefined> {
    const [first, second] = await this.#tenants();
    return second === undefined ? first : undefined;
  }

  /**
   * Tells whether the list by which the key was judged had no jobs at all. It is not read again, because the tenant's
   * first job may be created at any time.
   * @throws SvcError `bad_response` or `forbidden` if the jobs cannot be listed
   */
  async seesNoJobs(): Promise<boolean> {
    try {
      return (await this.#list()).length === 0;
    } catch (error) {
      throw isSvcError(error, 'not_found') ? foreignError(error) : error;
    }
  }

  /** Reads the recorded jobs, then the newest page of the job list, then the tenant if the key may read it. */
  async #readRelation(record: Owned): Promise<TenantRelation> {
    const jobs = jobsToRead(record);
    const recorded = record.tenant_id;
    for (const id of jobs.slice(0, JOBS_READ)) {
      const job = await ifAllowed(this.#client.accountUpdater.read(id));
      if (job && isOf(job, recorded)) return 'same';
    }
    if ((await this.#listIfAllowed()).some((job) => jobs.includes(job.id ?? '') && isOf(job, recorded))) return 'same';
    const tenants = await this.#tenants();
    if (recorded === undefined || tenants.length === 0) return 'unknown';
    return tenants.includes(recorded) ? 'same' : 'other';
  }

  /** Returns the tenants that the service names for this key: one, or none if nothing is readable. */
  async #tenants(): Promise<readonly string[]> {
    const listed = new Set((await this.#listIfAllowed()).flatMap(({ tenant_id: tenant }) => tenant ?? []));
    if (listed.size > 0) return [...listed];
    const self = await (this.#self ??= this.#readSelf());
    return self === undefined ? [] : [self];
  }

  async #listIfAllowed(): Promise<readonly ListedJob[]> {
    return (await ifAllowed(this.#list())) ?? [];
  }

  #list(): Promise<readonly ListedJob[]> {
    return (this.#newest ??= this.#client.accountUpdater.list({ pageSize: 100 }).first(100));
  }

  /** Reads the tenant with the private key, because the management key may belong to another tenant. */
  async #readSelf(): Promise<string | undefined> {
    const request = { method: 'GET', path: '/tenants/self', key: 'private', attempts: 1 } as const;
    const read = this.#client.any.send({ ...request, permission: 'tenant:read' });
    const response = await ifAllowed(read, 'unauthorized', 'rejected');
    const tenant = response?.body?.json;
    const id = isObject(tenant) ? tenant['id'] : undefined;
    return typeof id === 'string' ? id : undefined;
  }
}

function isOf({ tenant_id: tenant }: ListedJob, recorded: string | undefined): boolean {
  return !tenant || recorded === undefined || tenant === recorded;
}

/** Returns every job that a run ever had: the current job of each part, then earlier jobs with the latest first. */
function jobsToRead({ parts }: Pick<RunRecord, 'parts'>): string[] {
  const earlier = parts.flatMap(({ earlier_jobs: jobs = [] }) => jobs.map(({ job }) => job));
  return [...parts.flatMap(({ job }) => job ?? []), ...earlier.toReversed()];
}

/** Returns the result of a read. Returns undefined if it is forbidden or not found, because neither proves anything. */
async function ifAllowed<T>(read: Promise<T>, ...refusals: ErrorCode[]): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isSvcError(error, 'not_found', 'forbidden', ...refusals)) return undefined;
    throw error;
  }
}

/** Returns the tenant that the service names for the key of a client; undefined if reads do not show it. */
export function tenantOfKey(client: Client): Promise<string | undefined> {
  return new TenantProof(client).tenant();
}

/** The tenant of each client's key, if it was proven. */
const tenants = new WeakMap<Client, string>();

/**
 * Checks by reads alone that the key does not belong to another tenant, whose key would find none of the run's jobs.
 * @returns whether the key provably belongs to the run's tenant; false if there is no proof
 * @throws SvcError `config` for another tenant's key
 */
export async function isOwnTenant({ client, record }: RunAndClient, proof = new TenantProof(client)): Promise<boolean> {
  if (record.tenant_id !== undefined && tenants.get(client) === record.tenant_id) return true;
  const relation = await proof.relationOf(record);
  if (relation === 'other') throw tenantError(record, 'and this key to another');
  if (relation === 'same' && record.tenant_id !== undefined) tenants.set(client, record.tenant_id);
  return relation === 'same';
}

/**
 * Checks before a job is created that the key belongs to the run's tenant. A tenant without jobs gives no proof. This
 * is accepted while nothing of the run was stored, because the new job names its tenant before anything is uploaded.
 * @throws SvcError `config` for another tenant's key, `bad_response` if the jobs cannot be listed
 */
export async function requireOwnTenant(work: RunAndClient): Promise<void> {
  const { record } = work;
  if (record.tenant_id === undefined || (await standingOf(work)) !== 'unknown') return;
  throw tenantError(record, 'and this key does not see its jobs');
}

/**
 * Checks by reads alone how the key stands to the run's tenant: `own` with proof, or `blank` if a new job may show it.
 * The key must then see no jobs, and nothing of the run may have been stored, because the key would see that.
 * @throws SvcError `config` for another tenant's key, `bad_response` or `forbidden` if there is no proof and the jobs
 *   cannot be listed
 */
export async function standingOf(work: RunAndClient): Promise<'own' | 'blank' | 'unknown'> {
  // Another part may be stored while the list is read, and is then not in it.
  const hadFiles = work.record.parts.some(hadFile);
  const proof = new TenantProof(work.client);
  if (await isOwnTenant(work, proof)) return 'own';
  return !hadFiles && (await proof.seesNoJobs()) ? 'blank' : 'unknown';
}

function hadFile(part: Part): boolean {
  return sentOf(part) === 'stored' || part.earlier_jobs?.some(({ ended }) => ended === 'failed') === true;
}

/**
 * Checks that a new job belongs to the run's tenant, and records the tenant. A job without a file is deleted after an
 * hour and costs nothing.
 */
export function recordTenant({ client, record }: RunAndClient, { tenant_id: tenant }: AccountUpdaterJob): void {
  if (!tenant) return;
  rememberTenant(client, { tenant_id: tenant });
  if (tenant !== (record.tenant_id ?? tenant)) throw tenantError(record, `and this key to tenant ${tenant}`);
  applyToRun(record, { kind: 'bound', tenant });
}

/** Remembers the tenant of a client's key, which a job that the key just created names. */
export function rememberTenant(client: Client, { tenant_id: tenant }: Pick<AccountUpdaterJob, 'tenant_id'>): void {
  if (tenant) tenants.set(client, tenant);
}

function tenantError({ id, tenant_id: tenant }: RunRecord, but: string): SvcError {
  return new SvcError('config', `run ${id} belongs to tenant ${tenant}, ${but}: nothing was uploaded`, {
    hint: 'Use the key that the run was started with.',
    facts: { run: id, tenant_id: tenant },
  });
}
