import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { textResponse } from '../problem.ts';

/** Ends a request to the store with an error body as object stores write it. */
export class StoreRefusal extends Error {
  readonly status: number;
  readonly code: string;
  /** Further elements. Real stores echo signatures here, and clients must cope. */
  readonly details: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    details: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

/** The response to an error; one that is no refusal is a failure of the sandbox. */
export function refusalResponse(error: unknown, request: Request): Response {
  const refusal = error instanceof StoreRefusal ? error : FAILURE;
  const { code, message, details, headers, status } = refusal;
  const requestId = request.headers.get('x-request-id') ?? randomUUID();
  const elements = { Code: code, Message: message, ...details, RequestId: requestId };
  const inner = Object.entries(elements).map(([name, text]) => `<${name}>${escape(text)}</${name}>`);
  return xmlResponse(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner.join('')}</Error>`,
    status,
    headers,
  );
}

const FAILURE = new StoreRefusal(500, 'InternalError', 'The sandbox failed. Please try again.');

/** A response with an XML document. */
export function xmlResponse(
  text: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return textResponse(status, text, { 'content-type': 'application/xml', ...headers });
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Refuses a request one of whose conditions does not hold. */
export function conditionFailed(condition: string): StoreRefusal {
  return new StoreRefusal(412, 'PreconditionFailed', 'A condition of the request does not hold.', {
    Condition: condition,
  });
}

/** Refuses an upload that does not say how long it is. */
export function checkFraming({ headers }: Request): void {
  if (headers.has('transfer-encoding'))
    throw new StoreRefusal(501, 'NotImplemented', 'A header implies functionality that is not implemented.', {
      Header: 'Transfer-Encoding',
    });
  if (!headers.has('content-length'))
    throw new StoreRefusal(411, 'MissingContentLength', 'The Content-Length header is required.');
}

/** What is sent of a file. */
export interface SentFile {
  readonly path: string;
  /** Where the content begins in the file, and how long it is. */
  readonly start: number;
  readonly bytes: number;
  readonly type: string;
  readonly etag: string;
  /** In milliseconds. */
  readonly modified: number;
}

/** A response with a file, or with the range of it that the request names. HEAD has no body. */
export function fileResponse({ headers, method }: Request, file: SentFile): Response {
  const { path, start, bytes, type, etag, modified } = file;
  const range = bytes === 0 ? undefined : readRange(headers.get('range') ?? undefined, bytes);
  if (range === 'unsatisfiable')
    throw new StoreRefusal(
      416,
      'InvalidRange',
      'The range cannot be satisfied.',
      {},
      {
        'content-range': `bytes */${bytes}`,
      },
    );
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  const isEmpty = method === 'HEAD' || last < first;
  const content = isEmpty
    ? null
    : Readable.toWeb(
        createReadStream(path, { start: start + first, end: start + last, highWaterMark: 1 << 18 }),
      );
  return new Response(content, {
    status: range === undefined ? 200 : 206,
    headers: {
      etag,
      'accept-ranges': 'bytes',
      'content-type': type,
      'content-length': String(last - first + 1),
      'last-modified': new Date(modified).toUTCString(),
      ...(range && { 'content-range': `bytes ${first}-${last}/${bytes}` }),
    },
  });
}

/** Part of a file: both ends belong to it. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads a Range header against a size in bytes. Undefined when the whole is meant: no header, one that makes no
 * sense, or several ranges at once.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '')
    return Number(to) === 0 ? 'unsatisfiable' : { first: Math.max(0, size - Number(to)), last: size - 1 };
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first < size ? { first, last } : 'unsatisfiable';
}
