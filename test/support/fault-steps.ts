import type { Socket } from 'node:net';
import type { Step } from './fault-server.ts';

/** Headers of an answer; a list sends the header several times. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A proper answer. */
export function answer(status: number, body: string | Buffer = '', headers: AnswerHeaders = {}): Step {
  const bytes = Buffer.from(body);
  return onRequest((socket) => {
    socket.write(head(status, { 'content-length': String(bytes.length), ...headers }));
    socket.write(bytes);
  });
}

/** A proper answer of JSON. */
export function json(value: unknown, status = 200, headers: AnswerHeaders = {}): Step {
  return answer(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
}

/** Exactly these bytes, then the end of the connection unless `open`. */
export function raw(bytes: string | Buffer, open = false): Step {
  return onRequest((socket) => {
    if (open) socket.write(bytes, 'latin1');
    else socket.end(bytes, 'latin1');
  });
}

/** Stays silent: from the start of the connection on, once the request is read, after the headers, or amid the body. */
export function silence(stage: 'connection' | 'request' | 'headers' | 'body', status = 200): Step {
  if (stage === 'connection') return onConnection((socket) => socket.resume());
  return onRequest((socket) => {
    if (stage === 'request') return;
    socket.write(head(status, { 'content-length': '1000', 'content-type': 'application/json' }));
    if (stage === 'body') socket.write('{"data": [');
  });
}

/** Sends a text byte by byte, for ever if it does not end. */
export function trickle(start: string, everyMs: number, piece: string): Step {
  return onRequest((socket) => {
    socket.write(start);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.on('close', () => clearInterval(timer));
  });
}

/** Does what another step does, but later. */
export function later(ms: number, step: Step): Step {
  return { on: step.on, act: (socket, request) => void setTimeout(() => step.act(socket, request), ms) };
}

/** Ends the connection with a reset. `after` bytes of an answer may go out first. */
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

/** Ends the connection properly without a word. */
export function hangUp(): Step {
  return onRequest((socket) => socket.end());
}

/** Answers as soon as the head is there and does not read the body. */
export function earlyAnswer(status: number, body: string): Step {
  return {
    on: 'head',
    act(socket) {
      socket.end(head(status, { 'content-length': String(body.length), connection: 'close' }) + body);
    },
  };
}

/** Answers, and resets the connection when it is idle again. */
export function answerThenReset(body: string, afterMs: number): Step {
  return onRequest((socket) => {
    socket.write(head(200, { 'content-length': String(body.length) }) + body);
    setTimeout(() => socket.resetAndDestroy(), afterMs);
  });
}

/** The head of an answer. */
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
