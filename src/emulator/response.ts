// The responses of the emulated service.

import type { Readable } from 'node:stream';

export type Headers = Readonly<Record<string, string>>;

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body?: string | Readable;
}

/** Returns a response with a JSON body, or without a body. */
export function jsonResponse(status: number, body: unknown, headers: Headers = {}): ServiceResponse {
  if (body === undefined) return { status, headers };
  return textResponse(status, JSON.stringify(body), { 'content-type': 'application/json; charset=utf-8', ...headers });
}

/** Returns a response with a text and its length, which a HEAD request needs too. */
export function textResponse(status: number, text: string, headers: Headers): ServiceResponse {
  return { status, headers: { 'content-length': String(Buffer.byteLength(text)), ...headers }, body: text };
}
