import { expect, it, onTestFinished } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { type Clock, systemClock } from '../../../src/base/system.ts';
import { Pacer } from '../../../src/client/http/pacer.ts';
import { blackHole } from '../../support/black-hole.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';
import { answer, json, silence } from '../../support/fault-steps.ts';
import { CREATE, failureOf, makeCore, READ } from './support/core.ts';
import { serve } from '../../support/fault-server.ts';

const REASON = new SvcError('interrupted', 'interrupted');

/** Aborts `call` once it has come to a moment, and returns its error. */
async function abortedOnce(hasCome: () => boolean, call: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
  const abort = new AbortController();
  const ended = call(abort.signal).catch((reason: unknown) => reason);
  await expect.poll(hasCome).toBe(true);
  abort.abort(REASON);
  return ended;
}

/** Makes a signal, and a clock that aborts it as soon as a pause begins. */
function abortInPause(): { clock: Clock; signal: AbortSignal } {
  const abort = new AbortController();
  const sleep: Clock['sleep'] = (ms, signal) => {
    const sleeping = systemClock.sleep(ms, signal);
    abort.abort(REASON);
    return sleeping;
  };
  return { clock: { ...systemClock, sleep }, signal: abort.signal };
}

it.each([
  ['before anything is read', silence('connection')],
  ['while waiting for the headers', silence('request')],
  ['while waiting for the body', silence('headers')],
  ['amid the body', silence('body')],
  ['amid an error body', silence('body', 500)],
])('R19: an abort is honored at once %s', async (_, step) => {
  const server = await serve([step]);
  const hasBegun = (): boolean => server.connections === 1 && (step.on === 'connection' || server.whole().length === 1);
  const error = await abortedOnce(hasBegun, (signal) => makeCore(server.url, { signal }).call(READ));
  expect(error).toBe(REASON);
  await expect.poll(() => server.openConnections).toBe(0);
  expect(server.connections).toBe(1);
});

it('R19: an abort is honored at once while connecting', async () => {
  const hole = await blackHole();
  onTestFinished(() => hole.close());
  let hasBegun = false;
  const trace = (): void => void (hasBegun = true);
  const error = await abortedOnce(
    () => hasBegun,
    (signal) => makeCore(hole.url, { signal, trace }).call(READ),
  );
  expect(error).toBe(REASON);
});

it('R19: an abort is honored at once during the TLS handshake', async () => {
  const server = await serve([silence('connection')]);
  const url = new URL(`https://127.0.0.1:${server.port}`);
  const error = await abortedOnce(
    () => server.connections === 1,
    (signal) => makeCore(url, { signal }).call(CREATE),
  );
  expect(error).toBe(REASON);
  await expect.poll(() => server.openConnections).toBe(0);
});

it.each(['silent', 'silent-tunnel'] as const)('R19: an abort is honored at once at a %s proxy', async (manner) => {
  const proxy = await ConnectProxy.start(manner);
  onTestFinished(() => proxy.close());
  const environment = { https_proxy: `http://127.0.0.1:${proxy.port}` };
  const error = await abortedOnce(
    () => proxy.ledger.length === 1,
    (signal) => makeCore(new URL('https://api.test'), { signal, environment }).call(READ),
  );
  expect(error).toBe(REASON);
  await expect.poll(() => proxy.openConnections).toBe(0);
});

it.each([
  ['a retry', 503, {}],
  ['a rate limit', 429, { 'retry-after': '60' }],
])('R19: an abort is honored at once during the pause of %s', async (_, status, headers) => {
  const server = await serve([answer(status, '', headers)]);
  const core = makeCore(server.url, { ...abortInPause(), random: () => 0.999 });
  expect(await failureOf(core.call(READ))).toBe(REASON);
  expect(server.ledger).toHaveLength(1);
});

it('R19: an abort is honored at once during a pause of pacing', async () => {
  const server = await serve([json({})]);
  const rule = { name: 'all', applies: () => true, count: 1, windowMs: 60_000, blockMs: 0 };
  const { clock, signal } = abortInPause();
  const core = makeCore(server.url, { clock, pacer: new Pacer([rule], clock), signal });
  await core.call(READ);
  expect(await failureOf(core.call(READ))).toBe(REASON);
  expect(server.ledger).toHaveLength(1);
});

it('R19: an abort that came before sends nothing at all', async () => {
  const server = await serve([json({})]);
  const signal = AbortSignal.abort(REASON);
  await expect(makeCore(server.url, { signal }).call(CREATE)).rejects.toBe(REASON);
  expect(server.connections).toBe(0);
});

it('R20: an abort of a request that was sent says that it may have taken effect', async () => {
  const server = await serve([silence('request')]);
  const error = await abortedOnce(
    () => server.whole().length === 1,
    (signal) => makeCore(server.url, { signal }).call(CREATE),
  );
  expect(error).toMatchObject({ code: 'interrupted', exitCode: 130, ...CREATE.whenUnclear });
  expect(String(error)).toContain('may have taken effect');
  expect(server.ledger).toHaveLength(1);
});

it('R20: an abort because the time is up, of a request that was sent, leaves its outcome unknown', async () => {
  const server = await serve([silence('request')]);
  const abort = new AbortController();
  const core = makeCore(server.url, { signal: abort.signal });
  const failure = failureOf(core.call(CREATE));
  await expect.poll(() => server.whole().length).toBe(1);
  abort.abort(new SvcError('timeout', 'not done within 1 s'));
  expect(await failure).toMatchObject({ code: 'outcome_unknown', exitCode: 9 });
});

it('R19: an abort takes no other request along', async () => {
  const server = await serve((request) => (request.path === '/logs' ? silence('request') : json({})));
  const abort = new AbortController();
  const core = makeCore(server.url);
  const aborted = makeCore(server.url, { signal: abort.signal }).call(READ);
  abort.abort(REASON);
  await expect(aborted).rejects.toBe(REASON);
  await expect(core.call({ ...READ, path: '/tenants/self' })).resolves.toBeUndefined();
});
