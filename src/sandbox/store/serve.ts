import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from '../routes/route.ts';
import { recordAudit, type Service } from '../service.ts';
import { checkAddress, jobOfObject } from './files.ts';
import { readRange, sendRefusal, StoreRefusal } from './refusal.ts';

/** What every path of the store begins with. */
export const STORE_PATH = '/store/';

/** Runs a handler of the store, and sends what it refuses. */
export async function serveStore(
  service: Service,
  exchange: Exchange,
  handle: () => void | Promise<void>,
): Promise<void> {
  const { outgoing } = exchange;
  try {
    await handle();
  } catch (error) {
    if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy();
    if (error instanceof StoreRefusal) recordRefusal(service, exchange);
    sendRefusal(exchange, error instanceof StoreRefusal ? error : FAILURE);
  }
}

/** Refuses what has no address: each is signed for one method, so any other looks like an altered one. */
export function unsigned(): never {
  throw new StoreRefusal(403, 'SignatureDoesNotMatch', 'The signature does not match the request.');
}

const FAILURE = new StoreRefusal(500, 'InternalError', 'The sandbox failed. Please try again.');

// A path that names no job of the tenant is nobody's, and leaves nothing.
function recordRefusal(service: Service, { incoming, path }: Exchange): void {
  const job = service.state.world.jobById.get(jobOfObject(path) ?? '');
  if (job === undefined || service.state.world.deleted) return;
  const [operation, message] =
    incoming.method === 'PUT'
      ? ['update', 'Request file upload refused']
      : ['read', 'Result file download refused'];
  recordAudit(service, undefined, {
    entityType: 'account_updater_job',
    entityId: job.id,
    operation,
    message,
  });
}

/** Sends a result file, or a range of it. `If-Match` is honoured; `If-Range` is not, as in many stores. */
export async function getResult(service: Service, exchange: Exchange): Promise<void> {
  const { incoming, outgoing, path, query } = exchange;
  if (incoming.headers.authorization !== undefined)
    throw new StoreRefusal(400, 'InvalidArgument', 'Only one authentication mechanism is allowed.');
  const method = incoming.method ?? '';
  const { world } = service.state;
  checkAddress({ method, object: path }, query, { secret: world.start.secret, now: service.state.now() });
  const job = world.jobById.get(jobOfObject(path) ?? '');
  const result = job?.result;
  if (job === undefined || result === undefined || world.deleted)
    throw new StoreRefusal(404, 'NoSuchKey', 'The object does not exist.');
  const etag = `"${result.md5}"`;
  checkCondition(incoming, etag);
  const range = readRange(incoming.headers.range, result.bytes);
  if (range === 'unsatisfiable') {
    outgoing.setHeader('content-range', `bytes */${result.bytes}`);
    throw new StoreRefusal(416, 'InvalidRange', 'The range cannot be satisfied.');
  }
  const { first, last } = range ?? { first: 0, last: result.bytes - 1 };
  outgoing.statusCode = range === undefined ? 200 : 206;
  if (range !== undefined) outgoing.setHeader('content-range', `bytes ${first}-${last}/${result.bytes}`);
  setHeaders(outgoing, { etag, length: last - first + 1, modified: result.at });
  recordAudit(service, undefined, {
    entityType: 'account_updater_job',
    entityId: job.id,
    operation: 'read',
    message: 'Result file downloaded',
  });
  const file = createReadStream(service.files.path(path), {
    start: first,
    end: last,
    highWaterMark: 1 << 18,
  });
  await pipeline(file, outgoing);
}

function checkCondition({ headers }: IncomingMessage, etag: string): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted === '*' || wanted.split(/\s*,\s*/).includes(etag)) return;
  throw new StoreRefusal(412, 'PreconditionFailed', 'A condition of the request does not hold.', {
    Condition: 'If-Match',
  });
}

function setHeaders(
  outgoing: ServerResponse,
  { etag, length, modified }: { etag: string; length: number; modified: number },
): void {
  outgoing.setHeader('etag', etag);
  outgoing.setHeader('accept-ranges', 'bytes');
  outgoing.setHeader('content-type', 'text/csv');
  outgoing.setHeader('content-length', length);
  outgoing.setHeader('last-modified', new Date(modified).toUTCString());
}
