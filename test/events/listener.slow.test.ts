import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import type { Refusal } from '../../src/client/webhooks/receiver.ts';
import { Listener, type ListenOptions } from '../../src/events/listener.ts';
import type { AcceptedEvent } from '../../src/events/sinks.ts';
import { delivery, post } from './support.ts';

let listener: Listener;
let refused: Refusal[];
let seen: AcceptedEvent[];

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

function soon(ms: number): AbortSignal {
  return AbortSignal.timeout(ms);
}

afterEach(() => listener.finish(soon(0)));

it('the listener asks senders to retry while the disk is full or nobody reads the events', async () => {
  await open({ journal: '/dev/full' });
  const { status, headers } = await post(listener.url, delivery());
  expect({ status, again: headers['retry-after'] }).toEqual({ status: 503, again: '10' });
  expect(refused).toMatchObject([{ status: 503, reason: expect.stringContaining('disk is full') }]);
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
