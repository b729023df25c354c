import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../base/system.ts';
import { isRead } from './effect.ts';
import { exchangeFailure, TransportFailure } from './transport-failure.ts';
import { readBody, type ReadBody, type Receive, Receiver, TakeError, Watchdog } from './receiver.ts';
import type { TimeLimits } from './retry.ts';
import type { Lease, Transport } from './transport.ts';

/** One request on the wire. It is sent once; without `fresh`, again if a reused connection turns out to be closed. */
export interface ExchangeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  readonly limits: TimeLimits;
  readonly signal?: AbortSignal | undefined;
  /** Opens a new connection: for requests that must not take effect twice. */
  readonly fresh?: boolean | undefined;
  /** Called at the moment from which the server may have received the request. */
  readonly onSent?: (() => void) | undefined;
}

/** What came back. The body must be read to its end or discarded. */
export interface HttpResponse {
  readonly status: number;
  /** Returns a header; repeated headers are joined with commas. */
  header(name: string): string | undefined;
  /** Every header, by lower-case name. */
  headers(): [name: string, value: string][];
  /**
   * Hands every piece of the body on as it comes: the connection is never held back. Resolves at its end. A piece is
   * lent until `take` returns.
   * @throws TransportFailure when it breaks off; what `take` throws, which also drops the rest
   */
  readonly receive: Receive;
  /** Reads the body as bytes, no further than `limit`. A body that breaks off or stalls gives what arrived, and its failure. */
  read(limit: number): Promise<ReadBody>;
  /** Drops the rest of the body and its connection. */
  discard(): void;
}

/**
 * Sends one request and gives its response. Redirects are responses like any other.
 * @throws TransportFailure when no valid response comes, the signal's own reason when it aborts, and SvcError
 * `config` when the proxy's address cannot be used, `local` for a failure without a code
 */
export async function exchange(transport: Transport, request: ExchangeRequest): Promise<HttpResponse> {
  if (!isRead(request.method)) {
    const { readOnly, beforeChange } = transport.guard;
    if (readOnly) throw new Error(`a client that can only read was asked to send ${request.method}`);
    await beforeChange?.();
  }
  const lease = transport.acquire(request.url, request.fresh ?? false);
  const { isReused } = lease;
  try {
    return await exchangeOn(lease, request);
  } catch (error) {
    // The server closed an idle connection just as it was reused. That is no failure, so the request is sent at once again.
    if (!isReused || isStream(request.body) || !isStale(error)) throw error;
    return exchangeOn(transport.acquire(request.url, true), request);
  }
}

function isStream(body: ExchangeRequest['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && !(body instanceof Uint8Array);
}

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

async function toResponse(
  receiver: Receiver,
  signal: AbortSignal | undefined,
  finish: (reusable: boolean) => void,
): Promise<HttpResponse> {
  const { status, headers } = await receiver.head;
  const receive: Receive = async (take) => {
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
    headers: () => Array.from(headers).flatMap(([name, values]) => values.map((one): [string, string] => [name, one])),
    receive,
    read: (limit) => readBody(receive, limit),
    discard() {
      finish(false);
      receiver.drop();
    },
  };
}

/** The receiver of trace events, and the number of the attempt, counted from 0. */
export interface TraceOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly trace: Trace | undefined;
  readonly attempt: number;
}

/** Traces the request of an exchange, then its response or failure. `requestIdOf` finds the id for a support case. */
export async function traced<R extends Pick<HttpResponse, 'status' | 'header'>>(
  { method, url }: Pick<ExchangeRequest, 'method' | 'url'>,
  { clock, trace, attempt }: TraceOptions,
  requestIdOf: (response: R) => string | undefined,
  work: () => Promise<R>,
): Promise<R> {
  const started = clock.now();
  trace?.({ kind: 'request', method, url, attempt });
  try {
    const response = await work();
    const ms = clock.now() - started;
    trace?.({ kind: 'response', method, url, status: response.status, ms, requestId: requestIdOf(response) });
    return response;
  } catch (error) {
    if (error instanceof TransportFailure)
      trace?.({ kind: 'failure', method, url, reason: error.message, ms: clock.now() - started });
    throw error;
  }
}

/** Sends and traces one request to a server other than the service. */
export function tracedExchange(
  transport: Transport,
  request: ExchangeRequest,
  options: TraceOptions,
): Promise<HttpResponse> {
  const requestIdOf = (response: HttpResponse): string | undefined => {
    const id = response.header('x-amz-request-id') ?? response.header('x-request-id') ?? '';
    return /^[\w.:|/+=-]{1,128}$/.test(id) ? id : undefined;
  };
  return traced(request, options, requestIdOf, () => exchange(transport, request));
}

type RequestFacts = { readonly method: string; readonly url: URL };
type ResponseFacts = { readonly status: number; readonly ms: number; readonly requestId: string | undefined };

/** An event of a request under way. No event contains a key; addresses may contain a query. */
export type TraceEvent =
  | ({ readonly kind: 'request'; readonly attempt: number } & RequestFacts)
  | ({ readonly kind: 'response' } & RequestFacts & ResponseFacts)
  | ({ readonly kind: 'failure'; readonly reason: string; readonly ms: number } & RequestFacts)
  | {
      readonly kind: 'wait';
      readonly why: 'retry' | 'rate limit' | 'pacing' | 'store';
      readonly ms: number;
      /** The address that no response came from, and why. */
      readonly noResponse?: string | undefined;
    }
  /** A read failed that the command can do without. */
  | { readonly kind: 'done without'; readonly reason: string };

/** Receives trace events. */
export type Trace = (event: TraceEvent) => void;
