// Creates jobs, and keeps one that was created only to show the key's tenant and application.

import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { applicationOfKey, type KeyAtService, rememberApplication } from '../../cli/config/known-keys.ts';
import { parseTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { MINUTE_MS } from '../../schema/durations.ts';

/** The command that shows whether a job was created. */
const JOBS = ['au', 'jobs'];

/** The largest age of a spare job that gets rows: half of the age up to which a job counts as just created. */
const FRESH_MS = 5 * MINUTE_MS;

/** Remembers the application of the key between commands. Only a job that the key created shows it. */
export interface CreatorMemory {
  known(): Promise<string | undefined>;
  remember(application: string): Promise<void>;
}

/** Returns the memory of a command's key. The embedded sandbox needs none: its jobs cost nothing. */
export function creatorMemory(context: Context, { baseUrl }: Client): CreatorMemory | undefined {
  if (serviceOf(context) === 'sandbox') return undefined;
  const { system } = context;
  const owner = async (): Promise<KeyAtService> => {
    const { value: key } = await context.key('private');
    return { service: baseUrl.href, key };
  };
  return {
    known: async () => applicationOfKey(system, await owner()),
    remember: async (application) => rememberApplication(system, await owner(), application),
  };
}

/**
 * Creates the jobs of a command. A spare job is created for what its response shows: the key's tenant, or that a list is up to
 * date. The first rows get it. Without a file, it costs nothing, and the service deletes it within an hour.
 */
export class SpareJob {
  readonly #client: Client;
  readonly #memory: CreatorMemory | undefined;
  #job: AccountUpdaterJob | undefined;

  constructor(client: Client, memory?: CreatorMemory) {
    this.#client = client;
    this.#memory = memory;
  }

  /** Returns the spare job, and creates it if necessary. */
  async get(): Promise<AccountUpdaterJob> {
    if (this.#job !== undefined && this.#isFresh(this.#job)) return this.#job;
    return (this.#job = await this.create());
  }

  async create(): Promise<AccountUpdaterJob> {
    const job = await this.#client.accountUpdater.create(JOBS);
    if (job.created_by) await this.#memory?.remember(job.created_by);
    return job;
  }

  /** Returns the application of the key, if an earlier command created a job with it. */
  async creator(): Promise<string | undefined> {
    return this.#memory?.known();
  }

  /** Takes back a job to which nothing was sent. */
  put(job: AccountUpdaterJob): void {
    this.#job ??= job;
  }

  /** Returns the spare job for rows, unless it is too old: a question to the operator may have waited for long. */
  take(): AccountUpdaterJob | undefined {
    const job = this.#job;
    this.#job = undefined;
    return job !== undefined && this.#isFresh(job) ? job : undefined;
  }

  #isFresh({ created_at: at }: AccountUpdaterJob): boolean {
    return !(this.#client.now() - (parseTime(at ?? '') ?? NaN) > FRESH_MS);
  }
}
