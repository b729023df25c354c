import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { onTestFinished, TestRunner } from 'vitest';
import { BUCKET, BucketRefusal, checkSignature, decodedPart } from './bucket-signature.ts';

/**
 * A function that sees a request before the store does, and either responds or calls `proceed` to let the store
 * respond.
 */
export type BucketHook = (incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void) => void;

/** How the store treats a conditional write: it honors the condition, ignores it, or refuses the request. */
type Conditions = 'honored' | 'ignored' | { readonly status: number; readonly code: string };

interface StoredObject {
  readonly key: string;
  readonly bytes: Buffer;
  readonly etag: string;
  readonly at: number;
}

/** Larger bodies are sent in pieces of this size, so that a test can break one off. */
const PIECE_BYTES = 256 * 1024;

/**
 * An S3-compatible store on loopback with one bucket, in memory. It checks signatures (version 4) and the clock, and
 * supports what an archive needs: conditional writes, reads of ranges, lists in pages, and removal.
 */
export class BucketServer {
  /** Called for each request. */
  hook: BucketHook = (_, __, proceed) => proceed();
  conditions: Conditions = 'honored';
  /** Whether the bucket keeps versions, and then ignores the condition, as Ceph RGW 16.2 does. */
  isVersioned = false;
  /** The store's clock. */
  now: () => number = Date.now;
  /** How many objects a page of a list has at most. */
  pageSize = 1000;
  /** How old an object must be for a list to have it, as in a store whose lists lag behind its reads. */
  listedAfterMs = 0;
  readonly #server: Server;
  readonly #objects = new Map<string, StoredObject>();

  private constructor() {
    this.#server = createServer((incoming, outgoing) => {
      outgoing.setHeader('date', new Date(this.now()).toUTCString());
      outgoing.setHeader('x-amz-request-id', randomUUID());
      this.hook(incoming, outgoing, () => {
        // A client that breaks off leaves nothing to respond to.
        this.#respond(incoming, outgoing).catch(() => outgoing.destroy());
      });
    });
  }

  /** Starts a store. The test that starts it need not close it. */
  static async start(): Promise<BucketServer> {
    const bucket = new BucketServer();
    await new Promise<void>((resolve) => bucket.#server.listen(0, '127.0.0.1', resolve));
    if (TestRunner.getCurrentTest() !== undefined) onTestFinished(() => bucket.close());
    return bucket;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The variables with which `svc` finds the store. */
  get environment() {
    return {
      AWS_ENDPOINT_URL_S3: this.url,
      AWS_ACCESS_KEY_ID: BUCKET.accessKeyId,
      AWS_SECRET_ACCESS_KEY: BUCKET.secretAccessKey,
    };
  }

  /** Returns the keys of all objects. */
  keys(): string[] {
    return [...this.#objects.keys()];
  }

  /** Returns the bytes of an object. */
  bytes(key: string): Buffer {
    return this.#objects.get(key)?.bytes ?? Buffer.alloc(0);
  }

  /** Stores an object without a request, as another program did. */
  put(key: string, bytes: Buffer): void {
    const etag = `"${hash('md5', bytes).digest('hex')}"`;
    this.#objects.set(key, { key, bytes, etag, at: this.now() });
  }

  /** Removes an object, as if it had never been stored. */
  remove(key: string): void {
    this.#objects.delete(key);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const sha256 = checkSignature(incoming, this.now());
      const [path = '', query = ''] = (incoming.url ?? '').split('?', 2);
      const [, bucket = '', ...rest] = path.split('/').map(decodedPart);
      if (bucket !== BUCKET.name)
        throw new BucketRefusal(404, 'NoSuchBucket', 'The specified bucket does not exist', { BucketName: bucket });
      const key = rest.join('/');
      if (key === '') this.#list(incoming, outgoing, new URLSearchParams(query));
      else if (query === '' && incoming.method === 'PUT') await this.#put(incoming, outgoing, key, sha256);
      else await this.#read(incoming, outgoing, key);
    } catch (error) {
      if (!(error instanceof BucketRefusal)) throw error;
      // The rest of the body is dropped, so that it is not read as the next request.
      incoming.resume();
      refuse(outgoing, error);
    }
  }

  /** Stores an object completely or not at all. */
  async #put(incoming: IncomingMessage, outgoing: ServerResponse, key: string, sha256: string | undefined) {
    const { headers } = incoming;
    if (headers['transfer-encoding'] !== undefined) throw notImplemented();
    if (headers['content-length'] === undefined)
      throw new BucketRefusal(411, 'MissingContentLength', 'The Content-Length header is required.');
    if (Buffer.byteLength(key) > 1024) throw new BucketRefusal(400, 'KeyTooLongError', 'The key is too long.');
    const isConditional = headers['if-none-match'] !== undefined;
    if (isConditional && typeof this.conditions === 'object') {
      const { status, code } = this.conditions;
      throw new BucketRefusal(status, code, 'The store has no conditional writes.');
    }
    const bytes = await buffer(incoming);
    if (sha256 !== undefined && sha256 !== hash('sha256', bytes).digest('hex'))
      throw new BucketRefusal(400, 'XAmzContentSHA256Mismatch', 'The body does not have the hash that was signed.');
    const md5 = headers['content-md5'];
    if (md5 === undefined)
      throw new BucketRefusal(400, 'InvalidRequest', 'A bucket with Object Lock needs Content-MD5 or x-amz-checksum-.');
    if (md5 !== hash('md5', bytes).digest('base64'))
      throw new BucketRefusal(400, 'BadDigest', 'The Content-MD5 does not match the body.');
    const isHonored = this.conditions === 'honored' && !this.isVersioned;
    if (isConditional && isHonored && this.#objects.has(key)) throw conditionFailed();
    const etag = `"${hash('md5', bytes).digest('hex')}"`;
    if (this.isVersioned) outgoing.setHeader('x-amz-version-id', randomUUID());
    this.#objects.set(key, { key, bytes, etag, at: this.now() });
    outgoing.setHeader('etag', etag).end();
  }

  /** Sends an object, or the range of it that the request names, or removes it. */
  async #read({ method = '', headers }: IncomingMessage, outgoing: ServerResponse, key: string): Promise<void> {
    if (method === 'DELETE') {
      this.#objects.delete(key);
      outgoing.writeHead(204).end();
      return;
    }
    if (method !== 'GET' && method !== 'HEAD') throw notImplemented();
    const object = this.#objects.get(key);
    if (object === undefined) throw new BucketRefusal(404, 'NoSuchKey', 'The object does not exist.', { Key: key });
    const match = headers['if-match'];
    if (match !== undefined && match !== object.etag) throw conditionFailed();
    const size = object.bytes.length;
    const range = rangeOf(headers.range, size);
    const sent = object.bytes.subarray(range?.first, range?.end);
    outgoing.writeHead(range === undefined ? 200 : 206, {
      etag: object.etag,
      'accept-ranges': 'bytes',
      'content-type': 'binary/octet-stream',
      'content-length': sent.length,
      'last-modified': new Date(object.at).toUTCString(),
      ...(range && { 'content-range': `bytes ${range.first}-${range.end - 1}/${size}` }),
    });
    if (method === 'HEAD' || sent.length <= PIECE_BYTES) outgoing.end(sent);
    else await pipeline(Readable.from(piecesOf(sent)), outgoing);
  }

  /** Lists the objects of the bucket in order of their keys, one page (ListObjectsV2). */
  #list({ method }: IncomingMessage, outgoing: ServerResponse, query: URLSearchParams): void {
    if (method !== 'GET' || query.get('list-type') !== '2') throw notImplemented();
    const isListed = ({ at }: StoredObject): boolean => this.now() - at >= this.listedAfterMs;
    const objects = [...this.#objects.values()].filter(isListed).toSorted((one, other) => compare(one.key, other.key));
    outgoing.setHeader('content-type', 'application/xml').end(objectList(objects, query, this.pageSize));
  }
}

function refuse(outgoing: ServerResponse, { status, code, message, details }: BucketRefusal): void {
  const values = { Code: code, Message: message, ...details };
  const elements = Object.entries(values).map(([name, text]) => element(name, text));
  outgoing.writeHead(status, { 'content-type': 'application/xml' });
  outgoing.end(`<?xml version="1.0" encoding="UTF-8"?>\n<Error>${elements.join('')}</Error>`);
}

function notImplemented(): BucketRefusal {
  return new BucketRefusal(501, 'NotImplemented', 'The store does not implement this operation.');
}

function conditionFailed(): BucketRefusal {
  return new BucketRefusal(412, 'PreconditionFailed', 'A condition of the request does not hold.');
}

function hash(algorithm: 'md5' | 'sha256', bytes: Buffer) {
  return createHash(algorithm).update(bytes);
}

function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** Returns the range of bytes that a Range header names; undefined for the whole object. */
function rangeOf(header: string | undefined, size: number) {
  const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '') return undefined;
  const first = Number(from);
  if (first >= size) throw new BucketRefusal(416, 'InvalidRange', 'The range cannot be satisfied.');
  return { first, end: to === '' ? size : Math.min(Number(to) + 1, size) };
}

/** Returns one page of a list as XML. */
function objectList(objects: readonly StoredObject[], query: URLSearchParams, most: number): string {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const size = Math.min(Number(query.get('max-keys') ?? most), most);
  const after = startOf(query);
  const isEncoded = query.get('encoding-type') === 'url';
  const encode = (text: string): string => (isEncoded ? encodeURIComponent(text).replaceAll('%2F', '/') : text);
  const listed = objects.filter(({ key }) => key.startsWith(prefix) && compare(key, after) > 0);
  const rows = rowsOf(listed, prefix, delimiter);
  const page = rows.slice(0, size);
  const last = page.at(-1);
  const isTruncated = rows.length > page.length;
  const elements = [
    element('Name', BUCKET.name),
    element('Prefix', encode(prefix)),
    element('KeyCount', String(page.length)),
    element('MaxKeys', String(size)),
    ...(isEncoded ? [element('EncodingType', 'url')] : []),
    element('IsTruncated', String(isTruncated)),
    ...(isTruncated && last ? [element('NextContinuationToken', tokenOf(last.lastKey))] : []),
    ...page.map(({ object, folder }) =>
      object
        ? contents(object, encode(object.key))
        : `<CommonPrefixes>${element('Prefix', encode(folder))}</CommonPrefixes>`,
    ),
  ];
  const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="${namespace}">${elements.join('')}</ListBucketResult>`;
}

/** Returns a continuation token. Like the tokens of real stores, it contains characters that an address must encode. */
function tokenOf(key: string): string {
  return `1/${Buffer.from(key).toString('base64')}`;
}

/** Returns the key after which a page starts. */
function startOf(query: URLSearchParams): string {
  const token = query.get('continuation-token');
  if (token === null) return query.get('start-after') ?? '';
  return Buffer.from(token.replace(/^1\//, ''), 'base64').toString('utf8');
}

/** An object, or a folder, whose name ends with the delimiter. */
interface Row {
  readonly object?: StoredObject;
  readonly folder: string;
  readonly lastKey: string;
}

function rowsOf(objects: readonly StoredObject[], prefix: string, delimiter: string): Row[] {
  const rows: Row[] = [];
  for (const object of objects) {
    const { key } = object;
    const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    const folder = end === -1 ? '' : key.slice(0, end + delimiter.length);
    if (folder !== '' && rows.at(-1)?.folder === folder) rows.pop();
    rows.push(folder === '' ? { object, folder, lastKey: key } : { folder, lastKey: key });
  }
  return rows;
}

function contents({ bytes, etag, at }: StoredObject, key: string): string {
  const elements = [
    element('Key', key),
    element('LastModified', new Date(at).toISOString()),
    element('ETag', etag),
    element('Size', String(bytes.length)),
    element('StorageClass', 'STANDARD'),
  ];
  return `<Contents>${elements.join('')}</Contents>`;
}

const XML_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function element(name: string, text: string): string {
  const escaped = text.replaceAll(/[&<>"\r\n]/g, (sign) => XML_ESCAPES[sign] ?? `&#${sign.charCodeAt(0)};`);
  return `<${name}>${escaped}</${name}>`;
}
