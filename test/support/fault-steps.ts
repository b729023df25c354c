import type { Socket } from 'node:net';
import type { Step } from './fault-server.ts';

/** The headers of a response. A list sends its header once for each value. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Sends a well-formed response. */
export function answer(status: number, body: string | Buffer = '', headers: AnswerHeaders = {}): Step {
  const bytes = Buffer.from(body);
  return onRequest((socket) => {
    socket.write(head(status, { 'content-length': String(bytes.length), ...headers }));
    socket.write(bytes);
  });
}

/** Sends a well-formed JSON response. */
export function json(value: unknown, status = 200, headers: AnswerHeaders = {}): Step {
  return answer(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
}

/** Sends exactly these bytes, then ends the connection unless `open`. */
export function raw(bytes: string | Buffer, open = false): Step {
  return onRequest((socket) => {
    if (open) socket.write(bytes, 'latin1');
    else socket.end(bytes, 'latin1');
  });
}

/** Stays silent: from the start of the connection, once the request is read, after the headers, or amid the body. */
export function silence(stage: 'connection' | 'request' | 'headers' | 'body', status = 200): Step {
  if (stage === 'connection') return onConnection((socket) => socket.resume());
  return onRequest((socket) => {
    if (stage === 'request') return;
    socket.write(head(status, { 'content-length': '1000', 'content-type': 'application/json' }));
    if (stage === 'body') socket.write('{"data": [');
  });
}

/** Sends `start`, then `piece` again and again until the client closes the connection. */
export function trickle(start: string, everyMs: number, piece: string): Step {
  return onRequest((socket) => {
    socket.write(start);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.on('close', () => clearInterval(timer));
  });
}

/** Delays another step. */
export function later(ms: number, step: Step): Step {
  return { on: step.on, act: (socket, request) => void setTimeout(() => step.act(socket, request), ms) };
}

/** Resets the connection. With `answer`, the first `after` bytes of a response go out before. */
export function reset(when: 'connection' | 'head' | 'request' | 'answer', after = 30): Step {
  if (when === 'connection') return onConnection((socket) => socket.resetAndDestroy());
  return {
    on: when === 'head' ? 'head' : 'request',
    act(socket) {
      if (when !== 'answer') return void socket.resetAndDestroy();
      const text = `${head(200, { 'content-length': '1000' })}{"data": [${' '.repeat(500)}`;
      socket.write(text.slice(0, after), () => setTimeout(() => socket.resetAndDestroy(), 20));
    },
  };
}

/** Ends the connection properly, without a response. */
export function hangUp(): Step {
  return onRequest((socket) => socket.end());
}

/** Responds as soon as the head is read, and ends the connection without reading the body. */
export function earlyAnswer(status: number, body: string): Step {
  return {
    on: 'head',
    act(socket) {
      socket.end(head(status, { 'content-length': String(body.length), connection: 'close' }) + body);
    },
  };
}

/** Responds, and resets the connection once it is idle again. */
export function answerThenReset(body: string, afterMs: number): Step {
  return onRequest((socket) => {
    socket.write(head(200, { 'content-length': String(body.length) }) + body);
    setTimeout(() => socket.resetAndDestroy(), afterMs);
  });
}

/** Returns the head of a response. */
export function head(status: number, headers: AnswerHeaders = {}): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => `${name}: ${one}\r\n`),
  );
  return `HTTP/1.1 ${status} Words\r\n${lines.join('')}\r\n`;
}

function onRequest(act: (socket: Socket) => void): Step {
  return { on: 'request', act };
}

function onConnection(act: (socket: Socket) => void): Step {
  return { on: 'connection', act };
}
