import type { Socket } from 'node:net';

/** A request as it arrived. `bodyBytes` counts the bytes of its body as they come in. */
export interface Received {
  readonly method: string;
  readonly path: string;
  /** The headers by lower-case name; a header sent twice is joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  body: string;
  bodyBytes: number;
  /** Whether the whole request was read. */
  complete: boolean;
}

/** Decodes the body of a request. */
export function textOf(request: Pick<Received, 'body'> | undefined): string {
  return Buffer.from(request?.body ?? '', 'latin1').toString('utf8');
}

/** Parses the JSON body of a request. */
export function bodyOf(request: Pick<Received, 'body'> | undefined): Record<string, unknown> {
  return JSON.parse(textOf(request)) as Record<string, unknown>;
}

interface Hooks {
  /** Called when the head is read. Returns what to call once the whole request is read. */
  readonly onHead: (request: Received) => (() => void) | undefined;
}

const HEAD_END = '\r\n\r\n';

/** Reads requests off a raw connection, one after the other. */
export function readRequests(socket: Socket, hooks: Hooks): void {
  const reader = new RequestReader(hooks);
  // In Latin-1, every byte is one character.
  socket.on('data', (chunk: Buffer) => reader.read(chunk.toString('latin1')));
}

class RequestReader {
  readonly #hooks: Hooks;
  #text = '';
  #current: { request: Received; whole: (() => void) | undefined } | undefined;

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
  }

  read(text: string): void {
    this.#text += text;
    for (;;) {
      if (!this.#current && !this.#readHead()) return;
      if (!this.#current || !this.#readBody(this.#current.request)) return;
      const { request, whole } = this.#current;
      request.complete = true;
      this.#current = undefined;
      whole?.();
    }
  }

  #readHead(): boolean {
    const end = this.#text.indexOf(HEAD_END);
    if (end < 0) return false;
    const [first = '', ...lines] = this.#text.slice(0, end).split('\r\n');
    this.#text = this.#text.slice(end + HEAD_END.length);
    const [method = '', path = ''] = first.split(' ');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
    }
    const request: Received = { method, path, headers, body: '', bodyBytes: 0, complete: false };
    this.#current = { request, whole: undefined };
    this.#current.whole = this.#hooks.onHead(request);
    return true;
  }

  /** Reads on in the body. Returns true once the body is complete. */
  #readBody(request: Received): boolean {
    if (request.headers['transfer-encoding'] === 'chunked') {
      const end = this.#text.indexOf('0\r\n\r\n');
      request.bodyBytes = this.#text.length;
      if (end < 0) return false;
      request.body = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 5);
      return true;
    }
    const length = Number(request.headers['content-length'] ?? 0);
    const taken = this.#text.slice(0, length - request.bodyBytes);
    this.#text = this.#text.slice(taken.length);
    request.bodyBytes += taken.length;
    request.body += taken;
    return request.bodyBytes >= length;
  }
}
