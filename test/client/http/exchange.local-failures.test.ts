import type { Dispatcher } from 'undici';
import { expect, it } from 'vitest';
import { exchange } from '../../../src/client/http/exchange.ts';
import { TransportFailure } from '../../../src/client/http/transport-failure.ts';
import type { Transport } from '../../../src/client/http/transport.ts';
import { CREATE, failureOf, makeCore, PATIENT, READ } from './support/core.ts';

const NO_MEMORY = 'WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance';

/** A transport whose connections fail with an error, before or after the request is sent. */
function failing(error: Error, when: 'before' | 'after'): Transport {
  const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController;
  const dispatcher = {
    dispatch(_: unknown, handler: Dispatcher.DispatchHandler) {
      if (when === 'after') handler.onRequestStart?.(controller, undefined);
      handler.onResponseError?.(controller, error);
      return true;
    },
  } as unknown as Dispatcher;
  const lease = { dispatcher, isReused: false, brokenBy: () => undefined, release: () => undefined };
  return { guard: {}, acquire: () => lease, close: async () => undefined };
}

const READ_SENT = { method: 'GET', url: new URL('http://127.0.0.1:1/'), headers: {}, limits: PATIENT };

it('an error without a code is a failure of this machine, with its class and message but without an address', async () => {
  const error = new TypeError('cannot parse https://store.example/x?sig=secret today');
  const failure = await failureOf(exchange(failing(error, 'after'), READ_SENT));
  expect(failure).toMatchObject({
    code: 'local',
    message: 'failed on this machine: TypeError: cannot parse (address) today',
    retryable: false,
  });
});

it('an error with a code of the system or undici is a failure of the network', async () => {
  for (const code of ['EHOSTUNREACH', 'UND_ERR_INFO']) {
    const error = Object.assign(new Error('x'), { code });
    await expect(exchange(failing(error, 'before'), READ_SENT)).rejects.toMatchObject({ systemCode: code });
    await expect(exchange(failing(error, 'before'), READ_SENT)).rejects.toBeInstanceOf(TransportFailure);
  }
});

it('memory that the system does not give to WebAssembly names ulimit -v and what repairs it', async () => {
  const failure = await failureOf(exchange(failing(new RangeError(NO_MEMORY), 'before'), READ_SENT));
  expect(failure).toMatchObject({
    code: 'local',
    message: expect.stringContaining('RangeError'),
    hint: expect.stringMatching(/ulimit -v.*NODE_OPTIONS=--disable-wasm-trap-handler.*Node 24/),
  });
});

it('R20: a change whose request was sent before an error without a code has an unknown outcome', async () => {
  const url = new URL('http://127.0.0.1:1');
  const sent = makeCore(url, { transport: failing(new RangeError('x'), 'after') });
  expect(await failureOf(sent.call(CREATE))).toMatchObject({ code: 'outcome_unknown' });
  const unsent = makeCore(url, { transport: failing(new RangeError('x'), 'before') });
  expect(await failureOf(unsent.call(CREATE))).toMatchObject({ code: 'local' });
  expect(await failureOf(unsent.call(READ))).toMatchObject({ code: 'local', retryable: false });
});
