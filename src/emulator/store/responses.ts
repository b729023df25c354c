import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { xmlElement } from '../markup.ts';
import type { ServiceRequest } from '../request.ts';
import { type ServiceResponse, textResponse } from '../response.ts';

type Texts = Readonly<Record<string, string>>;

/** Thrown to end a request with the XML error of an object store. */
export class StoreRefusal extends Error {
  readonly status: number;
  readonly code: string;
  /** Further elements of the error. As in real stores, they may contain signatures, which clients must not show. */
  readonly details: Texts;
  readonly headers: Texts;

  constructor(status: number, code: string, message: string, details: Texts = {}, headers: Texts = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

/** Returns the response to an error. Any error but a `StoreRefusal` is a failure of the sandbox. */
export function refusalResponse(error: unknown, { id }: ServiceRequest): ServiceResponse {
  const refusal = error instanceof StoreRefusal ? error : FAILURE;
  const { code, message, details, headers, status } = refusal;
  const elements = { Code: code, Message: message, ...details, RequestId: id };
  const inner = Object.entries(elements).map(([name, text]) => xmlElement(name, text));
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner.join('')}</Error>`;
  return textResponse(status, text, { 'content-type': 'application/xml', ...headers });
}

const FAILURE = new StoreRefusal(500, 'InternalError', 'The sandbox failed. Please try again.');

/** Returns the refusal of a request whose condition failed. */
export function conditionFailed(condition: string): StoreRefusal {
  return new StoreRefusal(412, 'PreconditionFailed', 'A condition of the request does not hold.', {
    Condition: condition,
  });
}

/** Refuses an upload without `Content-Length`. */
export function checkFraming({ headers }: ServiceRequest): void {
  if (headers['transfer-encoding'] !== undefined)
    throw new StoreRefusal(501, 'NotImplemented', 'A header implies functionality that is not implemented.', {
      Header: 'Transfer-Encoding',
    });
  if (headers['content-length'] === undefined)
    throw new StoreRefusal(411, 'MissingContentLength', 'The Content-Length header is required.');
}

/** Writes a body to a new file, and returns its MD5 in hex. Checks Content-MD5. */
export async function receiveBody({ body, headers }: ServiceRequest, path: string): Promise<string> {
  const md5 = createHash('md5');
  const digest = new Transform({
    transform(chunk: Buffer, _encoding, done): void {
      md5.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(body, digest, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  const hash = md5.digest('hex');
  const given = headers['content-md5'];
  if (given !== undefined && Buffer.from(given, 'base64').toString('hex') !== hash)
    throw new StoreRefusal(400, 'BadDigest', 'The Content-MD5 does not match what was received.');
  return hash;
}

export interface SentFile {
  readonly path: string;
  readonly bytes: number;
  readonly type: string;
  readonly etag: string;
  /** In milliseconds. */
  readonly modified: number;
}

/** Responds with a file, or with the requested range. */
export function fileResponse({ headers, method }: ServiceRequest, file: SentFile): ServiceResponse {
  const { path, bytes, type, etag, modified } = file;
  const range = bytes === 0 ? undefined : readRange(headers['range'], bytes);
  if (range === 'unsatisfiable') {
    const contentRange = { 'content-range': `bytes */${bytes}` };
    throw new StoreRefusal(416, 'InvalidRange', 'The range cannot be satisfied.', {}, contentRange);
  }
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  const isEmpty = method === 'HEAD' || last < first;
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      etag,
      'accept-ranges': 'bytes',
      'content-type': type,
      'content-length': String(last - first + 1),
      'last-modified': new Date(modified).toUTCString(),
      ...(range && { 'content-range': `bytes ${first}-${last}/${bytes}` }),
    },
    ...(!isEmpty && { body: createReadStream(path, { start: first, end: last, highWaterMark: 1 << 18 }) }),
  };
}

/** Reads a Range header. Returns undefined for the whole file: without a header, or if it is malformed or has several ranges. */
export function readRange(header: string | undefined, size: number) {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '')
    return Number(to) === 0 ? 'unsatisfiable' : { first: Math.max(0, size - Number(to)), last: size - 1 };
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first < size ? { first, last } : 'unsatisfiable';
}
