import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ApiRequest } from '../../../src/client/http/request.ts';
import type { TimeLimits } from '../../../src/client/http/watchdog.ts';
import { FakeClock } from '../../support/clock.ts';
import { FaultServer, serve, type Step } from '../../support/fault-server.ts';
import {
  answer,
  answerThenReset,
  earlyAnswer,
  hangUp,
  head,
  json,
  raw,
  reset,
  silence,
} from '../../support/fault-steps.ts';
import { failureOf, makeCore, only, PATIENT, READ } from './support/core.ts';

const HOW = { hint: 'Check the list.', next: ['au', 'jobs'] };
const REQUESTS: readonly ApiRequest<undefined>[] = [
  { method: 'POST', path: '/account-updater/jobs', key: 'private', body: {}, whenUnclear: HOW },
  { method: 'POST', path: '/3ds/sessions', key: 'private', body: { token_id: 'x'.repeat(5_000) }, whenUnclear: HOW },
  { method: 'PUT', path: '/tenants/self', key: 'management', body: { name: 'n' }, whenUnclear: HOW },
  { method: 'DELETE', path: '/tenants/self', key: 'management', whenUnclear: HOW },
];

const UNCLEAR: [how: string, step: Step, limits?: TimeLimits][] = [
  ['reset at its head', reset('head')],
  ['reset once read', reset('request')],
  ['reset amid the headers of the answer', reset('answer', 30)],
  ['reset amid the body of the answer', reset('answer', 60)],
  ['left without an answer', hangUp()],
  ['left in silence', silence('request'), only('headers')],
  ['answered without end', silence('body'), only('idle')],
  ['answered with 408', answer(408)],
  ['answered with 500', json({ title: 'Broken', trace_id: 'trace-1' }, 500)],
  ['answered with 502', answer(502, '<html><title>Bad gateway</title>', { 'content-type': 'text/html' })],
  ['answered with 503', answer(503, '', { 'retry-after': '1' })],
  ['answered with 504', answer(504)],
  ['answered with nonsense', raw('nonsense\r\n\r\n')],
];

describe.each(REQUESTS.map((request) => [`${request.method} ${request.path}`, request] as const))(
  '%s',
  (_, request) => {
    it.each<(typeof UNCLEAR)[number]>(UNCLEAR)(
      'R20: an unsafe request is not repeated when it is %s: the outcome is unknown',
      async (_what, step, limits = PATIENT) => {
        const server = await serve([step, json({})]);
        const error = await failureOf(makeCore(server.url, { limits }).call(request));
        expect(error).toMatchObject({ code: 'outcome_unknown', exitCode: 9, ...HOW, retryable: false });
        expect(error.message).toContain(`${request.method} ${request.path} may have taken effect`);
        expect(server.ledger).toHaveLength(1);
      },
    );

    it('R20: an unsafe request takes effect at most once when the connection is reset before it is read', async () => {
      for (let round = 0; round < 5; round += 1) {
        const server = await serve([reset('connection'), json({})]);
        // Timing decides whether a byte was sent. The client repeats the request only if surely none was.
        const outcome = await makeCore(server.url)
          .call(request)
          .catch((error: unknown) => error);
        const unclear: unknown = expect.objectContaining({ code: 'outcome_unknown', exitCode: 9 });
        expect([undefined, unclear]).toContainEqual(outcome);
        expect(server.ledger).toHaveLength(outcome === undefined ? 1 : 0);
      }
    });

    it('R20: an unsafe request is repeated after 429, and takes effect once', async () => {
      const server = await serve([answer(429), answer(429, '', { 'retry-after': '2' }), json({}, 201)]);
      const clock = new FakeClock();
      await makeCore(server.url, { clock }).call(request);
      expect(server.ledger).toHaveLength(3);
      expect(clock.slept).toHaveLength(2);
      for (const { body } of server.ledger)
        expect(body).toBe(request.body === undefined ? '' : JSON.stringify(request.body));
    });

    it('R20: an unsafe request is repeated when no connection was made, for nothing was sent', async () => {
      const gone = await FaultServer.start([json({})]);
      const { url } = gone;
      await gone.close();
      const clock = new FakeClock();
      const error = await failureOf(makeCore(url, { clock }).call(request));
      expect(error).toMatchObject({ code: 'network', exitCode: 8, retryable: true });
      expect(clock.slept).toHaveLength(4);
    });

    it('R20: an unsafe request is rejected plainly when the service says no', async () => {
      for (const status of [400, 401, 403, 404, 409, 422, 424]) {
        const server = await serve([answer(status)]);
        const error = await failureOf(makeCore(server.url).call(request));
        expect(error.code).not.toBe('outcome_unknown');
        expect(server.ledger).toHaveLength(1);
      }
    });

    it('R20: a refusal that comes before the body was read is that refusal', async () => {
      const server = await serve([earlyAnswer(413, '{"title":"Too large"}')]);
      const error = await failureOf(makeCore(server.url).call(request));
      expect(error).toMatchObject({ code: 'rejected', status: 413 });
    });
  },
);

describe('requests with an effect', () => {
  const [CREATE] = REQUESTS;
  if (!CREATE) throw new Error('no request');

  it('R20: requests with an effect go on a connection of their own, never on one that was used', async () => {
    const server = await serve([json({})]);
    const core = makeCore(server.url);
    await core.call(READ);
    await core.call(READ);
    expect(server.connections).toBe(1);
    await core.call(CREATE);
    await core.call(CREATE);
    expect(server.connections).toBe(3);
    expect(server.ledger[2]?.headers['connection']).toBe('close');
    await expect.poll(() => server.openConnections).toBe(1);
  });

  it('R20: requests with an effect are not touched by a used connection that broke while it was idle; a read is repeated', async () => {
    const server = await serve([answerThenReset('{}', 0), json({})]);
    const core = makeCore(server.url);
    await core.call(READ);
    await core.call(CREATE);
    await core.call(READ);
    expect(server.whole('POST')).toHaveLength(1);
    expect(server.whole('GET')).toHaveLength(2);
  });

  it('R20: requests with an effect whose good answer cannot be read have an unknown outcome, with the id to ask for', async () => {
    for (const step of [
      raw(`${head(200, { 'content-length': '9', 'x-request-id': 'req-9' })}{"id": 1`.padEnd(200)),
      answer(201, '', { 'x-request-id': 'req-9' }),
      json({ other: 1 }, 200, { 'x-request-id': 'req-9' }),
    ]) {
      const server = await serve([step]);
      const shape = z.looseObject({ id: z.string() });
      const error = await failureOf(makeCore(server.url).call({ ...CREATE, shape }));
      expect(error).toMatchObject({ code: 'outcome_unknown', requestId: 'req-9', ...HOW });
      expect(server.ledger).toHaveLength(1);
    }
  });
});
