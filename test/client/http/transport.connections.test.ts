import { randomBytes } from 'node:crypto';
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { exchange } from '../../../src/client/http/exchange.ts';
import { createTransport } from '../../../src/client/http/transport.ts';
import { blackHole } from '../../support/black-hole.ts';
import { makeCertificate, tlsServer, trust } from '../../support/certificate.ts';
import { FakeClock } from '../../support/clock.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';
import { answer, answerThenReset, head, json, later, raw, reset, silence } from '../../support/fault-steps.ts';
import { CREATE, failureOf, makeCore, only, PATIENT, READ } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

const CERTIFICATE = makeCertificate('localhost');

/** Responds to each request with a head in small pieces and a long body right after it. */
function slowHead(value: string, body: Buffer): (socket: Socket) => void {
  return (socket) => void socket.on('data', () => void answerSlowly(socket, value, body)).on('error', () => undefined);
}

async function answerSlowly(socket: Socket, value: string, body: Buffer): Promise<void> {
  const text = head(200, { 'x-long': value, 'content-length': String(body.length) });
  for (let at = 0; at < text.length; at += 1_000) {
    const isLast = at + 1_000 >= text.length;
    socket.write(Buffer.concat([Buffer.from(text.slice(at, at + 1_000)), isLast ? body : Buffer.alloc(0)]));
    await wait(5);
  }
}

async function listening(protocol: string, server: Server): Promise<URL> {
  await once(server.listen(0, 'localhost'), 'listening');
  onTestFinished(() => void server.close());
  return new URL(`${protocol}://localhost:${(server.address() as AddressInfo).port}`);
}

/** Returns the timers, sockets and lookups that keep this process alive. */
function holding(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => /Timeout|TCPSocket|TLS|GetAddrInfo|Connect/i.test(kind));
}

describe('connections', () => {
  it('connections are used again by reads, one after the other', async () => {
    const server = await serve([json({ data: 'x'.repeat(100_000) })]);
    const core = makeCore(server.url);
    for (let n = 0; n < 20; n += 1) await core.call(READ);
    expect(server.connections).toBe(1);
  });

  it('connections are used again after an error answer that was read to its end', async () => {
    const server = await serve([json({ title: 'no' }, 404)]);
    const core = makeCore(server.url);
    for (let n = 0; n < 3; n += 1) await failureOf(core.call(READ));
    expect(server.connections).toBe(1);
  });

  it('connections are one each for reads at the same time, and all used again', async () => {
    const server = await serve([later(30, json({}))]);
    const core = makeCore(server.url);
    for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 6 }, () => core.call(READ)));
    expect(server.connections).toBe(6);
  });

  it.each([
    ['closes without a word', raw(`${head(200, { 'content-length': '2' })}{}`)],
    ['closes, and says so', raw(`${head(200, { 'content-length': '2', connection: 'close' })}{}`)],
    ['closes as HTTP/1.0 does', raw('HTTP/1.0 200 OK\r\n\r\n{}')],
    ['resets at once', answerThenReset('{}', 0)],
    ['resets later', answerThenReset('{}', 20)],
  ])('connections that the server %s are opened again without a pause', async (_, step) => {
    const server = await serve([step]);
    const clock = new FakeClock();
    const core = makeCore(server.url, { clock });
    for (let n = 0; n < 5; n += 1) {
      await core.call(READ);
      await new Promise((resolve) => setTimeout(resolve, n * 10));
    }
    expect(clock.slept).toEqual([]);
    expect(server.connections).toBeGreaterThan(1);
  });

  it('connections are closed with their transport, at whatever stage they are', async () => {
    const server = await serve([json({}), silence('request')]);
    const transport = createTransport();
    const request = { method: 'GET', url: server.url, headers: {}, limits: PATIENT };
    await (await exchange(transport, request)).read(100);
    const waiting = exchange(transport, request);
    await expect.poll(() => server.whole().length).toBe(2);
    await transport.close();
    await expect(waiting).rejects.toMatchObject({ name: 'TransportFailure' });
    await expect.poll(() => server.openConnections).toBe(0);
    // The transport can be used again.
    server.play([json({})]);
    await (await exchange(transport, request)).read(100);
    await transport.close();
  });

  it('an answer that is dropped unread, or twice, harms nobody', async () => {
    const server = await serve([answer(200, 'x'.repeat(5_000_000))]);
    const transport = createTransport();
    onTestFinished(() => transport.close());
    const request = { method: 'GET', url: server.url, headers: {}, limits: PATIENT };
    const dropped = await exchange(transport, request);
    dropped.discard();
    const read = await exchange(transport, request);
    await read.read(Infinity);
    const other = await exchange(transport, request);
    read.discard();
    read.discard();
    expect((await other.read(Infinity)).bytes).toHaveLength(5_000_000);
    expect(server.connections).toBe(2);
  });

  it.each<[string, () => Server]>([
    ['http', createServer],
    ['https', () => tlsServer(CERTIFICATE)],
  ])('a long body over %s arrives whole after a slow head, on a reused connection too', async (protocol, create) => {
    const body = randomBytes(5_000_000);
    const value = 'x'.repeat(3_000);
    const server = create().on(protocol === 'http' ? 'connection' : 'secureConnection', slowHead(value, body));
    const url = await listening(protocol, server);
    onTestFinished(trust(CERTIFICATE));
    const transport = createTransport();
    onTestFinished(() => transport.close());
    const request = { method: 'GET', url, headers: {}, limits: PATIENT };
    for (let n = 0; n < 3; n += 1) {
      const response = await exchange(transport, request);
      const { bytes } = await response.read(body.length);
      expect(bytes.equals(body)).toBe(true);
      expect(response.header('x-long')).toBe(value);
    }
  });

  it('R19: nothing holds the process up once all failed and the transport is closed', async () => {
    const hole = await blackHole();
    const proxy = await ConnectProxy.start('silent');
    const server = await serve([silence('headers'), reset('request'), silence('body', 500), answer(429), json({})]);
    const before = holding();
    const transport = createTransport({ https_proxy: `http://127.0.0.1:${proxy.port}` });
    for (const url of [hole.url, new URL('https://api.test')])
      await failureOf(makeCore(url, { transport, limits: only('connect') }).call(CREATE));
    for (let n = 0; n < 4; n += 1)
      await makeCore(server.url, { transport, limits: only('idle') })
        .call(CREATE)
        .catch(() => undefined);
    await makeCore(server.url, { transport }).call(READ);
    await transport.close();
    await Promise.all([hole.close(), proxy.close(), server.close()]);
    await expect.poll(() => holding().length).toBeLessThanOrEqual(before.length);
  });

  it('R19: an idle connection does not hold the process up', async () => {
    const server = await serve([json({})]);
    const core = makeCore(server.url);
    const before = holding();
    await core.call(READ);
    // The server runs in this process too, so its end of the connection may remain.
    await expect.poll(() => holding().length - before.length).toBeLessThanOrEqual(1);
  });

  it('R19: many requests share a signal without a warning, and leave nothing on it', async () => {
    const warnings: unknown[] = [];
    const note = (warning: unknown): void => void warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const server = await serve((_, index) => (index < 40 ? answer(503) : json({})));
    const { signal } = new AbortController();
    const core = makeCore(server.url, { signal, clock: systemClock, random: () => 0.05 });
    await Promise.allSettled(Array.from({ length: 40 }, () => core.call(READ)));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
