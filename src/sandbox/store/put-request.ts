import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MAX_REQUEST_FILE_BYTES } from '../../schema/account-updater-files.ts';
import type { Exchange } from '../routes/route.ts';
import { recordAudit, type Service } from '../service.ts';
import { jobStatus } from '../state/events.ts';
import type { Job } from '../state/world.ts';
import { checkAddress, jobOfObject } from './files.ts';
import { StoreRefusal } from './refusal.ts';

/** Takes a request file in. An upload that breaks off, or does not match its MD5, leaves nothing. */
export async function putRequest(service: Service, exchange: Exchange): Promise<void> {
  const { incoming, outgoing, path, query } = exchange;
  checkFraming(incoming);
  const now = service.state.now();
  checkAddress({ method: 'PUT', object: path }, query, { secret: service.state.world.start.secret, now });
  const job = openJob(service, path);
  const bytes = checkLength(incoming);
  const draft = service.files.draft();
  try {
    if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    const md5 = await receive(incoming, draft);
    checkDigest(incoming, md5);
    service.state.refresh();
    openJob(service, path);
    renameSync(draft, service.files.path(path));
    recordUpload(service, job, { bytes, md5: md5.toString('hex') });
    outgoing.setHeader('etag', `"${md5.toString('hex')}"`);
    outgoing.setHeader('content-length', 0);
    outgoing.end();
  } finally {
    service.files.discard(draft);
  }
}

function recordUpload(service: Service, job: Job, file: { bytes: number; md5: string }): void {
  const at = service.state.now();
  service.state.record({ type: 'upload', at, job: job.id, ...file, ...service.speed });
  recordAudit(service, undefined, {
    entityType: 'account_updater_job',
    entityId: job.id,
    operation: 'update',
    message: 'Request file uploaded',
  });
  service.processing.prepare(job, service.speed.pickup);
}

// As stores of the S3 kind answer them, in their order.
function checkFraming({ headers }: IncomingMessage): void {
  if (headers.authorization !== undefined)
    throw new StoreRefusal(400, 'InvalidArgument', 'Only one authentication mechanism is allowed.');
  if (headers['transfer-encoding'] !== undefined)
    throw new StoreRefusal(501, 'NotImplemented', 'A header implies functionality that is not implemented.', {
      Header: 'Transfer-Encoding',
    });
  if (headers['content-length'] === undefined)
    throw new StoreRefusal(411, 'MissingContentLength', 'The Content-Length header is needed.');
}

function checkLength({ headers }: IncomingMessage): number {
  const bytes = Number(headers['content-length']);
  if (bytes > MAX_REQUEST_FILE_BYTES)
    throw new StoreRefusal(400, 'EntityTooLarge', 'The upload is larger than allowed.', {
      ProposedSize: String(bytes),
      MaxSizeAllowed: String(MAX_REQUEST_FILE_BYTES),
    });
  return bytes;
}

function checkDigest({ headers }: IncomingMessage, md5: Buffer): void {
  const given = headers['content-md5'];
  if (given !== undefined && given !== md5.toString('base64'))
    throw new StoreRefusal(400, 'BadDigest', 'The Content-MD5 does not match what was received.');
}

// A store knows no jobs: what it answers once processing began looks like an address that is no longer good.
function openJob(service: Service, path: string): Job {
  const job = service.state.world.jobById.get(jobOfObject(path) ?? '');
  if (job === undefined || service.state.world.deleted || jobStatus(job, service.state.now()) !== 'pending')
    throw new StoreRefusal(403, 'AccessDenied', 'Access denied.');
  return job;
}

async function receive(incoming: IncomingMessage, path: string): Promise<Buffer> {
  const md5 = createHash('md5');
  const digest = new Transform({
    transform(chunk: Buffer, _encoding, done): void {
      md5.update(chunk);
      done(null, chunk);
    },
  });
  const file = await open(path, 'wx', 0o600);
  await pipeline(incoming, digest, file.createWriteStream());
  return md5.digest();
}
