import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { readJournal } from '../../src/events/journal.ts';
import type { Refusal } from '../../src/client/webhooks/receiver.ts';
import { Listener, type ListenOptions } from '../../src/events/listener.ts';
import { type AcceptedEvent, EventQueue } from '../../src/events/sinks.ts';
import { FaultServer, type Script } from '../support/fault-server.ts';
import { answer, silence } from '../support/fault-steps.ts';
import { delivery, handlePrototype, post } from './support.ts';
import { until } from '../support/until.ts';
import { temporaryDirectory } from '../support/directory.ts';

const directory = temporaryDirectory();

let listener: Listener;
let refused: Refusal[];
let seen: AcceptedEvent[];
const targets: FaultServer[] = [];

async function open(options: Partial<ListenOptions> = {}): Promise<void> {
  refused = [];
  seen = [];
  listener = await Listener.open({
    port: 0,
    clock: systemClock,
    random: () => 0,
    redact: (text) => text,
    onRefused: (refusal) => refused.push(refusal),
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

function ids(events: readonly AcceptedEvent[]): string[] {
  return events.map(({ delivery: { event } }) => event.id);
}

it('the listener hands events on as they come, marks those that came before, and ends after so many', async () => {
  await open({ limit: 3 });
  const reading = readAll();
  for (const id of ['a', 'b', 'a']) expect(await post(listener.url, delivery(id))).toMatchObject({ status: 200 });
  await reading;
  expect(seen.map(({ repeated }) => repeated)).toEqual([false, false, true]);
  expect(await post(listener.url, delivery('c'))).toMatchObject({ status: 503 });
  expect(ids(seen)).toEqual(['a', 'b', 'a']);
});

it('the listener never takes more than so many, however many come at once', async () => {
  await open({ limit: 5, journal: join(directory, 'max.jsonl') });
  const reading = readAll();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => post(listener.url, delivery(`e${at}`))));
  await reading;
  expect(seen).toHaveLength(5);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
});

it('the listener knows from its journal what came before it was started', async () => {
  const journal = join(directory, 'again.jsonl');
  for (const expected of [false, true]) {
    await open({ limit: 1, journal });
    await post(listener.url, delivery('same'));
    await readAll();
    expect(seen.map(({ repeated }) => repeated)).toEqual([expected]);
    await listener.finish(soon(1000));
  }
});

it('the listener is neither stopped nor slowed by a target that hangs, and tells at the end what did not reach it', async () => {
  const [hanging, good] = [await target([silence('request')]), await target([answer(200)])];
  await open({ forwardTo: [hanging.url, good.url], journal: join(directory, 'hang.jsonl') });
  const reading = readAll();
  for (let at = 0; at < 20; at += 1)
    expect(await post(listener.url, delivery(`e${at}`))).toMatchObject({ status: 200 });
  await until(() => good.whole('POST').length === 20);
  const undone = await listener.finish(soon(50));
  await reading;
  expect(seen).toHaveLength(20);
  expect(undone).toEqual([
    {
      target: hanging.url,
      events: expect.objectContaining({ count: 20, ids: ['e0', 'e1', 'e2', 'e3', 'e4'], since: expect.any(Number) }),
    },
  ]);
  const kept = [];
  for await (const line of readJournal(join(directory, 'hang.jsonl'))) kept.push(line);
  expect(kept).toHaveLength(20);
});

it('the listener passes on what came, keys aside, in order', async () => {
  const good = await target([answer(200)]);
  await open({ forwardTo: [good.url] });
  const body = '{"event": {"id":"1","type":"t"}}  ';
  await post(listener.url, body, {
    headers: { 'content-type': 'application/vnd.x+json', 'x-signature': 's', authorization: 'canary' },
  });
  await until(() => good.whole().length === 1);
  const [got] = good.whole();
  expect(Buffer.from(got?.body ?? '', 'latin1').toString()).toBe(body);
  expect(got?.headers).toMatchObject({ 'content-type': 'application/vnd.x+json', 'x-signature': 's' });
  expect(JSON.stringify(got)).not.toContain('canary');
  expect(got?.headers['host']).toBe(good.url.host);
});

it('the listener finishes what is being forwarded when it ends', async () => {
  const slow = await target([
    {
      on: 'request',
      act: (socket) => void setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), 100),
    },
  ]);
  await open({ forwardTo: [slow.url] });
  for (const id of ['a', 'b']) await post(listener.url, delivery(id));
  expect(await listener.finish(soon(5_000))).toEqual([]);
  expect(slow.whole()).toHaveLength(2);
});

it('the queue of events has room again for as many bytes as were taken from it', async () => {
  const queue = new EventQueue<{ size: number }>();
  const batches = queue.batches();
  for (let time = 0; time < 3; time += 1) {
    expect(queue.add({ size: 64 * 1024 * 1024 })).toBe(true);
    expect(queue.add({ size: 1 })).toBe(false);
    expect((await batches.next()).value).toHaveLength(1);
  }
});

it('the listener counts no event towards its limit that it could not store', async () => {
  await open({ journal: '/dev/full', limit: 1 });
  for (let time = 0; time < 2; time += 1) await post(listener.url, delivery());
  const full = { status: 503, reason: expect.stringContaining('disk is full') };
  expect(refused).toMatchObject([full, full]);
});

it('the listener ends although an event could not be stored while it was ending', async () => {
  await open({ journal: join(directory, 'ending.jsonl') });
  const reading = readAll();
  const sync = vi.spyOn(await handlePrototype(), 'datasync').mockImplementationOnce(async () => {
    listener.end();
    throw Object.assign(new Error('bad disk'), { code: 'EIO' });
  });
  onTestFinished(() => sync.mockRestore());
  expect(await post(listener.url, delivery())).toMatchObject({ status: 503 });
  expect(await post(listener.url, delivery())).toMatchObject({ status: 503 });
  await reading;
  expect(seen).toEqual([]);
});

it('the listener leaves nothing behind when the port cannot be had', async () => {
  await open();
  const again = Listener.open({
    port: Number(new URL(listener.url).port),
    clock: systemClock,
    redact: (text) => text,
    journal: join(directory, 'unused.jsonl'),
  });
  await expect(again).rejects.toMatchObject({ message: `port ${new URL(listener.url).port} is in use` });
});
