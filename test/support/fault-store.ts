import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { FaultServer } from './fault-server.ts';
import { type AnswerHeaders, head } from './fault-steps.ts';
import type { Received } from './request-reader.ts';

/** A function that plays the store for one request, as soon as its head is read. Requests are numbered from 0. */
export type StoreScript = (call: StoreCall, index: number) => void | Promise<void>;

/** The secret part of every address of a store, which must never appear in output. */
export const SIGNATURE = 'c2VjcmV0c2lnbmF0dXJl';

/** Starts a store on loopback that does what its script says, correctly or not. */
export function startFaultStore(script: StoreScript): Promise<FaultServer> {
  return FaultServer.start((request, index) => ({
    on: 'head',
    act: (socket) => void script(new StoreCall(socket, request), index),
  }));
}

/** Returns an address of a store with a signature in its query. */
export function signedAddress(store: FaultServer, path = 'bucket/key'): URL {
  return new URL(`${path}?X-Amz-Signature=${SIGNATURE}`, store.url);
}

/** A request that a store receives, with ways to respond to it. */
export class StoreCall {
  readonly path: string;
  readonly headers: Received['headers'];
  readonly socket: Socket;
  readonly #request: Received;

  constructor(socket: Socket, request: Received) {
    this.socket = socket;
    this.path = request.path;
    this.headers = request.headers;
    this.#request = request;
  }

  /** Resolves with the body, once at least `count` bytes of it are read (by default all) or the client breaks off. */
  async body(count = Number(this.headers['content-length'] ?? 0)): Promise<Buffer> {
    // The bytes that came together with the head are read first.
    await Promise.resolve();
    while (this.#request.bodyBytes < count && !this.socket.destroyed) {
      const end = new AbortController();
      const events = ['data', 'close'].map((name) => once(this.socket, name, { signal: end.signal }));
      await Promise.race(events.map((event) => event.catch(() => undefined)));
      end.abort();
    }
    return Buffer.from(this.#request.body, 'latin1');
  }

  /** Sends a response with a content-length. */
  reply(status: number, headers: AnswerHeaders = {}, body: Buffer | string = ''): void {
    const bytes = Buffer.from(body);
    this.raw(head(status, { 'content-length': String(bytes.length), ...headers }));
    this.raw(bytes);
  }

  /** Sends bytes as they are. */
  raw(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  /** Ends the connection with a reset. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Closes the connection, dropping what was not read. */
  close(): void {
    this.socket.destroy();
  }
}

/** Returns the strong ETag that an S3-type store gives an object uploaded in one part. */
export function etagOf(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}

/** Responds to a GET as a correct S3-type store does: with ranges, If-Match, 412 and 416. */
export function serveObject(call: StoreCall, content: Buffer, etag = etagOf(content)): void {
  const { 'if-match': ifMatch, range } = call.headers;
  if (ifMatch !== undefined && ifMatch !== etag)
    return call.reply(412, {}, '<Error><Code>PreconditionFailed</Code></Error>');
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(start)) return call.reply(200, { etag }, content);
  if (start >= content.length) return call.reply(416);
  const headers = { etag, 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` };
  call.reply(206, headers, content.subarray(start));
}

/** Sends a 200 with the length of all the content, then only `count` bytes of it, and resets the connection. */
export function serveCut(call: StoreCall, content: Buffer, count: number, etag = etagOf(content)): void {
  call.raw(`HTTP/1.1 200 OK\r\ncontent-length: ${content.length}\r\netag: ${etag}\r\n\r\n`);
  call.socket.write(content.subarray(0, count), () => setTimeout(() => call.reset(), 20));
}

/** Accepts a PUT only as the strictest real stores do: 411 without a length, 400 with an Authorization header. */
export async function takeObject(call: StoreCall): Promise<Buffer | undefined> {
  if (call.headers['content-length'] === undefined) {
    call.reply(411, {}, '<Error><Code>MissingContentLength</Code></Error>');
    return undefined;
  }
  if (call.headers['authorization'] !== undefined) {
    call.reply(400, {}, '<Error><Code>InvalidArgument</Code></Error>');
    return undefined;
  }
  const body = await call.body();
  if (body.length !== Number(call.headers['content-length'])) return undefined;
  call.reply(200, { etag: etagOf(body) });
  return body;
}
