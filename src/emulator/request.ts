// The requests that the emulated service receives.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { problem } from './problem.ts';

export interface ServiceRequest {
  readonly method: string;
  /** The address as sent, with a placeholder for the host, which the Host header names. */
  readonly url: URL;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly id: string;
  /** Address of the client, if known. */
  readonly remoteAddress: string;
  /** The body piece by piece, which the client sends when it is read. */
  readonly body: AsyncIterable<Buffer>;
}

const ORIGIN = 'http://sandbox.invalid';

/** Returns a request of Node's server for the service. */
export function serviceRequest(incoming: IncomingMessage, outgoing: ServerResponse): ServiceRequest {
  const { method = 'GET', url = '/', headers, socket } = incoming;
  return {
    method,
    url: new URL(ORIGIN + url),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    id: String(outgoing.getHeader('x-request-id')),
    remoteAddress: socket.remoteAddress ?? '',
    body: bodyOf(incoming, outgoing),
  };
}

async function* bodyOf(incoming: IncomingMessage, outgoing: ServerResponse): AsyncGenerator<Buffer> {
  const { method, headers } = incoming;
  const isSent = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!isSent || method === 'GET' || method === 'HEAD') return;
  // A client that asked whether it may send the body waits for this.
  if (headers.expect !== undefined) outgoing.writeContinue();
  try {
    yield* incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } finally {
    // What nobody reads must not hold up the next request of the connection.
    incoming.resume();
  }
}

/** Reads a body as text. Throws a 413 for a body that is longer than allowed. */
export async function readText({ headers, body }: ServiceRequest, maxBytes: number): Promise<string> {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge();
    pieces.push(piece);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}

function tooLarge(): Error {
  return problem(413, 'The body is too large.');
}
