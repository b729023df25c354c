import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { isForThisMachine } from '../schema/loopback.ts';
import { headersOf } from './headers.ts';
import { listen, stop } from './listening.ts';
import { readBody } from './receive-body.ts';
import { readDelivery, type ReceivedEvent } from './received.ts';
import { RECEIVER_LIMITS, type ReceiverLimits } from './receiver-limits.ts';
import { refuse, refuseConnection, type Refusal } from './refusal.ts';

/** How to receive. */
export interface ReceiverOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host?: string | undefined;
  /** Names beside those of loopback that a sender may use; `any` where other machines may reach it. */
  readonly allowHosts?: readonly string[] | 'any' | undefined;
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
    ).catch(() => outgoing.destroy());
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
  { accept, clock, allowHosts }: ReceiverOptions,
  limits: ReceiverLimits,
): Promise<Refusal | undefined> {
  const unwanted = unwantedBecause(incoming, allowHosts);
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

function unwantedBecause(
  { method, headers }: IncomingMessage,
  allowHosts: ReceiverOptions['allowHosts'] = [],
): Refusal | undefined {
  if (allowHosts !== 'any' && !isForThisMachine(headers, allowHosts))
    return { status: 403, reason: 'its Host header names another machine than this one' };
  if (method !== 'POST') return { status: 405, reason: 'an event comes by POST' };
  // Any page in a browser on this machine can post here; a service names no origin.
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
    return { status: 403, reason: 'it comes from a page in a browser, not from the service' };
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding.toLowerCase() !== 'identity') return { status: 415, reason: 'its body is compressed' };
  return undefined;
}
