import type { Exchange } from '../routes/route.ts';

/** Ends a request to the store with an error body as stores of the S3 kind write it. */
export class StoreRefusal extends Error {
  readonly status: number;
  readonly code: string;
  /** Further elements. Real stores echo signatures here, and clients must cope. */
  readonly details: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, details: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** Sends a refusal. */
export function sendRefusal({ incoming, outgoing, requestId }: Exchange, refusal: StoreRefusal): void {
  const elements = { Code: refusal.code, Message: refusal.message, ...refusal.details, RequestId: requestId };
  const inner = Object.entries(elements).map(([name, text]) => `<${name}>${escape(text)}</${name}>`);
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner.join('')}</Error>`;
  outgoing.statusCode = refusal.status;
  outgoing.setHeader('content-type', 'application/xml');
  outgoing.setHeader('content-length', Buffer.byteLength(body));
  outgoing.end(incoming.method === 'HEAD' ? undefined : body);
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
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
