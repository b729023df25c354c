import { createHash } from 'node:crypto';
import net from 'node:net';
import { once } from 'node:events';

/** A request as the store received it, with ways to respond to it, correctly or not. */
export interface StoreCall {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly socket: net.Socket;
  /** Body bytes received so far. */
  readonly received: () => number;
  /** Resolves with the first `count` bytes of the body (by default all), or with fewer if the client breaks off. */
  body(count?: number): Promise<Buffer>;
  /** Sends a response with a content-length. */
  reply(status: number, headers?: Record<string, string>, body?: Buffer | string): void;
  /** Sends bytes as they are. */
  raw(bytes: Buffer | string): void;
  /** Ends the connection with a reset. */
  reset(): void;
  /** Closes the connection, dropping what was not read. */
  close(): void;
}

/** A function that plays the store for one request. Requests are numbered from 0. */
export type StoreScript = (call: StoreCall, index: number) => void | Promise<void>;

/** A store on loopback that does what its script says, and keeps a ledger. */
export interface FaultStore {
  readonly calls: StoreCall[];
  /** Returns an address with a signature in its query. */
  url(path?: string): URL;
  close(): Promise<void>;
}

/** The secret part of every address of a fault store, which must never appear in output. */
export const SIGNATURE = 'c2VjcmV0c2lnbmF0dXJl';

export async function startFaultStore(script: StoreScript): Promise<FaultStore> {
  const calls: StoreCall[] = [];
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    serve(socket, (call) => script(call, calls.push(call) - 1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    calls,
    url: (path = '/bucket/key') => new URL(`http://127.0.0.1:${port}${path}?X-Amz-Signature=${SIGNATURE}`),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function serve(socket: net.Socket, onCall: (call: StoreCall) => void | Promise<void>): void {
  let head = Buffer.alloc(0);
  let sink: ((bytes: Buffer) => void) | undefined;
  socket.on('data', (bytes: Buffer) => {
    if (sink) return sink(bytes);
    head = Buffer.concat([head, bytes]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const call = new Call(socket, head.subarray(0, end).toString('latin1'));
    const rest = head.subarray(end + 4);
    head = Buffer.alloc(0);
    sink = (more) => call.take(more);
    // A connection is free for its next request once this one has its response.
    const done = (): void => {
      if (call.isAnswered && call.received() >= call.length) sink = undefined;
    };
    call.onAnswered = done;
    if (rest.length > 0) call.take(rest);
    void play(call, onCall, done);
  });
}

async function play(call: Call, onCall: (call: StoreCall) => void | Promise<void>, done: () => void): Promise<void> {
  await onCall(call);
  done();
}

class Call implements StoreCall {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly socket: net.Socket;
  readonly length: number;
  isAnswered = false;
  onAnswered: () => void = () => undefined;
  #chunks: Buffer[] = [];
  #received = 0;
  #waiters = new Set<() => void>();

  constructor(socket: net.Socket, head: string) {
    const [first = '', ...lines] = head.split('\r\n');
    const [method = '', target = ''] = first.split(' ');
    this.method = method;
    this.target = target;
    this.headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    this.socket = socket;
    this.length = Number(this.headers['content-length'] ?? 0);
    socket.on('close', () => this.#wake());
  }

  received(): number {
    return this.#received;
  }

  take(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#received += bytes.length;
    this.#wake();
  }

  async body(count = this.length): Promise<Buffer> {
    while (this.#received < count && !this.socket.destroyed)
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    return Buffer.concat(this.#chunks);
  }

  reply(status: number, headers: Record<string, string> = {}, body: Buffer | string = ''): void {
    const bytes = Buffer.from(body);
    const lines = Object.entries({ 'content-length': String(bytes.length), ...headers });
    const head = `HTTP/1.1 ${status} Scripted\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
    this.raw(Buffer.concat([Buffer.from(head, 'latin1'), bytes]));
    this.isAnswered = true;
    this.onAnswered();
  }

  raw(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter();
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
