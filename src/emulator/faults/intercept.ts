import { type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as later } from 'node:timers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { objectOrUndefined, parsedJson } from '../../schema/json-value.ts';
import type { Interceptor } from '../options.ts';
import { problemBody } from '../problem.ts';
import type { Effect, Encoding } from './effect.ts';
import { ACCEPT_SECOND_PUT, type Fault, FaultChooser } from './fault.ts';

/** Applies faults to requests. The same seed and the same requests lead to the same faults. */
export function faultInterceptor(faults: readonly Fault[], seed = 1): Interceptor {
  return chosenFaults(new FaultChooser(faults, seed));
}

/** Applies to requests the faults that are chosen for them. */
export function chosenFaults(chooser: FaultChooser): Interceptor {
  return (incoming, outgoing, proceed) => {
    const effect = chooser.choose(incoming.method ?? '', incoming.url ?? '');
    if (effect === undefined) return proceed();
    if (effect.acceptSecondPut) incoming.headers[ACCEPT_SECOND_PUT] = 'yes';
    if (effect.ignoreDates) incoming.url = without(incoming.url ?? '', 'start_date', 'end_date');
    const strike = (): void => {
      if (!outgoing.destroyed) apply(effect, { incoming, outgoing, proceed });
    };
    if (effect.latency === undefined) strike();
    else later(strike, effect.latency).unref();
  };
}

/** An exchange to which a fault applies. */
interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly proceed: () => void;
}

function apply(effect: Effect, exchange: Exchange): void {
  if (!effect.applied || !preventsRequest(effect)) return strikeNow(effect, exchange);
  captureResponse(exchange.outgoing, () => strikeNow(effect, exchange));
  exchange.proceed();
}

function strikeNow(effect: Effect, { incoming, outgoing, proceed }: Exchange): void {
  const { socket } = incoming;
  if (effect.malformed) {
    socket.end('HTTP/1.1 two-hundred fine\r\nno colon here\r\n\r\n{');
    return;
  }
  if (effect.hang === 'head') return;
  if (effect.reset === 'head') {
    socket.resetAndDestroy();
    return;
  }
  const send = (body: Buffer): void => {
    for (const [name, value] of Object.entries(effect.headers ?? {})) outgoing.setHeader(name, value);
    const sent = effect.encode === undefined ? body : encoded(outgoing, effect.encode, body);
    sendDamaged(outgoing, effect, incoming.method === 'HEAD' ? Buffer.alloc(0) : sent);
  };
  if (respondsItself(effect)) return send(ownResponse(effect, incoming, outgoing));
  if (!changesResponse(effect)) return proceed();
  const isPastEnd = effect.repeatCursor === true && parametersOf(incoming.url ?? '').get('start') === LAST_CURSOR;
  if (isPastEnd) incoming.url = without(incoming.url ?? '', 'start');
  captureResponse(outgoing, (body) => {
    const other = changedBody(effect, body, isPastEnd);
    if (other === body) return send(body);
    outgoing.setHeader('content-length', other.length);
    send(other);
  });
  proceed();
}

/** Returns the body that replaces the body of a response. `isPastEnd` says that the request had the cursor `LAST_CURSOR`. */
function changedBody({ body: given, repeatCursor }: Effect, body: Buffer, isPastEnd: boolean): Buffer {
  if (given !== undefined) return Buffer.from(given);
  return repeatCursor ? withRepeatedCursor(body, isPastEnd) : body;
}

/** The cursor of the empty page that ends a list. */
const LAST_CURSOR = 'end-of-list';

function parametersOf(target: string): URLSearchParams {
  return new URL(target, 'http://localhost').searchParams;
}

/** Returns the target of a request without some parameters. */
function without(target: string, ...names: readonly string[]): string {
  const { pathname, searchParams } = new URL(target, 'http://localhost');
  for (const name of names) searchParams.delete(name);
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams.toString()}`;
}

/** Adds a cursor to the last page with items. The page at this cursor is empty and repeats the cursor. */
function withRepeatedCursor(body: Buffer, isPastEnd: boolean): Buffer {
  const page = objectOrUndefined(parsedJson(body.toString('utf8'))) as
    | { data?: unknown[]; pagination?: { next?: string | null } }
    | undefined;
  if (!Array.isArray(page?.data) || page.pagination === undefined) return body;
  if (!isPastEnd && (page.pagination.next || page.data.length === 0)) return body;
  const data = isPastEnd ? [] : page.data;
  return Buffer.from(JSON.stringify({ ...page, data, pagination: { ...page.pagination, next: LAST_CURSOR } }));
}

/** Compresses a body, and sets its headers. */
function encoded(outgoing: ServerResponse, encoding: Encoding, body: Buffer): Buffer {
  if (body.length === 0) return body;
  const compress = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }[encoding];
  const bytes = compress(body);
  outgoing.setHeader('content-encoding', encoding);
  outgoing.setHeader('content-length', bytes.length);
  return bytes;
}

function preventsRequest(effect: Effect): boolean {
  return respondsItself(effect) || effect.malformed === true || [effect.hang, effect.reset].includes('head');
}

function respondsItself({ status, redirect }: Effect): boolean {
  return status !== undefined || redirect !== undefined;
}

function changesResponse({ headers, body, hang, reset, truncate, trickle, encode, repeatCursor }: Effect): boolean {
  return [headers, body, hang, reset, truncate, trickle, encode, repeatCursor].some((part) => part !== undefined);
}

function ownResponse(effect: Effect, incoming: IncomingMessage, outgoing: ServerResponse): Buffer {
  const status = effect.status ?? 307;
  outgoing.statusCode = status;
  if (effect.redirect !== undefined) outgoing.setHeader('location', effect.redirect);
  if (effect.body === undefined) outgoing.setHeader('content-type', 'application/problem+json');
  const body = Buffer.from(effect.body ?? JSON.stringify(problemBody(status, 'A requested fault.')));
  if (status !== 204 && status !== 304) outgoing.setHeader('content-length', body.length);
  // Drops the rest of the request, which would otherwise be read as the next request.
  incoming.resume();
  return status === 204 || status === 304 ? Buffer.alloc(0) : body;
}

/** Collects the sandbox's response and passes its body to `done` when it is complete. */
export function captureResponse(outgoing: ServerResponse, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  const gather = (chunk: unknown): void => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  Object.assign(outgoing, {
    write(chunk: unknown, ...rest: unknown[]): boolean {
      gather(chunk);
      calledBack(rest);
      return true;
    },
    end(chunk?: unknown, ...rest: unknown[]): ServerResponse {
      gather(chunk);
      // Deleting these properties restores the methods of the class.
      for (const name of ['write', 'end']) Reflect.deleteProperty(outgoing, name);
      done(Buffer.concat(chunks));
      calledBack([chunk, ...rest]);
      return outgoing;
    },
  });
}

function calledBack(given: readonly unknown[]): void {
  for (const callback of given) if (typeof callback === 'function') queueMicrotask(() => void callback());
}

/** Sends a body damaged by the effect: stalled, reset, cut off, or byte by byte. The head is already set. */
function sendDamaged(outgoing: ServerResponse, effect: Effect, body: Buffer): void {
  if (effect.hang === 'body') return begin(outgoing, body.subarray(0, Math.floor(body.length / 2)));
  if (typeof effect.reset === 'number') {
    // Waits a moment, because a reset discards bytes that the client has not read yet.
    return begin(outgoing, body.subarray(0, effect.reset), () => {
      later(() => outgoing.socket?.resetAndDestroy(), 20).unref();
    });
  }
  if (effect.truncate !== undefined)
    return begin(outgoing, body.subarray(0, effect.truncate), () => outgoing.socket?.destroySoon());
  if (effect.trickle !== undefined) return trickle(outgoing, body, effect.trickle);
  outgoing.end(body);
}

function begin(outgoing: ServerResponse, part: Buffer, then?: () => void): void {
  outgoing.flushHeaders();
  if (part.length === 0) then?.();
  else outgoing.write(part, () => then?.());
}

function trickle(outgoing: ServerResponse, body: Buffer, pause: number, sent = 0): void {
  if (outgoing.destroyed) return;
  if (sent === body.length) {
    outgoing.end();
    return;
  }
  outgoing.write(body.subarray(sent, sent + 1));
  later(() => trickle(outgoing, body, pause, sent + 1), pause).unref();
}
