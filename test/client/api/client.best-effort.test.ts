import { afterEach, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { Client } from '../../../src/client/api/client.ts';
import type { TraceEvent } from '../../../src/client/http/trace.ts';
import { FakeClock } from '../../support/clock.ts';
import { FaultServer } from '../../support/fault-server.ts';
import { answer, json, reset, silence } from '../../support/fault-steps.ts';

const ENTRIES = { data: [{ created_at: '2026-01-05T12:00:00Z' }], pagination: { next: null } };
const EXTRA = { method: 'GET', path: '/applications', key: 'management' } as const;
let server: FaultServer;

afterEach(() => server.close());

it.each([
  ['fails', json({}, 500), 'server'],
  ['is refused', json({}, 403), 'forbidden'],
  ['is refused for its rate', answer(429, '', { 'retry-after': '60' }), 'rate_limited'],
  ['is not JSON', answer(200, '<html>'), 'bad_response'],
  ['is reset', reset('request'), 'network'],
  ['gets no response', silence('request'), 'timeout'],
  ['gets half a response', silence('body'), 'timeout'],
])(
  'R86: a best-effort read that %s is sent once, fails without an exception, and delays no other request',
  async (_, step, code) => {
    server = await FaultServer.start(({ path }) => (path === EXTRA.path ? step : json(ENTRIES)));
    const clock = new FakeClock();
    const events: TraceEvent[] = [];
    const trace = (event: TraceEvent): void => void events.push(event);
    const client = new Client({ baseUrl: server.url, managementKey: 'a-key', clock, trace });
    const error = await client.bestEffort(({ any }) => any.send(EXTRA));
    expect(error).toBeInstanceOf(SvcError);
    expect(error).toMatchObject({ code });
    expect(server.ledger).toHaveLength(1);
    expect(events.at(-1)).toEqual({ kind: 'done without', reason: (error as SvcError).message });
    for await (const log of client.logs.list()) expect(log).toMatchObject(ENTRIES.data[0] ?? {});
    expect(clock.slept).toEqual([]);
    await client.close();
  },
);

it('a best-effort read that waits for the rate limit reports no pause, and gives up', async () => {
  server = await FaultServer.start([json(ENTRIES)]);
  const clock = new FakeClock({ auto: false });
  const events: TraceEvent[] = [];
  const trace = (event: TraceEvent): void => void events.push(event);
  const client = new Client({ baseUrl: server.url, managementKey: 'a-key', clock, trace });
  for (let request = 0; request < 48; request += 1) await client.any.send(EXTRA);
  expect(await client.bestEffort(({ any }) => any.send(EXTRA))).toMatchObject({ code: 'timeout' });
  expect(server.ledger).toHaveLength(48);
  expect(events.filter(({ kind }) => kind === 'wait')).toEqual([]);
  await client.close();
});
