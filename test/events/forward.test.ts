import { afterEach, expect, it } from 'vitest';
import { createTransport } from '../../src/client/http/transport.ts';
import { forward, FORWARD_LIMITS, type ForwardResult } from '../../src/events/forward.ts';
import { FakeClock } from '../support/clock.ts';
import { FaultServer, type Script } from '../support/fault-server.ts';
import { answer, reset, silence } from '../support/fault-steps.ts';

const event = { headers: { 'content-type': 'application/json', 'x-signature': 'v1=ab' }, body: '{"ü": 1}\n' };
const never = new AbortController().signal;

let target: FaultServer;
let clock: FakeClock;
const transport = createTransport();

afterEach(async () => {
  await target.close();
  await transport.close();
});

async function send(script: Script, more = {}, signal = never): Promise<ForwardResult> {
  target = await FaultServer.start(script);
  clock = new FakeClock();
  const options = { transport, clock, random: () => 0.5, ...more };
  return forward(new URL('/hooks?a=1', target.url), event, options, signal);
}

it('forwarding posts the same bytes with their headers', async () => {
  expect(await send([answer(204)])).toEqual({ attempts: 1, status: 204 });
  const [got] = target.whole('POST');
  expect(got).toMatchObject({ headers: { 'content-type': 'application/json', 'x-signature': 'v1=ab' } });
  expect(got?.path).toBe('/hooks?a=1');
  expect(Buffer.from(got?.body ?? '', 'latin1').toString()).toBe(event.body);
});

it('forwarding tries again where that may help', async () => {
  expect(await send([reset('request'), answer(503), answer(429), answer(200)])).toEqual({ attempts: 4, status: 200 });
  expect(clock.slept).toEqual([250, 500, 1000]);
});

it('forwarding waits as long as it is asked to, within reason', async () => {
  await send([answer(503, '', { 'retry-after': '7' }), answer(503, '', { 'retry-after': '86400' }), answer(200)]);
  expect(clock.slept).toEqual([7_250, 60_500]);
});

it.each([400, 401, 404, 410, 413, 422])('forwarding does not repeat what was refused with %d', async (status) => {
  expect(await send([answer(status)])).toEqual({ attempts: 1, status, reason: `it responded ${status}` });
});

it('forwarding does not follow a redirect', async () => {
  expect(await send([answer(302, '', { location: 'http://127.0.0.1:1/' })])).toEqual({
    attempts: 1,
    status: 302,
    reason: 'it redirects (302)',
  });
});

it('forwarding gives up a target that hangs', async () => {
  const limits = { ...FORWARD_LIMITS, headers: 60 };
  expect(await send([silence('request')], { limits })).toEqual({
    attempts: 5,
    reason: 'it stayed silent within 0.06 s',
  });
  expect(target.whole('POST')).toHaveLength(5);
});

it('forwarding ends at once when it is aborted', async () => {
  const abort = new AbortController();
  const sending = send([silence('request')], {}, abort.signal);
  setTimeout(() => abort.abort(), 50);
  expect(await sending).toMatchObject({ attempts: 1, reason: expect.stringContaining('time was up') });
});
