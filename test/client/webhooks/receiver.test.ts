import { request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import type { ReceivedEvent } from '../../../src/client/webhooks/received.ts';
import {
  type Receiver,
  type ReceiverOptions,
  type Refusal,
  startReceiver,
} from '../../../src/client/webhooks/receiver.ts';
import { delivery, post, sendRaw } from '../../events/support.ts';
import { until } from '../../support/until.ts';

let receiver: Receiver;
let taken: ReceivedEvent[];
let refused: Refusal[];

async function start(options: Partial<ReceiverOptions> = {}): Promise<void> {
  taken = [];
  refused = [];
  receiver = await startReceiver({
    port: 0,
    clock: { now: () => 1_000 },
    accept: async (event) => void taken.push(event),
    onRefused: (refusal) => refused.push(refusal),
    ...options,
  });
}

afterEach(() => receiver.close());

it('the receiver takes an event with its bytes and headers, and acknowledges it', async () => {
  await start();
  const text = `{ "event": {"id":"ü","type":"x.y"} , "delivered_at":null}\n`;
  const { status, body } = await post(`${receiver.url}/any/path?x=1`, text, { headers: { 'x-signature': 'v1=ab' } });
  expect({ status, body }).toEqual({ status: 200, body: '' });
  expect(taken).toHaveLength(1);
  expect(taken[0]?.bytes.toString()).toBe(text);
  expect(taken[0]?.headers.get('x-signature')).toBe('v1=ab');
  expect(taken[0]).toMatchObject({ receivedAt: 1_000, delivery: { event: { id: 'ü', type: 'x.y' } } });
});

it('the receiver acknowledges only once the event was accepted', async () => {
  let accept: (() => void) | undefined;
  await start({ accept: () => new Promise((resolve) => (accept = resolve)) });
  let answered = false;
  const answer = post(receiver.url, delivery()).finally(() => (answered = true));
  await until(() => accept !== undefined);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(answered).toBe(false);
  accept?.();
  expect(await answer).toMatchObject({ status: 200 });
});

it('the receiver is free again when senders that never read or close have used up its time limits', async () => {
  await start({ limits: { headersMs: 200, requestMs: 400, connections: 20 } });
  const silent = Array.from({ length: 10 }, () => '');
  const torn = Array.from({ length: 10 }, () => 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{');
  const sockets = [...silent, ...torn].map((text) => {
    const socket = connect({ port: receiver.port, host: '127.0.0.1', allowHalfOpen: true }).pause();
    socket.on('error', () => undefined).write(text);
    return socket;
  });
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  await expect.poll(() => post(receiver.url, delivery()).catch(() => undefined)).toMatchObject({ status: 200 });
});

it('R67: the receiver takes nothing under a name that is not of this machine, unless it is allowed', async () => {
  await start({ allowHosts: ['hooks.example'] });
  for (const host of ['evil.example', 'evil.localhost', 'localhost.evil.example:4020'])
    expect((await post(receiver.url, delivery(), { headers: { host } })).status).toBe(403);
  expect(taken).toEqual([]);
  expect(refused[0]?.reason).toContain('Host');
  for (const host of ['localhost', '127.0.0.1:1', '[::1]:4020', 'HOOKS.example:443'])
    expect((await post(receiver.url, delivery(), { headers: { host } })).status).toBe(200);
  expect(taken).toHaveLength(4);
});

it('the receiver takes any name where other machines may reach it, and still no page of a browser', async () => {
  await start({ allowHosts: 'any' });
  const host = 'machine.example';
  expect((await post(receiver.url, delivery(), { headers: { host } })).status).toBe(200);
  const page = { host, origin: 'https://machine.example' };
  expect((await post(receiver.url, delivery(), { headers: page })).status).toBe(403);
});

it('the receiver answers 503 when an event cannot be accepted, so that its sender comes again', async () => {
  await start({ accept: () => Promise.reject(new Error('the disk is full')) });
  const { status, headers } = await post(receiver.url, delivery());
  expect({ status, retry: headers['retry-after'] }).toEqual({ status: 503, retry: '10' });
  expect(refused).toEqual([{ status: 503, reason: 'the disk is full' }]);
});

it('the receiver tells a sender no file of this machine when an event cannot be stored', async () => {
  await start({ accept: () => Promise.reject(new Error('/srv/journal.jsonl could not be written')) });
  const { body } = await post(receiver.url, delivery());
  expect(JSON.parse(body)).toEqual({ error: 'it could not be stored' });
  expect(refused).toEqual([{ status: 503, reason: '/srv/journal.jsonl could not be written' }]);
});

it.each<[string, unknown, { method?: string; headers?: Record<string, string> }, number]>([
  ['no JSON', 'hello', {}, 400],
  ['nothing', '', {}, 400],
  ['invalid UTF-8', Buffer.from([0xff, 0xfe]), {}, 400],
  ['JSON that is no event', [], {}, 400],
  ['very deep JSON', '['.repeat(500_000), {}, 400],
  ['a GET', '', { method: 'GET' }, 405],
  ['a page in a browser', delivery(), { headers: { origin: 'https://example.com' } }, 403],
  ['a page that names no origin', delivery(), { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
  ['a compressed body', 'xx', { headers: { 'content-encoding': 'gzip' } }, 415],
  ['a body just too long', 'x'.repeat(1_000_001), {}, 413],
  ['a body of 10 MB', 'x'.repeat(10_000_000), {}, 413],
])('the receiver turns %s away with a reason, and continues', async (_name, body, options, status) => {
  await start();
  const answer = await post(receiver.url, body, options);
  expect(answer.status).toBe(status);
  expect(answer.headers['allow']).toBe(status === 405 ? 'POST' : undefined);
  expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String) });
  expect(refused).toEqual([{ status, reason: expect.any(String) }]);
  expect(await post(receiver.url, delivery())).toMatchObject({ status: 200 });
  expect(taken).toHaveLength(1);
});

it('the receiver takes a body of just as much as it may be', async () => {
  await start();
  const empty = JSON.stringify(delivery('e1', { note: '' })).length;
  const body = JSON.stringify(delivery('e1', { note: 'x'.repeat(1_000_000 - empty) }));
  expect(await post(receiver.url, body)).toMatchObject({ status: 200 });
});

it('the receiver turns a long body away that does not say how long it is, without gathering it', async () => {
  await start();
  const status = await new Promise((resolve) => {
    const outgoing = request(receiver.url, { method: 'POST', agent: false });
    outgoing.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', () => undefined);
    const piece = Buffer.alloc(100_000, 0x20);
    for (let at = 0; at < 100; at += 1) outgoing.write(piece);
  });
  expect(status).toBe(413);
});

it('the receiver lets a sender that asks first send its body, or not', async () => {
  await start();
  const body = JSON.stringify(delivery());
  const ask = (length: number): Promise<string> =>
    sendRaw(
      receiver.port,
      `POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n${length > 1e6 ? '' : body}`,
    );
  expect(await ask(body.length)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  expect(await ask(5_000_000)).toMatch(/^HTTP\/1\.1 413 /);
});

it('the receiver disconnects senders that never finish their headers or body, and reports each once', async () => {
  await start({ limits: { headersMs: 150, requestMs: 300 } });
  const [head, body] = await Promise.all([
    sendRaw(receiver.port, 'POST / HTTP/1.1\r\nhost: localhost\r\nx-a: '),
    sendRaw(receiver.port, 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"ev'),
  ]);
  expect([head, body].map((text) => text.split('\r\n')[0])).toEqual([
    'HTTP/1.1 408 Request Timeout',
    'HTTP/1.1 408 Request Timeout',
  ]);
  expect(refused).toEqual([
    { status: 408, reason: 'it was not complete in time' },
    { status: 408, reason: 'it was not complete in time' },
  ]);
});

it('the receiver survives what is no HTTP at all, and senders that hang up amid a body', async () => {
  await start();
  expect(await sendRaw(receiver.port, '\u0016\u0003\u0001hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  const long = `POST / HTTP/1.1\r\nhost: localhost\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`;
  expect(await sendRaw(receiver.port, long)).toMatch(/^HTTP\/1\.1 431 /);
  await new Promise<void>((resolve) => {
    const outgoing = request(receiver.url, { method: 'POST', agent: false, headers: { 'content-length': 100 } });
    outgoing.on('error', () => resolve());
    outgoing.write('{"event"', () => setTimeout(() => outgoing.destroy(new Error('gone')), 20));
  });
  expect(await post(receiver.url, delivery())).toMatchObject({ status: 200 });
  await until(() => refused.length === 3);
  const reasons = ['it is not valid HTTP', 'its headers are too long', 'it broke off'];
  expect(refused.map(({ reason }) => reason)).toEqual(reasons);
});

it('the receiver says which port is in use', async () => {
  await start();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  await expect(startReceiver({ port, clock: Date, accept: async () => undefined })).rejects.toMatchObject({
    code: 'local',
    message: `port ${port} is in use`,
    hint: expect.stringContaining('another port'),
  });
  await new Promise((resolve) => taken.close(resolve));
});

it('the receiver says that an address is not of this machine', async () => {
  await start();
  const elsewhere = { host: '192.0.2.1', port: 0, clock: Date, accept: async () => undefined };
  await expect(startReceiver(elsewhere)).rejects.toMatchObject({ code: 'local', exitCode: 1 });
});
