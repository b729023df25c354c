// Sends one request over a connection, and returns its response.

import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import { SvcError } from '../../base/errors.ts';
import { isRead } from './effect.ts';
import { Receiver, TakeError } from './receiver.ts';
import { exchangeFailure, TransportFailure } from './transport-failure.ts';
import type { Lease, Transport } from './transport.ts';
import { type TimeLimits, Watchdog } from './watchdog.ts';

/** A request to send once. Without `fresh`, it is sent again if a reused connection turns out to be closed. */
export interface ExchangeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  readonly limits: TimeLimits;
  readonly signal?: AbortSignal | undefined;
  /** Whether to open a new connection, for requests that must not take effect twice. */
  readonly fresh?: boolean | undefined;
  /** Called at the moment from which the server may have received the request. */
  readonly onSent?: (() => void) | undefined;
}

/** A response. Its body must be read to the end or discarded. */
export interface HttpResponse {
  readonly status: number;
  /** Returns the value of a header. Values of repeated headers are joined with commas. */
  readonly header: (name: string) => string | undefined;
  /** Returns all headers, with names in lower case. */
  headers(): [name: string, value: string][];
  /**
   * Calls `take` with each piece of the body as it arrives, and resolves at the end of the body. The memory of a piece may be reused
   * after `take` returns.
   * @throws TransportFailure if the body breaks off; the error of `take`, after which the rest is discarded
   */
  readonly receive: (take: (piece: Uint8Array) => void) => Promise<void>;
  /** Reads at most `limit` bytes of the body, and discards the rest with the connection. */
  read(limit: number): Promise<ReadBody>;
  discard(): void;
}

export interface ReadBody {
  /** The bytes that arrived within the limit, also of a body that breaks off or stalls. */
  readonly bytes: Buffer;
  /** False if the body is longer than the limit, or broke off. */
  readonly complete: boolean;
  /** The failure that cut the body off. */
  readonly failure?: TransportFailure | undefined;
}

/**
 * Sends one request and resolves to its response. Does not follow redirects.
 * @throws TransportFailure if no valid response arrives; the signal's reason when it aborts; SvcError `config` for an unusable
 *   proxy or certificate authorities, `local` for a failure of this machine, `usage` for a change by a client that can only read
 */
export async function exchange(transport: Transport, request: ExchangeRequest): Promise<HttpResponse> {
  if (!isRead(request.method)) {
    const { readOnly, beforeChange } = transport.guard;
    if (readOnly) throw new SvcError('usage', `a client that can only read was asked to send ${request.method}`);
    await beforeChange?.();
  }
  const lease = transport.acquire(request.url, request.fresh ?? false);
  const { isReused } = lease;
  try {
    return await exchangeOn(lease, request);
  } catch (error) {
    // A server may close an idle connection at the moment of its reuse. The request is then sent again at once.
    if (!isReused || isStream(request.body) || !isStale(error)) throw error;
    return exchangeOn(transport.acquire(request.url, true), request);
  }
}

function isStream(body: ExchangeRequest['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && !(body instanceof Uint8Array);
}

/** Whether an error may come from a connection that the server had closed. */
function isStale(error: unknown): boolean {
  return error instanceof TransportFailure && error.kind === 'reset' && error.stage !== 'body';
}

async function exchangeOn(lease: Lease, request: ExchangeRequest): Promise<HttpResponse> {
  const { signal } = request;
  const watchdog = new Watchdog(request.limits, (failure) => receiver.giveUp(failure));
  // Many exchanges listen to one signal, and each removes its listener. AbortSignal.any would keep all of them in memory.
  if (signal) setMaxListeners(0, signal);
  const receiver = new Receiver({ signal, watchdog, onSent: request.onSent, brokenBy: () => lease.brokenBy() });
  let finished = false;
  const finish = (reusable: boolean): void => {
    if (finished) return;
    finished = true;
    watchdog.stop();
    receiver.stopListening();
    lease.release(reusable);
  };
  try {
    signal?.throwIfAborted();
    dispatch(lease, request, receiver, watchdog);
    return await toResponse(receiver, signal, finish);
  } catch (error) {
    finish(false);
    if (signal?.aborted) throw signal.reason;
    throw exchangeFailure(error, watchdog.stage);
  }
}

function dispatch(lease: Lease, request: ExchangeRequest, receiver: Receiver, watchdog: Watchdog): void {
  lease.dispatcher.dispatch(
    {
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: request.method,
      headers: request.headers,
      body: isStream(request.body) ? watched(request.body, watchdog) : (request.body ?? null),
    } as Dispatcher.DispatchOptions,
    receiver,
  );
}

async function* watched(body: AsyncIterable<Uint8Array>, watchdog: Watchdog): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    watchdog.progress();
    yield chunk;
  }
  watchdog.progress();
}

/** Resolves to the response once its headers have arrived. Calls `finish` when the body has ended. */
async function toResponse(
  receiver: Receiver,
  signal: AbortSignal | undefined,
  finish: (reusable: boolean) => void,
): Promise<HttpResponse> {
  const { status, headers } = await receiver.head;
  const receive: HttpResponse['receive'] = async (take) => {
    try {
      await receiver.receive(take);
      finish(true);
    } catch (error) {
      finish(false);
      if (error instanceof TakeError) throw error.cause;
      throw signal?.aborted === true ? signal.reason : exchangeFailure(error, 'body');
    }
  };
  return {
    status,
    header: (name) => headers.get(name)?.join(', '),
    headers: () =>
      Array.from(headers).flatMap(([name, values]) => values.map((value): [string, string] => [name, value])),
    receive,
    read: (limit) => readBody(receive, limit),
    discard() {
      finish(false);
      receiver.drop();
    },
  };
}

const TOO_LONG = new Error('the body is longer than its limit');

async function readBody(receive: HttpResponse['receive'], limit: number): Promise<ReadBody> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let failure: TransportFailure | undefined;
  try {
    await receive((piece) => {
      pieces.push(piece);
      size += piece.byteLength;
      if (size > limit) throw TOO_LONG;
    });
  } catch (error) {
    if (error instanceof TransportFailure) failure = error;
    else if (error !== TOO_LONG) throw error;
  }
  const complete = failure === undefined && size <= limit;
  return { bytes: Buffer.concat(pieces).subarray(0, limit), complete, failure };
}
