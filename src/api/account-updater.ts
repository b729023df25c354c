import type { HttpCore } from '../http/core.ts';
import { type ApiRequest, path } from '../http/request.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import { cursorPages, type ListRequest, type PageOptions, type Pages } from './pages.ts';

/** Account Updater jobs: batch refreshes of card tokens. Upload and download addresses come with a job. */
export class AccountUpdater {
  readonly #core: HttpCore;

  constructor(core: HttpCore) {
    this.#core = core;
  }

  /**
   * `POST /account-updater/jobs`, permission account-updater:job:create. The new job waits one hour for its file.
   * @throws SvcError `outcome_unknown` when no clear answer came: the job may exist
   */
  create(): Promise<AccountUpdaterJob> {
    return this.#core.call(createJobRequest());
  }

  /** `GET /account-updater/jobs/{id}`, permission account-updater:job:read. An expired job is `not_found`. */
  read(id: string): Promise<AccountUpdaterJob> {
    return this.#core.call(readJobRequest(id));
  }

  /** `GET /account-updater/jobs`, permission account-updater:job:read; newest first. */
  list(options: PageOptions = {}): Pages<AccountUpdaterJob> {
    return cursorPages(this.#core, options, listJobsRequest(), (jobs) => jobs);
  }
}

export function createJobRequest(): ApiRequest<AccountUpdaterJob> {
  return {
    method: 'POST',
    path: path`/account-updater/jobs`,
    key: 'private',
    permission: 'account-updater:job:create',
    subject: 'creating a job',
    howToCheck:
      "Look whether a new pending job appeared with 'svc au list'; one that gets no file vanishes after an hour and costs nothing.",
    shape: async () => (await import('../schema/account-updater.ts')).accountUpdaterJobSchema,
  };
}

export function readJobRequest(id: string): ApiRequest<AccountUpdaterJob> {
  return {
    method: 'GET',
    path: path`/account-updater/jobs/${id}`,
    key: 'private',
    permission: 'account-updater:job:read',
    subject: `job ${id}`,
    shape: async () => (await import('../schema/account-updater.ts')).accountUpdaterJobSchema,
  };
}

export function listJobsRequest(): ListRequest<AccountUpdaterJob> {
  return {
    path: path`/account-updater/jobs`,
    key: 'private',
    permission: 'account-updater:job:read',
    subject: 'jobs',
    shape: async () => (await import('../schema/account-updater.ts')).accountUpdaterJobPageSchema,
  };
}
