import { renameSync } from 'node:fs';
import { MAX_REQUEST_FILE_BYTES } from '../../schema/account-updater-files.ts';
import { ACCEPT_SECOND_PUT } from '../faults/fault.ts';
import { recordAudit } from '../audit.ts';
import type { ServiceRequest } from '../request.ts';
import type { ServiceResponse } from '../response.ts';
import type { Service } from '../service.ts';
import { type Job, jobStatus } from '../state/world.ts';
import { checkAddress, jobOfObject } from '../store/files.ts';
import {
  checkFraming,
  conditionFailed,
  fileResponse,
  receiveBody,
  refusalResponse,
  StoreRefusal,
} from '../store/responses.ts';

/** Whether an address is one of the store. */
export function isOfStore({ pathname }: URL): boolean {
  return pathname === '/store' || pathname.startsWith('/store/');
}

/** Responds to uploads and downloads of job files, at pre-signed addresses, which need no key. */
export async function respondAsStore(service: Service, request: ServiceRequest): Promise<ServiceResponse> {
  const { method, url } = request;
  try {
    if (method === 'PUT' && /^\/store\/requests\/[^/]+$/.test(url.pathname)) return await putRequest(service, request);
    if (isRead(method) && /^\/store\/results\/[^/]+$/.test(url.pathname)) return getResult(service, request);
    // An address is signed for one method. With another method, its signature is wrong.
    throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.');
  } catch (error) {
    if (error instanceof StoreRefusal) recordRefusal(service, request);
    return refusalResponse(error, request);
  }
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Stores a request file. An upload that breaks off, or does not match its MD5, stores nothing. */
async function putRequest(service: Service, request: ServiceRequest): Promise<ServiceResponse> {
  checkAuthentication(request);
  checkFraming(request);
  const path = checkSignature(service, request);
  const isSecondAllowed = request.headers[ACCEPT_SECOND_PUT] !== undefined;
  const job = openJob(service, path, isSecondAllowed);
  const bytes = checkLength(request);
  const draft = service.files.draft();
  try {
    const md5 = await receiveBody(request, draft);
    service.state.refresh();
    openJob(service, path, isSecondAllowed);
    renameSync(draft, service.files.path(path));
    recordUpload(service, job, { bytes, md5 });
    return { status: 200, headers: { etag: `"${md5}"` } };
  } finally {
    service.files.discard(draft);
  }
}

function recordUpload(service: Service, job: Job, file: { bytes: number; md5: string }): void {
  const at = service.state.now();
  const { merchants, acceptTokens, processingMs: processing = 2000, pickupMs = 250 } = service.options;
  const pickup = Math.min(pickupMs, processing);
  service.state.record({ type: 'upload', at, job: job.id, ...file, pickup, processing, merchants, acceptTokens });
  recordAccess(service, job, 'update', 'Request file uploaded');
  service.processing.prepare(job, pickup);
}

function checkLength({ headers }: ServiceRequest): number {
  const bytes = Number(headers['content-length']);
  if (bytes > MAX_REQUEST_FILE_BYTES)
    throw new StoreRefusal(400, 'EntityTooLarge', 'The upload is larger than allowed.', {
      ProposedSize: String(bytes),
      MaxSizeAllowed: String(MAX_REQUEST_FILE_BYTES),
    });
  return bytes;
}

// A real store does not know about jobs. Once processing has begun, it refuses the address as expired.
function openJob(service: Service, path: string, isSecondAllowed: boolean): Job {
  const job = service.state.world.jobs.find(jobOfObject(path));
  if (job === undefined || service.state.world.deleted || jobStatus(job, service.state.now()) !== 'pending')
    throw new StoreRefusal(403, 'AccessDenied', 'Access denied.');
  if (job.uploads > 0 && !isSecondAllowed) throw conditionFailed('If-None-Match');
  return job;
}

/** Responds with a result file or a range of it. Honors `If-Match`, but not `If-Range`, as many stores do. */
function getResult(service: Service, request: ServiceRequest): ServiceResponse {
  checkAuthentication(request);
  const path = checkSignature(service, request);
  const { world } = service.state;
  const job = world.jobs.find(jobOfObject(path));
  const result = job?.result;
  if (job === undefined || result === undefined || world.deleted)
    throw new StoreRefusal(404, 'NoSuchKey', 'The object does not exist.');
  const etag = `"${result.md5}"`;
  checkCondition(request, etag);
  const { bytes, at: modified } = result;
  const file = { path: service.files.path(path), bytes, type: 'text/csv', etag, modified };
  const response = fileResponse(request, file);
  recordAccess(service, job, 'read', 'Result file downloaded');
  return response;
}

function checkCondition({ headers }: ServiceRequest, etag: string): void {
  const expectedTag = headers['if-match'];
  if (expectedTag === undefined || expectedTag === '*' || expectedTag.split(/\s*,\s*/).includes(etag)) return;
  throw conditionFailed('If-Match');
}

function checkAuthentication({ headers }: ServiceRequest): void {
  if (headers['authorization'] !== undefined)
    throw new StoreRefusal(400, 'InvalidArgument', 'Only one authentication mechanism is allowed.');
}

/** Checks the signature in a request's address, and returns the path of its object. */
function checkSignature({ state }: Service, { method, url, headers }: ServiceRequest): string {
  const { pathname, searchParams } = url;
  const { secret } = state.world.start;
  checkAddress({ method, object: pathname }, searchParams, { secret, now: state.now() });
  const signed = searchParams.get('X-Amz-SignedHeaders')?.split(';') ?? [];
  if (!signed.every((name) => Object.hasOwn(headers, name)))
    throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.');
  return pathname;
}

// Records nothing for an unknown job, since no tenant owns it.
function recordRefusal(service: Service, { method, url }: ServiceRequest): void {
  const job = service.state.world.jobs.find(jobOfObject(url.pathname));
  if (job === undefined || service.state.world.deleted) return;
  if (method === 'PUT') recordAccess(service, job, 'update', 'Request file upload refused');
  else recordAccess(service, job, 'read', 'Result file download refused');
}

function recordAccess(service: Service, { id }: Job, operation: string, message: string): void {
  recordAudit(service, undefined, { entityType: 'account_updater_job', entityId: id, operation, message });
}
