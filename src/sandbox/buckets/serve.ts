import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Service } from '../service.ts';
import {
  checkFraming,
  conditionFailed,
  fileResponse,
  receiveBody,
  refusalResponse,
  StoreRefusal,
  xmlElement,
  xmlResponse,
} from '../store/responses.ts';
import { objectList, xmlDocument } from './list-objects.ts';
import { type ObjectFiles, objectHead } from './objects.ts';
import { checkSignature } from './signature.ts';

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/**
 * Serves a request to the buckets: signed as for S3-compatible stores, with the bucket in the path. Buckets are not part
 * of the tenant, and leave no audit logs.
 */
export async function serveBuckets({ state, objects }: Service, request: Request): Promise<Response> {
  try {
    const now = state.now();
    const payload = checkSignature(request, now);
    const { pathname, searchParams: query } = new URL(request.url);
    const call = { objects, request, query, ...objectLocation(pathname), payload, now };
    return call.key === '' ? serveBucket(call) : await serveObject(call);
  } catch (error) {
    return refusalResponse(error, request);
  }
}

/** A request, and the object that it is about. */
interface ObjectCall {
  readonly objects: ObjectFiles;
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly bucket: string;
  readonly key: string;
  /** SHA-256 that the body must have, hexadecimal; undefined where it is not signed. */
  readonly payload: string | undefined;
  readonly now: number;
}

function objectLocation(path: string): { bucket: string; key: string } {
  const [, bucket = '', ...rest] = path.split('/');
  try {
    return { bucket: decodeURIComponent(bucket), key: decodeURIComponent(rest.join('/')) };
  } catch {
    throw new StoreRefusal(400, 'InvalidURI', 'The address could not be read.');
  }
}

async function serveObject(call: ObjectCall): Promise<Response> {
  const { objects, request, query, bucket, key } = call;
  requireBucket(call);
  if (Buffer.byteLength(key) > 1024) throw new StoreRefusal(400, 'KeyTooLongError', 'The key is too long.');
  if (request.method === 'PUT' && query.size === 0) return putObject(call);
  if (request.method === 'GET' || request.method === 'HEAD') return getObject(call);
  if (request.method !== 'DELETE') throw notImplemented();
  objects.remove(bucket, key);
  return new Response(null, { status: 204 });
}

function serveBucket(call: ObjectCall): Response {
  const { objects, request, query, bucket } = call;
  const { method } = request;
  if (bucket === '' && method === 'GET') return xmlResponse(bucketList(objects.buckets()));
  if (method === 'PUT') {
    if (!BUCKET.test(bucket)) throw new StoreRefusal(400, 'InvalidBucketName', 'The name is not valid.');
    objects.createBucket(bucket);
    return new Response(null);
  }
  requireBucket(call);
  if (method === 'HEAD') return new Response(null);
  if (method !== 'GET') throw notImplemented();
  if (query.has('location')) return xmlResponse(xmlDocument('LocationConstraint', []));
  if (query.get('list-type') !== '2') throw notImplemented();
  return xmlResponse(objectList(bucket, objects.list(bucket), query));
}

function requireBucket({ objects, bucket }: ObjectCall): void {
  if (BUCKET.test(bucket) && objects.hasBucket(bucket)) return;
  throw new StoreRefusal(404, 'NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });
}

function bucketList(names: readonly string[]): string {
  const buckets = names.map((name) => `<Bucket>${xmlElement('Name', name)}</Bucket>`);
  return xmlDocument('ListAllMyBucketsResult', [`<Buckets>${buckets.join('')}</Buckets>`]);
}

function notImplemented(): StoreRefusal {
  return new StoreRefusal(501, 'NotImplemented', 'The sandbox does not implement this operation.');
}

/** An object, or a range of it; for HEAD only what is known of it. */
function getObject({ objects, request, bucket, key }: ObjectCall): Response {
  const found = objects.find(bucket, key);
  if (found === undefined) throw new StoreRefusal(404, 'NoSuchKey', 'The object does not exist.', { Key: key });
  const etag = `"${found.md5}"`;
  const match = request.headers.get('if-match');
  const none = request.headers.get('if-none-match');
  if (match !== null && match !== '*' && match !== etag) throw conditionFailed('If-Match');
  if (none === etag || none === '*') return new Response(null, { status: 304, headers: { etag } });
  const { file: path, start, bytes, at: modified } = found;
  return fileResponse(request, { path, start, bytes, type: 'binary/octet-stream', etag, modified });
}

/** Stores an object completely or not at all. `If-None-Match: *` and `If-Match` are honored, also between processes. */
async function putObject(call: ObjectCall): Promise<Response> {
  const { objects, request, bucket, key, payload, now } = call;
  checkFraming(request);
  const isNew = checkConditions(call);
  const draft = objects.draft(bucket);
  try {
    const { md5, sha256 } = await receiveBody(request, draft.path, draft.start);
    if (payload !== undefined && payload !== sha256)
      throw new StoreRefusal(400, 'XAmzContentSHA256Mismatch', 'The body does not have the hash that was signed.', {
        ClientComputedContentSHA256: payload,
        S3ComputedContentSHA256: sha256,
      });
    await writeHead(draft.path, objectHead(key, md5, now));
    if (!objects.keep(bucket, key, draft.path, isNew)) throw conditionFailed('If-None-Match');
    return new Response(null, { headers: { etag: `"${md5}"` } });
  } finally {
    rmSync(draft.path, { force: true });
  }
}

/** Whether the object must be new. */
function checkConditions({ objects, request, bucket, key }: ObjectCall): boolean {
  const match = request.headers.get('if-match');
  const none = request.headers.get('if-none-match');
  if (none !== null && none !== '*')
    throw new StoreRefusal(501, 'NotImplemented', 'Only If-None-Match: * is implemented.');
  const found = objects.find(bucket, key);
  if (none !== null && found) throw conditionFailed('If-None-Match');
  if (match !== null && match !== `"${found?.md5}"`) throw conditionFailed('If-Match');
  return none !== null;
}

async function writeHead(path: string, head: Buffer): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write(head, 0, head.length, 0);
  } finally {
    await file.close();
  }
}
