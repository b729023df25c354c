import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from '../routes/route.ts';
import type { Service } from '../service.ts';
import { readRange, sendRefusal, StoreRefusal } from '../store/refusal.ts';
import { element, objectList, xmlDocument } from './list-objects.ts';
import { conditionFailed, type ObjectCall, putObject } from './put-object.ts';
import { checkSignature } from './signature.ts';

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/**
 * Serves a request to the buckets: those that are signed like requests to stores of the S3 kind, with the bucket in
 * the path. They are no part of the tenant, and leave no audit logs.
 */
export async function serveBuckets(service: Service, exchange: Exchange): Promise<void> {
  const { outgoing, incoming } = exchange;
  try {
    const now = service.state.now();
    const payload = checkSignature(incoming, now);
    const { bucket, key } = objectLocation(exchange.path);
    const call = { objects: service.objects, exchange, bucket, key, payload, now };
    if (key === '') serveBucket(call);
    else await serveObject(call);
  } catch (error) {
    if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy();
    // What is still being sent is not wanted, and must not be taken for the next request.
    incoming.resume();
    sendRefusal(exchange, error instanceof StoreRefusal ? error : FAILURE);
  }
}

const FAILURE = new StoreRefusal(500, 'InternalError', 'The sandbox failed. Please try again.');

function objectLocation(path: string): { bucket: string; key: string } {
  const [, bucket = '', ...rest] = path.split('/');
  try {
    return { bucket: decodeURIComponent(bucket), key: decodeURIComponent(rest.join('/')) };
  } catch {
    throw new StoreRefusal(400, 'InvalidURI', 'The address could not be read.');
  }
}

async function serveObject(call: ObjectCall): Promise<void> {
  const { objects, exchange, bucket, key } = call;
  requireBucket(call);
  const { method } = exchange.incoming;
  if (Buffer.byteLength(key) > 1024) throw new StoreRefusal(400, 'KeyTooLongError', 'The key is too long.');
  if (method === 'PUT' && exchange.query.size === 0) return putObject(call);
  if (method === 'GET' || method === 'HEAD') return getObject(call);
  if (method !== 'DELETE') throw notImplemented();
  objects.remove(bucket, key);
  exchange.outgoing.statusCode = 204;
  exchange.outgoing.end();
}

function serveBucket(call: ObjectCall): void {
  const { objects, exchange, bucket } = call;
  const { method } = exchange.incoming;
  if (bucket === '' && method === 'GET') return sendXml(exchange, bucketList(objects.buckets()));
  if (method === 'PUT') {
    if (!BUCKET.test(bucket)) throw new StoreRefusal(400, 'InvalidBucketName', 'The name is not valid.');
    objects.createBucket(bucket);
    return sendXml(exchange, '');
  }
  requireBucket(call);
  if (method === 'HEAD') return sendXml(exchange, '');
  if (method !== 'GET') throw notImplemented();
  if (exchange.query.has('location')) return sendXml(exchange, xmlDocument('LocationConstraint', []));
  if (exchange.query.get('list-type') !== '2') throw notImplemented();
  sendXml(exchange, objectList(bucket, objects.list(bucket), exchange.query));
}

function requireBucket({ objects, bucket }: ObjectCall): void {
  if (BUCKET.test(bucket) && objects.hasBucket(bucket)) return;
  throw new StoreRefusal(404, 'NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });
}

function bucketList(names: readonly string[]): string {
  const buckets = names.map((name) => `<Bucket>${element('Name', name)}</Bucket>`);
  return xmlDocument('ListAllMyBucketsResult', [`<Buckets>${buckets.join('')}</Buckets>`]);
}

function sendXml({ incoming, outgoing }: Exchange, text: string): void {
  incoming.resume();
  if (text !== '') outgoing.setHeader('content-type', 'application/xml');
  outgoing.setHeader('content-length', Buffer.byteLength(text));
  outgoing.end(incoming.method === 'HEAD' ? undefined : text);
}

function notImplemented(): StoreRefusal {
  return new StoreRefusal(501, 'NotImplemented', 'The sandbox does not implement this operation.');
}

/** Sends an object, or a range of it, or for HEAD only what is known of it. */
async function getObject({ objects, exchange, bucket, key }: ObjectCall): Promise<void> {
  const { incoming, outgoing } = exchange;
  const found = objects.find(bucket, key);
  if (found === undefined)
    throw new StoreRefusal(404, 'NoSuchKey', 'The object does not exist.', { Key: key });
  const etag = `"${found.md5}"`;
  const { 'if-match': match, 'if-none-match': none } = incoming.headers;
  if (match !== undefined && match !== '*' && match !== etag) throw conditionFailed('If-Match');
  outgoing.setHeader('etag', etag);
  outgoing.setHeader('last-modified', new Date(found.at).toUTCString());
  if (none === etag || none === '*') {
    outgoing.statusCode = 304;
    return void outgoing.end();
  }
  const range = found.bytes === 0 ? undefined : readRange(incoming.headers.range, found.bytes);
  if (range === 'unsatisfiable') {
    outgoing.setHeader('content-range', `bytes */${found.bytes}`);
    throw new StoreRefusal(416, 'InvalidRange', 'The range cannot be satisfied.');
  }
  const { first, last } = range ?? { first: 0, last: found.bytes - 1 };
  outgoing.statusCode = range === undefined ? 200 : 206;
  if (range !== undefined) outgoing.setHeader('content-range', `bytes ${first}-${last}/${found.bytes}`);
  outgoing.setHeader('accept-ranges', 'bytes');
  outgoing.setHeader('content-type', 'binary/octet-stream');
  outgoing.setHeader('content-length', last - first + 1);
  if (incoming.method === 'HEAD' || last < first) return void outgoing.end();
  const { file, start } = found;
  await pipeline(createReadStream(file, { start: start + first, end: start + last }), outgoing);
}
