import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Hono } from 'hono/tiny';
import type { SandboxEnv } from './app.ts';

// Names nobody: what a request says about its host is in its Host header.
const ORIGIN = 'http://sandbox.invalid';

/** Responses up to this length go out in one write. */
const WHOLE_BYTES = 256 * 1024;

/** Answers a request of Node's server with the app. Rejects when the exchange breaks off. */
export async function respond(
  app: Hono<SandboxEnv>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { remoteAddress } = incoming.socket;
  const response = await app.fetch(toRequest(incoming, outgoing), { remoteAddress });
  if (outgoing.destroyed) return void response.body?.cancel();
  outgoing.statusCode = response.status;
  outgoing.setHeaders(response.headers);
  const { body } = response;
  if (body === null) outgoing.end();
  else if (Number(response.headers.get('content-length')) <= WHOLE_BYTES)
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  else await pipeline(Readable.fromWeb(body), outgoing);
}

function toRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const { method = 'GET', url = '/' } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
  headers.set('x-request-id', String(outgoing.getHeader('x-request-id')));
  const hasBody = method !== 'GET' && method !== 'HEAD' && isSent(incoming);
  return new Request(ORIGIN + url.replace(/^https?:\/\/[^/?]*/i, ''), {
    method,
    headers,
    ...(hasBody && { body: bodyOf(incoming, outgoing), duplex: 'half' }),
  });
}

function isSent({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The body, which is read, and with `Expect: 100-continue` asked for, only when the app reads it. */
function bodyOf(incoming: IncomingMessage, outgoing: ServerResponse): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Buffer> = incoming.iterator({ destroyOnReturn: false });
  let isAwaited = incoming.headers.expect !== undefined;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    if (isAwaited) outgoing.writeContinue();
    isAwaited = false;
    const { done, value } = await chunks.next();
    if (done === true) controller.close();
    else controller.enqueue(value);
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}
