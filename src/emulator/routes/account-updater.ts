import { randomUUID } from 'node:crypto';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import { cursorList, cursorPage, pageSize, readCursor, writeCursor } from '../paging.ts';
import { notFound } from '../problem.ts';
import { applicationId } from '../seed/logs.ts';
import type { ApiRoute, Call } from '../endpoint.ts';
import type { Service } from '../service.ts';
import { type Job, jobStatus, uploadDeadline } from '../state/world.ts';
import { requestObject, resultObject, signedAddress } from '../store/files.ts';

const ENTITY_TYPE = 'account_updater_job';

const DOWNLOAD_LIFE_MS = 15 * MINUTE_MS;

/** Endpoints of the Account Updater. Request and result files go through the store, at signed addresses. */
export const ACCOUNT_UPDATER_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/account-updater/jobs',
    permission: 'account-updater:job:create',
    audit: { entityType: ENTITY_TYPE, noun: 'Job', operation: 'create' },
    status: 201,
    handle: createJob,
  },
  {
    method: 'GET',
    path: '/account-updater/jobs/:id',
    permission: 'account-updater:job:read',
    audit: { entityType: ENTITY_TYPE, noun: 'Job', operation: 'read' },
    handle: readJob,
  },
  {
    method: 'GET',
    path: '/account-updater/jobs',
    permission: 'account-updater:job:read',
    audit: { entityType: ENTITY_TYPE, noun: 'Jobs', operation: 'read' },
    handle: listJobs,
  },
];

// The body may be empty or any JSON.
async function createJob({ service, key, now, json, created }: Call): Promise<AccountUpdaterJob> {
  await json();
  const nonce = randomUUID();
  const world = service.state.record({ type: 'job', at: now, nonce, application: key.application });
  const job = world.jobs.createdWith(nonce);
  created(job.id);
  return jobView(service, job, now);
}

async function readJob({ service, params, now }: Call): Promise<AccountUpdaterJob> {
  const job = service.state.world.jobs.find(params['id']);
  if (job === undefined || jobStatus(job, now) === 'removed') throw notFound('The Account Updater job');
  await service.processing.settle([job], now);
  return jobView(service, job, now);
}

async function listJobs({ service, query, now }: Call): Promise<unknown> {
  const size = pageSize(query);
  const list = cursorList('jobs', query, service.options);
  const [below = Infinity] = readCursor(query, list) ?? [];
  const jobs = service.state.world.jobs.all.filter((job) => job.number < below && jobStatus(job, now) !== 'removed');
  const page = jobs.toReversed().slice(0, size);
  await service.processing.settle(page, now);
  const last = page.at(-1);
  const next = last !== undefined && jobs.length > size ? writeCursor(list, [last.number]) : undefined;
  return cursorPage(
    page.map((job) => jobView(service, job, now)),
    size,
    next,
  );
}

/** Returns a job as in a response, with newly signed addresses. */
function jobView(service: Service, job: Job, now: number): AccountUpdaterJob {
  const { start, tenantId } = service.state.world;
  const status = jobStatus(job, now);
  const sign = (method: string, object: string, expires: number): string =>
    signedAddress(service.origin(), { method, object, expires }, start.secret);
  return {
    id: job.id,
    tenant_id: tenantId,
    status,
    created_by: applicationId(start.seed, job.created.application),
    created_at: new Date(job.created.at).toISOString(),
    ...(status === 'pending' && {
      expires_at: new Date(uploadDeadline(job)).toISOString(),
      upload_url: sign('PUT', requestObject(job.id), uploadDeadline(job)),
    }),
    errors: status === 'failed' ? [...(job.result?.errors ?? [])] : [],
    ...(status === 'completed' && { download_url: sign('GET', resultObject(job.id), now + DOWNLOAD_LIFE_MS) }),
  };
}
