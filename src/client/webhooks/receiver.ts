// An HTTP server for webhook events.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenFailure, systemCodeOf } from '../../base/errors.ts';
import type { Clock } from '../../base/system.ts';
import { isForThisMachine } from '../../schema/address.ts';
import { headersOf, readDelivery, type ReceivedEvent } from './received.ts';

export interface ReceiverOptions {
  /** The port; 0 takes a free port. */
  readonly port: number;
  readonly host?: string | undefined;
  /** Host names that a sender may use besides localhost; `any` accepts every name. */
  readonly allowHosts?: readonly string[] | 'any' | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** Stores an event before the sender gets its 2xx. If storing fails, the sender gets a 503 and sends the event again. */
  readonly accept: (event: ReceivedEvent) => Promise<void>;
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
  readonly limits?: Partial<typeof RECEIVER_LIMITS> | undefined;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** Stops listening, and gives open requests a moment to end. */
  close(): Promise<void>;
}

/** Limits for any sender: events are small and arrive quickly. Times are in milliseconds. */
export const RECEIVER_LIMITS = { body: 1_000_000, headersMs: 10_000, requestMs: 20_000, connections: 500 };

const LOOPBACK = '127.0.0.1';

/**
 * Receives webhook events over HTTP. Responds with 2xx as soon as `accept` has stored an event, before its processing.
 * @throws SvcError `local` if the port cannot be opened
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const limits = { ...RECEIVER_LIMITS, ...options.limits };
  const host = options.host ?? LOOPBACK;
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    // Connections are checked often, so that a late request gets a response before its connection closes.
    connectionsCheckingInterval: Math.min(1000, Math.ceil(limits.headersMs / 4)),
  });
  server.maxConnections = limits.connections;
  // Closes connections of senders that never read their responses.
  server.timeout = limits.headersMs + limits.requestMs;
  // Each connection is reported once: the body of a refused request may also break off.
  const reported = new WeakSet<object>();
  const onRefused = (refusal: Refusal, socket: object): void => {
    if (reported.has(socket)) return;
    reported.add(socket);
    options.onRefused?.(refusal);
  };
  const receive = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const requestOptions = { ...options, onRefused: (refusal: Refusal) => onRefused(refusal, incoming.socket) };
    respond(incoming, outgoing, requestOptions, limits).catch(() => outgoing.destroy());
  };
  server.on('request', receive).on('checkContinue', receive);
  server.on('clientError', (error, socket) => refuseConnection(error, socket, (refusal) => onRefused(refusal, socket)));
  const port = await listen(server, host, options.port);
  const shown = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${shown}:${port}`, port, close: () => stop(server) };
}

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ReceiverOptions,
  limits: typeof RECEIVER_LIMITS,
): Promise<void> {
  // The sender may disconnect during the response.
  outgoing.on('error', () => undefined);
  const refusal = await receiveEvent(incoming, outgoing, options, limits);
  if (refusal === undefined) {
    outgoing.writeHead(200, { 'content-length': 0 }).end();
    return;
  }
  options.onRefused?.({ status: refusal.status, reason: refusal.reason });
  refuse(incoming, outgoing, refusal);
}

async function receiveEvent(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { accept, clock, allowHosts }: ReceiverOptions,
  limits: typeof RECEIVER_LIMITS,
): Promise<Refusal | undefined> {
  const refusal = refusalOf(incoming, allowHosts);
  if (refusal !== undefined) return refusal;
  const body = await readBody(incoming, outgoing, limits.body);
  if ('status' in body) return body;
  const read = readDelivery(body.bytes);
  if ('problem' in read) return { status: 400, reason: read.problem };
  const headers = headersOf(incoming.headers);
  try {
    await accept({ receivedAt: clock.now(), headers, bytes: body.bytes, delivery: read.delivery });
    return undefined;
  } catch (error) {
    return { status: 503, reason: error instanceof Error ? error.message : NOT_STORED, sent: NOT_STORED };
  }
}

/** Returns why a request is refused before its body is read; undefined for a request that may be an event. */
function refusalOf({ method, headers }: IncomingMessage, allowHosts: ReceiverOptions['allowHosts'] = []) {
  if (allowHosts !== 'any' && !isForThisMachine(headers, allowHosts))
    return { status: 403, reason: 'its Host header names another machine' };
  if (method !== 'POST') return { status: 405, reason: 'an event comes by POST' };
  // A web page in a browser on this machine could post here. Browsers send these headers, services do not.
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
    return { status: 403, reason: 'it comes from a page in a browser, not from the service' };
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding.toLowerCase() !== 'identity') return { status: 415, reason: 'its body is compressed' };
  return undefined;
}

/** The reason that the sender gets. The error itself, which may name a file of this machine, is only for the operator. */
const NOT_STORED = 'it could not be stored';

const LAST_MOMENT_MS = 500;

/** Resolves to the port. @throws SvcError `local` with the reason why the port cannot be opened */
function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenFailure(error, host, port)));
    server.listen(port, host, () => {
      // A later error, such as too many open files, must not end the process.
      server.removeAllListeners('error').on('error', () => undefined);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), LAST_MOMENT_MS);
  await closed;
  clearTimeout(timer);
}

/** The reason for refusing a request whose sender disconnected early. */
const BROKEN_OFF = 'it broke off';

/** Reads a body of at most `limit` bytes. Refuses a body with a larger content-length without reading it. */
async function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limit: number,
): Promise<{ readonly bytes: Buffer } | Refusal> {
  const tooLong = { status: 413, reason: `the body is longer than ${limit} bytes` };
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return tooLong;
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve(tooLong);
    });
    incoming.on('end', () => resolve({ bytes: Buffer.concat(chunks) }));
    // The sender is gone, but the operator sees the reason.
    const cutOff = (): void => resolve({ status: 400, reason: BROKEN_OFF });
    incoming.on('error', cutOff).on('close', cutOff);
  });
}

/** A refused request. The reason never quotes the request. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
  /** The reason that the sender gets, if different. */
  readonly sent?: string;
}

/** Responds with the reason. Keeps reading the body for a moment, so that a sender that is still sending gets the response. */
function refuse(incoming: IncomingMessage, outgoing: ServerResponse, { status, reason, sent = reason }: Refusal): void {
  const text = `${JSON.stringify({ error: sent })}\n`;
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
    ...(status === 405 ? { allow: 'POST' } : {}),
    ...(status === 503 ? { 'retry-after': '10' } : {}),
  });
  outgoing.write(text);
  const end = (): void => {
    clearTimeout(timer);
    outgoing.end();
    incoming.destroy();
  };
  const timer = setTimeout(end, LAST_MOMENT_MS);
  incoming.on('end', end).on('close', end).resume();
  if (incoming.readableEnded || incoming.destroyed) end();
}

/** The response and the reason for each failure of a connection. Any other failure is a request that is not HTTP. */
const CONNECTION_FAILURES: ReadonlyMap<
  string | undefined,
  readonly [status: number, statusText: string, reason: string]
> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout', 'it was not complete in time']],
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large', 'its headers are too long']],
  ['HPE_INVALID_EOF_STATE', [400, 'Bad Request', BROKEN_OFF]],
]);

/** Refuses a connection whose request is late or is not HTTP. */
function refuseConnection(
  error: Error,
  socket: { writable: boolean; end(text: string): unknown; destroy(): unknown },
  onRefused: (refusal: Refusal) => void,
): void {
  const code = systemCodeOf(error);
  const [status, statusText, reason] = CONNECTION_FAILURES.get(code) ?? [400, 'Bad Request', 'it is not valid HTTP'];
  if (code !== 'ECONNRESET') onRefused({ status, reason });
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(`HTTP/1.1 ${status} ${statusText}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  // The sender may never close its side.
  setTimeout(() => socket.destroy(), LAST_MOMENT_MS).unref();
}
