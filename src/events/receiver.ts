import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../clock.ts';
import { SvcError } from '../errors.ts';
import { systemCodeOf } from '../system-code.ts';
import { headersOf } from './headers.ts';
import { BROKEN_OFF, readBody } from './receive-body.ts';
import { readDelivery, type ReceivedEvent } from './received.ts';
import { RECEIVER_LIMITS, type ReceiverLimits } from './receiver-limits.ts';

/** A request that was turned away. The reason holds nothing of what was sent. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
}

/** How to receive. */
export interface ReceiverOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host?: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** Takes an event so that it cannot be lost; only then is it acknowledged. When it rejects, the sender is told to come again. */
  readonly accept: (event: ReceivedEvent) => Promise<void>;
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
  readonly limits?: Partial<ReceiverLimits> | undefined;
}

/** A receiver that listens. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** Stops listening. What is being received is finished first, for a moment. */
  close(): Promise<void>;
}

const LAST_MOMENT_MS = 500;

/** The loopback address that is listened on unless another is asked for. */
const LOOPBACK = '127.0.0.1';

/**
 * Receives webhook events over HTTP. Answers 2xx as soon as an event is accepted, and before anything is done with it.
 * @throws SvcError `local` when it cannot listen
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const limits = { ...RECEIVER_LIMITS, ...options.limits };
  const host = options.host ?? LOOPBACK;
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersMs),
  });
  server.maxConnections = limits.connections;
  // A connection that broke its rules was told of once: not again because its body broke off.
  const broken = new WeakSet<object>();
  const onRefused = (refusal: Refusal, socket: object): void => {
    if (broken.has(socket)) return;
    broken.add(socket);
    options.onRefused?.(refusal);
  };
  const receive = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
    void answer(
      incoming,
      outgoing,
      { ...options, onRefused: (refusal) => onRefused(refusal, incoming.socket) },
      limits,
    );
  server.on('request', receive).on('checkContinue', receive);
  server.on('clientError', (error, socket) =>
    refuseConnection(error, socket, (refusal) => onRefused(refusal, socket)),
  );
  const port = await listen(server, host, options.port);
  const shown = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${shown}:${port}`, port, close: () => stop(server) };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ReceiverOptions,
  limits: ReceiverLimits,
): Promise<void> {
  // A sender that goes away amid an answer is its own affair.
  outgoing.on('error', () => undefined);
  const refusal = await take(incoming, outgoing, options, limits);
  if (refusal === undefined) {
    outgoing.writeHead(200, { 'content-length': 0 }).end();
    return;
  }
  options.onRefused?.(refusal);
  refuse(incoming, outgoing, refusal);
}

async function take(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { accept, clock }: ReceiverOptions,
  limits: ReceiverLimits,
): Promise<Refusal | undefined> {
  const unwanted = unwantedBecause(incoming);
  if (unwanted !== undefined) return unwanted;
  const body = await readBody(incoming, outgoing, limits.body);
  if ('status' in body) return body;
  const read = readDelivery(body.bytes);
  if ('problem' in read) return { status: 400, reason: read.problem };
  const headers = headersOf(incoming.headers);
  try {
    await accept({ receivedAt: clock.now(), headers, bytes: body.bytes, delivery: read.delivery });
    return undefined;
  } catch (error) {
    return { status: 503, reason: error instanceof Error ? error.message : 'it could not be kept' };
  }
}

function unwantedBecause({ method, headers }: IncomingMessage): Refusal | undefined {
  if (method !== 'POST') return { status: 405, reason: 'an event comes by POST' };
  // Any page in a browser on this machine can post here; a service names no origin.
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
    return { status: 403, reason: 'it comes from a page in a browser, not from the service' };
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding.toLowerCase() !== 'identity') return { status: 415, reason: 'its body is compressed' };
  return undefined;
}

// The answer is whole before the body is: a sender still busy sending must be able to read it.
function refuse(incoming: IncomingMessage, outgoing: ServerResponse, { status, reason }: Refusal): void {
  const text = `${JSON.stringify({ error: reason })}\n`;
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
  if (incoming.readableEnded) end();
}

function refuseConnection(
  error: Error,
  socket: { writable: boolean; end(text: string): unknown; destroy(): unknown },
  onRefused: (refusal: Refusal) => void,
): void {
  const code = systemCodeOf(error);
  const isLate = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const [status, words] = isLate ? [408, 'Request Timeout'] : [400, 'Bad Request'];
  const reason = isLate ? 'it did not come whole in time' : brokenReason(code);
  if (code !== 'ECONNRESET') onRefused({ status, reason });
  if (socket.writable)
    socket.end(`HTTP/1.1 ${status} ${words}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  else socket.destroy();
}

function brokenReason(code: string | undefined): string {
  return code === 'HPE_INVALID_EOF_STATE' ? BROKEN_OFF : 'it is not valid HTTP';
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen(port, host, () => {
      server.removeAllListeners('error').on('error', () => undefined);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function listenError(error: Error, host: string, port: number): SvcError {
  const code = systemCodeOf(error) ?? 'unknown reason';
  if (code === 'EADDRINUSE') {
    return new SvcError('local', `port ${port} is in use`, {
      hint: 'Choose another port, or 0 for a free one, and tell the sender.',
    });
  }
  if (code === 'EACCES') {
    return new SvcError('local', `port ${port} may not be listened on`, {
      hint: 'Choose a port from 1024 up.',
    });
  }
  return new SvcError('local', `nothing can listen on ${host} (${code})`, {
    hint: 'Choose an address of this machine, such as 127.0.0.1.',
  });
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), LAST_MOMENT_MS);
  await closed;
  clearTimeout(timer);
}
