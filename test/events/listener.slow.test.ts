import { afterAll, afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { Listener, type ListenOptions } from '../../src/events/listener.ts';
import { createTransport } from '../../src/client/http/transport.ts';
import { type AcceptedEvent, type ListenerEvent, sinksOf } from '../../src/events/sinks.ts';
import { FaultServer, type Script } from '../support/fault-server.ts';
import { silence } from '../support/fault-steps.ts';
import { delivery, ownDirectory, post, received } from './support.ts';

const directory = ownDirectory();
afterAll(() => directory.remove());

let listener: Listener;
let reported: ListenerEvent[];
let seen: AcceptedEvent[];
const targets: FaultServer[] = [];

async function open(options: Partial<ListenOptions> = {}): Promise<void> {
  reported = [];
  seen = [];
  listener = await Listener.open({
    port: 0,
    clock: systemClock,
    random: () => 0,
    redact: (text) => text,
    onEvent: (event) => reported.push(event),
    ...options,
  });
}

async function readAll(): Promise<void> {
  for await (const batch of listener.events()) seen.push(...batch);
}

async function target(script: Script): Promise<FaultServer> {
  const server = await FaultServer.start(script);
  targets.push(server);
  return server;
}

function soon(ms: number): AbortSignal {
  return AbortSignal.timeout(ms);
}

afterEach(async () => {
  await listener.finish(soon(0));
  for (const server of targets.splice(0)) await server.close();
});

it('a sink reports when the earliest event was received, also where a later one failed before it', async () => {
  const hanging = await target([silence('request')]);
  const transport = createTransport();
  const [sink] = sinksOf({ transport, clock: systemClock, forwardTo: [hanging.url] });
  // One is under way and 10,000 wait, so that the last one finds the queue full.
  for (let at = 0; at < 10_002; at += 1)
    sink?.add({ ...received(`e${at}`), repeated: false, size: 1, receivedAt: 1_000 + at });
  expect(await sink?.finish(AbortSignal.abort())).toMatchObject({ count: 10_002, since: 1_000 });
  await transport.close();
});

it('the listener asks senders to retry while the disk is full or nobody reads the events', async () => {
  await open({ journal: '/dev/full' });
  const { status, headers } = await post(listener.url, delivery());
  expect({ status, again: headers['retry-after'] }).toEqual({ status: 503, again: '10' });
  expect(reported).toMatchObject([{ kind: 'refused', status: 503, reason: expect.stringContaining('disk is full') }]);
  await listener.finish(soon(0));
  await open();
  const large = JSON.stringify(delivery('large', { note: 'x'.repeat(990_000) }));
  const statuses = [];
  for (let at = 0; at < 80; at += 1) statuses.push((await post(listener.url, large)).status);
  expect(statuses.indexOf(503)).toBeGreaterThan(60);
  expect(new Set(statuses.slice(statuses.indexOf(503)))).toEqual(new Set([503]));
  listener.end();
  await readAll();
  expect(seen).toHaveLength(statuses.indexOf(503));
});
