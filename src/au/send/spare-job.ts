import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import { rememberTenant } from '../run/tenant-proof.ts';

/** The command that shows whether a job was created. */
export const JOBS = ['au', 'jobs'];

/** How old the job may get: half of the age at which a new job counts as one that the service did not just create. */
const FRESH_MS = 5 * MINUTE_MS;

/**
 * A job that is created only for what its response shows: the key's tenant, or that a list is up to date. The first part
 * that needs a job takes it. Without a file it costs nothing and is deleted within an hour.
 */
export class SpareJob {
  readonly #client: Client;
  #job: AccountUpdaterJob | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns the job, which is created unless one is there already. */
  async get(): Promise<AccountUpdaterJob> {
    if (this.#job !== undefined && this.#isFresh(this.#job)) return this.#job;
    const job = await this.#client.accountUpdater.create(JOBS);
    rememberTenant(this.#client, job);
    return (this.#job = job);
  }

  /** Takes a job back to which nothing was sent. */
  put(job: AccountUpdaterJob): void {
    this.#job ??= job;
  }

  /** Returns the job for the use of a part, if there is one. A question may have waited long for its answer meanwhile. */
  take(): AccountUpdaterJob | undefined {
    const job = this.#job;
    this.#job = undefined;
    return job !== undefined && this.#isFresh(job) ? job : undefined;
  }

  #isFresh({ created_at: at }: AccountUpdaterJob): boolean {
    return !(this.#client.now() - Date.parse(at ?? '') > FRESH_MS);
  }
}
