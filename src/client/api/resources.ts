// The typed endpoints of jobs, the tenant and 3-D Secure, and the request of each.

import { keepSource, listSource } from '../../base/json/source.ts';
import type { AccountUpdaterJob, ListedJob } from '../../schema/account-updater.ts';
import type { Tenant as TenantRecord, TenantBody, UsageReport } from '../../schema/tenant.ts';
import type { AuthenticateRequest } from '../../schema/three-ds/authenticate.ts';
import type {
  AuthenticationResult,
  ChallengeResult,
  CreatedSession,
  CreateSession,
  ThreeDsSession,
} from '../../schema/three-ds/session.ts';
import { Endpoints } from '../http/core.ts';
import { type ApiRequest, path } from '../http/request.ts';
import { cursorPages, type ListRequest, type PageOptions, type Pages } from './pages.ts';

const JOB = {
  key: 'private',
  shape: async () => (await import('../../schema/account-updater.ts')).accountUpdaterJobSchema,
} as const;

/** The command that shows whether a request without a clear response took effect. The error suggests this command. */
type NextCommand = readonly string[] | undefined;

const TENANT = {
  path: path`/tenants/self`,
  key: 'management',
  shape: async () => (await import('../../schema/tenant.ts')).tenantSchema,
} as const;

/** Account Updater jobs: batch refreshes of card tokens. A job contains its upload and download addresses. */
export class AccountUpdater extends Endpoints {
  /**
   * `POST /account-updater/jobs`, permission account-updater:job:create. The new job waits one hour for its file.
   * @throws SvcError `outcome_unknown` when no clear response came: the job may exist
   */
  create(next?: NextCommand): Promise<AccountUpdaterJob> {
    return this.core.call(createJobRequest(next));
  }

  /** `GET /account-updater/jobs/{id}`, permission account-updater:job:read. An expired job is `not_found`. */
  read(id: string): Promise<AccountUpdaterJob> {
    return this.core.call(readJobRequest(id));
  }

  /** `GET /account-updater/jobs`, permission account-updater:job:read; newest first. */
  list(options: PageOptions = {}): Pages<ListedJob> {
    return cursorPages(this.core, options, listJobsRequest(), withSources);
  }
}

/** Checks a body before it is sent. The rules load only with the first body. */
async function refuseCardNumbers(body: unknown): Promise<void> {
  const { requireNoCardNumbers } = await import('./body-card-numbers.ts');
  requireNoCardNumbers(body);
}

/** Keeps the original text of each item of a page, so that commands can print it unchanged. */
function withSources<T extends object>(items: readonly T[], text: string): readonly T[] {
  const sources = listSource(text)?.items ?? [];
  return items.map((item, at) => {
    const source = sources[at];
    return source === undefined ? item : keepSource(item, source);
  });
}

export function createJobRequest(next?: NextCommand): ApiRequest<AccountUpdaterJob> {
  return {
    ...JOB,
    method: 'POST',
    path: path`/account-updater/jobs`,
    permission: 'account-updater:job:create',
    subject: 'creating a job',
    whenUnclear: {
      hint: 'Check whether a new pending job was created; one that gets no file is removed after an hour and costs nothing.',
      next,
    },
  };
}

export function readJobRequest(id: string): ApiRequest<AccountUpdaterJob> {
  return {
    ...JOB,
    method: 'GET',
    path: path`/account-updater/jobs/${id}`,
    permission: 'account-updater:job:read',
    subject: `job ${id}`,
  };
}

export function listJobsRequest(): ListRequest<ListedJob> {
  return {
    path: path`/account-updater/jobs`,
    key: 'private',
    permission: 'account-updater:job:read',
    subject: 'jobs',
    shape: async () => (await import('../../schema/account-updater.ts')).listedJobPageSchema,
  };
}

export class Tenant extends Endpoints {
  /** `GET /tenants/self`, permission tenant:read. */
  read(): Promise<TenantRecord> {
    return this.core.call(readTenantRequest());
  }

  /**
   * `PUT /tenants/self`, permission tenant:update. The body replaces name and settings: a setting that the body leaves out
   * may be lost.
   * @throws SvcError `refused_input` for a card number; `outcome_unknown` when no clear response came: the update may have
   *   taken effect
   */
  async update(body: TenantBody, next?: NextCommand): Promise<TenantRecord> {
    await refuseCardNumbers(body);
    return this.core.call(updateTenantRequest(body, next));
  }

  /**
   * `DELETE /tenants/self`, permission tenant:delete. Sent only once, whatever the response.
   * @throws SvcError `outcome_unknown` when no clear response came: the tenant may be gone
   */
  delete(next?: NextCommand): Promise<void> {
    return this.core.call(deleteTenantRequest(next));
  }

  /** `GET /tenants/self/reports/usage`, permission report:read. */
  usage(): Promise<UsageReport> {
    return this.core.call(usageRequest());
  }
}

export function readTenantRequest(): ApiRequest<TenantRecord> {
  return { ...TENANT, method: 'GET', permission: 'tenant:read', subject: 'the tenant' };
}

export function updateTenantRequest(body: TenantBody, next?: NextCommand): ApiRequest<TenantRecord> {
  return {
    ...TENANT,
    method: 'PUT',
    body,
    permission: 'tenant:update',
    subject: 'updating the tenant',
    whenUnclear: { hint: 'Check the tenant before you update it again.', next },
  };
}

export function deleteTenantRequest(next?: NextCommand): ApiRequest<void> {
  return {
    method: 'DELETE',
    path: path`/tenants/self`,
    attempts: 1,
    key: 'management',
    permission: 'tenant:delete',
    subject: 'deleting the tenant',
    whenUnclear: {
      hint: 'Check whether the tenant still exists: the key of a deleted tenant is not accepted (401).',
      next,
    },
  };
}

export function usageRequest(): ApiRequest<UsageReport> {
  return {
    method: 'GET',
    path: path`/tenants/self/reports/usage`,
    key: 'management',
    permission: 'report:read',
    subject: 'the usage report',
    shape: async () => (await import('../../schema/tenant.ts')).usageReportSchema,
  };
}

/** 3-D Secure: sessions for card tokens, their authentication, and the results of challenges. */
export class ThreeDs extends Endpoints {
  /**
   * `POST /3ds/sessions`, permission 3ds:session:create.
   * @throws SvcError `refused_input` for a card number; `outcome_unknown` when no clear response came: a session may exist
   */
  async create(session: CreateSession): Promise<CreatedSession> {
    await refuseCardNumbers(session);
    return this.core.call(createSessionRequest(session));
  }

  /** `GET /3ds/sessions/{id}`, permission 3ds:session:read. */
  read(id: string): Promise<ThreeDsSession> {
    return this.core.call(readSessionRequest(id));
  }

  /**
   * `POST /3ds/sessions/{id}/authenticate`, permission 3ds:session:authenticate.
   * @throws SvcError `refused_input` for a card number; `outcome_unknown` when no clear response came: the cardholder may
   *   have been authenticated
   */
  async authenticate(id: string, request: AuthenticateRequest, next?: NextCommand): Promise<AuthenticationResult> {
    await refuseCardNumbers(request);
    return this.core.call(authenticateRequest(id, request, next));
  }

  /** `GET /3ds/sessions/{id}/challenge-result`, permission 3ds:session:authenticate. */
  challengeResult(id: string): Promise<ChallengeResult> {
    return this.core.call(challengeResultRequest(id));
  }
}

export function createSessionRequest(session: CreateSession): ApiRequest<CreatedSession> {
  return {
    method: 'POST',
    path: path`/3ds/sessions`,
    body: session,
    key: 'private',
    permission: '3ds:session:create',
    subject: 'creating a 3DS session',
    whenUnclear: { hint: 'It is safe to run the command again: an unused session expires by itself.' },
    shape: async () => (await import('../../schema/three-ds/session.ts')).createdSessionSchema,
  };
}

export function readSessionRequest(id: string): ApiRequest<ThreeDsSession> {
  return {
    method: 'GET',
    path: path`/3ds/sessions/${id}`,
    key: 'private',
    permission: '3ds:session:read',
    subject: `3DS session ${id}`,
    shape: async () => (await import('../../schema/three-ds/session.ts')).threeDsSessionSchema,
  };
}

export function authenticateRequest(
  id: string,
  request: AuthenticateRequest,
  next?: NextCommand,
): ApiRequest<AuthenticationResult> {
  return {
    method: 'POST',
    path: path`/3ds/sessions/${id}/authenticate`,
    body: request,
    key: 'private',
    permission: '3ds:session:authenticate',
    subject: `authenticating 3DS session ${id}`,
    whenUnclear: { hint: 'Check the outcome before you send it again.', next },
    shape: async () => (await import('../../schema/three-ds/session.ts')).authenticationResultSchema,
  };
}

export function challengeResultRequest(id: string): ApiRequest<ChallengeResult> {
  return {
    method: 'GET',
    path: path`/3ds/sessions/${id}/challenge-result`,
    key: 'private',
    permission: '3ds:session:authenticate',
    subject: `the challenge result of 3DS session ${id}`,
    shape: async () => (await import('../../schema/three-ds/session.ts')).challengeResultSchema,
  };
}
