import fs from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { readDelivery, type ReceivedEvent } from '../../src/client/webhooks/received.ts';

/** A response to a posted event. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Returns a delivery as the service sends it. */
export function delivery(id = 'e1', more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    event: {
      id,
      type: 'account-updater.job.completed',
      timestamp: '2026-01-05T12:00:00Z',
      data: { job: { id: 'j1', status: 'completed' } },
      ...more,
    },
    delivered_at: '2026-01-05T12:00:01Z',
  };
}

/** Returns an event as the receiver passes it on. */
export function received(id = 'e1', more: Readonly<Record<string, unknown>> = {}): ReceivedEvent {
  const bytes = Buffer.from(JSON.stringify(delivery(id, more)));
  const read = readDelivery(bytes);
  if ('problem' in read) throw new Error(read.problem);
  const headers = new Map([['content-type', 'application/json']]);
  return { receivedAt: Date.UTC(2026, 0, 5, 12), headers, bytes, delivery: read.delivery };
}

/** Posts a body. An object is sent as JSON. */
export function post(
  url: string | URL,
  body: unknown,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answered> {
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: options.method ?? 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes), ...options.headers },
    });
    let answered = false;
    outgoing.on('response', (answer) => {
      answered = true;
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
    });
    outgoing.on('error', (error) => (answered ? undefined : reject(error)));
    outgoing.end(bytes);
  });
}

/** Sends bytes as they are and resolves to all that came back until the connection ended. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

/** Returns the object that has the methods of all open files. */
export async function handlePrototype(): Promise<fs.FileHandle> {
  const handle = await fs.open('/dev/null');
  await handle.close();
  return Object.getPrototypeOf(handle) as fs.FileHandle;
}
