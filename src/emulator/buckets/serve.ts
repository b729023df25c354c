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
import { type ObjectFiles, objectHead, type StoredObject } from './objects.ts';
import { checkSignature, decodedPart } from './signature.ts';

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Serves a request to the buckets, signed as for S3. They are no part of the tenant and leave no audit logs. */
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
  return { bucket: decodedPart(bucket), key: decodedPart(rest.join('/')) };
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

const MAX_KEYS = 1000;

/** The response to ListObjectsV2, as XML: one page of the objects, which are in order of their keys. */
function objectList(bucket: string, objects: readonly StoredObject[], query: URLSearchParams): string {
  const list = readQuery(query);
  const rows = rowsOf(objects, list);
  const page = rows.slice(0, list.size);
  const last = page.at(-1);
  const isTruncated = rows.length > page.length;
  const encode = (text: string): string => (list.isEncoded ? encodeURIComponent(text).replaceAll('%2F', '/') : text);
  return xmlDocument('ListBucketResult', [
    xmlElement('Name', bucket),
    xmlElement('Prefix', encode(list.prefix)),
    xmlElement('KeyCount', String(page.length)),
    xmlElement('MaxKeys', String(list.size)),
    ...(list.isEncoded ? [xmlElement('EncodingType', 'url')] : []),
    xmlElement('IsTruncated', String(isTruncated)),
    ...(isTruncated && last ? [xmlElement('NextContinuationToken', tokenOf(last.after))] : []),
    ...page.map(({ object, prefix }) =>
      object === undefined
        ? `<CommonPrefixes>${xmlElement('Prefix', encode(prefix))}</CommonPrefixes>`
        : contents(object, encode(object.key)),
    ),
  ]);
}

/** An object, or the common prefix of several keys up to the delimiter. */
interface Row {
  readonly object?: StoredObject;
  readonly prefix: string;
  /** The last key of the row. */
  readonly after: string;
}

function readQuery(query: URLSearchParams) {
  const size = Number(query.get('max-keys') ?? MAX_KEYS);
  if (!Number.isInteger(size) || size < 0)
    throw new StoreRefusal(400, 'InvalidArgument', 'max-keys must be a whole number.');
  const token = query.get('continuation-token');
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    // Only keys after this one.
    after: token === null ? (query.get('start-after') ?? '') : readToken(token),
    size: Math.min(size, MAX_KEYS),
    isEncoded: query.get('encoding-type') === 'url',
  };
}

function rowsOf(objects: readonly StoredObject[], { prefix, delimiter, after }: ReturnType<typeof readQuery>): Row[] {
  const rows: Row[] = [];
  for (const object of objects) {
    const { key } = object;
    if (!key.startsWith(prefix) || Buffer.compare(Buffer.from(key), Buffer.from(after)) <= 0) continue;
    const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    if (end === -1) {
      rows.push({ object, prefix: key, after: key });
      continue;
    }
    const common = key.slice(0, end + delimiter.length);
    if (rows.at(-1)?.prefix === common) rows.pop();
    rows.push({ prefix: common, after: key });
  }
  return rows;
}

function contents({ bytes, md5, at }: StoredObject, key: string): string {
  const inner = [
    xmlElement('Key', key),
    xmlElement('LastModified', new Date(at).toISOString()),
    xmlElement('ETag', `"${md5}"`),
    xmlElement('Size', String(bytes)),
    xmlElement('StorageClass', 'STANDARD'),
  ];
  return `<Contents>${inner.join('')}</Contents>`;
}

// Opaque, and with characters that an address must encode, as real ones have.
function tokenOf(key: string): string {
  return `1/${Buffer.from(key).toString('base64')}`;
}

function readToken(token: string): string {
  if (!token.startsWith('1/'))
    throw new StoreRefusal(400, 'InvalidArgument', 'The continuation token provided is incorrect');
  return Buffer.from(token.slice(2), 'base64').toString('utf8');
}

/** A document whose elements are XML already. */
function xmlDocument(name: string, inner: readonly string[]): string {
  const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="${namespace}">${inner.join('')}</${name}>`;
}
