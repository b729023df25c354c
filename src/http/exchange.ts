import type { Dispatcher } from 'undici';
import type { TimeLimits } from './limits.ts';
import { type ReadBody, readUpTo, readWhatComes } from './read-body.ts';
import { type Head, Receiver } from './receiver.ts';
import type { KeyKind } from './request.ts';
import type { Line, Transport } from './transport.ts';
import { toTransportFailure, TransportFailure } from './transport-failure.ts';
import { Watchdog } from './watchdog.ts';

/** One request on the wire, exactly once unless it is one that may be put on a used connection. */
export interface ExchangeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The kind of the key among the headers, if there is one. */
  readonly keyKind?: KeyKind | undefined;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  readonly limits: TimeLimits;
  readonly signal?: AbortSignal | undefined;
  /** Use a connection of its own: for requests that must not take effect twice. */
  readonly fresh?: boolean | undefined;
  /** Called at the moment from which the request may have reached the other side. */
  readonly onSent?: (() => void) | undefined;
}

/** What came back. The body must be read to its end or discarded. */
export interface Answer {
  readonly status: number;
  /** One header; one that was sent several times is joined with commas. */
  header(name: string): string | undefined;
  /** Every header, by lower-case name. */
  headers(): [name: string, value: string][];
  readonly body: AsyncIterable<Uint8Array>;
  /** Reads the body as bytes, no further than `limit`; `complete` is false when there was more. */
  read(limit: number): Promise<ReadBody>;
  /** The same for an error's body: where it breaks off or falls silent, what came until then. */
  readWhatComes(limit: number): Promise<ReadBody>;
  /** Drops the rest of the body and its connection. */
  discard(): void;
}

/**
 * Sends one request and gives its answer. Redirects are answers like any other.
 * @throws TransportFailure when no valid answer comes, the signal's own reason when it aborts, and SvcError
 * `config` when the proxy's address cannot be used
 */
export async function exchange(transport: Transport, request: ExchangeRequest): Promise<Answer> {
  if (transport.readOnly && request.method !== 'GET' && request.method !== 'HEAD')
    throw new Error(`a client that can only read was asked to send ${request.method}`);
  const line = transport.line(request.url, request.fresh ?? false);
  const { isReused } = line;
  try {
    return await exchangeOn(line, request);
  } catch (error) {
    // The other side had closed an idle connection just as it was used: not a failure, and no reason to wait.
    if (!isReused || isStream(request.body) || !isStale(error)) throw error;
    return exchangeOn(transport.line(request.url, true), request);
  }
}

function isStream(body: ExchangeRequest['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && !(body instanceof Uint8Array);
}

function isStale(error: unknown): boolean {
  return error instanceof TransportFailure && error.kind === 'reset' && error.stage !== 'body';
}

async function exchangeOn(line: Line, request: ExchangeRequest): Promise<Answer> {
  const abort = new AbortController();
  const watchdog = new Watchdog(request.limits, (failure) => abort.abort(failure));
  const onSignal = (): void => abort.abort(request.signal?.reason);
  request.signal?.addEventListener('abort', onSignal, { once: true });
  let finished = false;
  const finish = (reusable: boolean): void => {
    if (finished) return;
    finished = true;
    watchdog.stop();
    line.release(reusable);
    request.signal?.removeEventListener('abort', onSignal);
  };
  try {
    request.signal?.throwIfAborted();
    const receiver = dispatch(line.dispatcher, request, abort.signal, watchdog);
    const head = await receiver.head;
    watchdog.answered();
    return toAnswer(head, receiver, abort.signal, watchdog, finish);
  } catch (error) {
    finish(false);
    if (request.signal?.aborted) throw request.signal.reason;
    throw abort.signal.aborted ? abort.signal.reason : toTransportFailure(error, watchdog.stage);
  }
}

function dispatch(
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  signal: AbortSignal,
  watchdog: Watchdog,
): Receiver {
  const receiver = new Receiver(signal, () => {
    watchdog.sending();
    request.onSent?.();
  });
  dispatcher.dispatch(
    {
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: request.method,
      headers: request.headers,
      body: isStream(request.body) ? watched(request.body, watchdog) : (request.body ?? null),
    } as Dispatcher.DispatchOptions,
    receiver,
  );
  return receiver;
}

async function* watched(body: AsyncIterable<Uint8Array>, watchdog: Watchdog): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    watchdog.progress();
    yield chunk;
  }
  watchdog.progress();
}

function toAnswer(
  { status, headers }: Head,
  receiver: Receiver,
  signal: AbortSignal,
  watchdog: Watchdog,
  finish: (reusable: boolean) => void,
): Answer {
  const body = readBody(receiver, signal, watchdog, finish);
  return {
    status,
    header: (name) => headers.get(name)?.join(', '),
    headers: () =>
      Array.from(headers).flatMap(([name, values]) => values.map((one): [string, string] => [name, one])),
    body,
    read: (limit) => readUpTo(body, limit),
    readWhatComes: (limit) => readWhatComes(body, limit),
    discard() {
      finish(false);
      receiver.drop();
    },
  };
}

async function* readBody(
  receiver: Receiver,
  signal: AbortSignal,
  watchdog: Watchdog,
  finish: (reusable: boolean) => void,
): AsyncGenerator<Uint8Array> {
  let whole = false;
  try {
    for (;;) {
      const piece = receiver.take();
      if (piece !== undefined) yield piece;
      else if (receiver.isOver) break;
      else {
        watchdog.waiting();
        await receiver.more();
        watchdog.received();
      }
    }
    whole = true;
  } catch (error) {
    throw signal.aborted ? signal.reason : toTransportFailure(error, 'body');
  } finally {
    finish(whole);
    receiver.drop();
  }
}
