import { expect, it } from 'vitest';
import { Receiver, type ReceiverOptions } from '../../../src/client/http/receiver.ts';

const watchdog = {
  sending: () => undefined,
  responding: () => undefined,
  received: () => undefined,
  stop: () => undefined,
};

function receiver(options: Partial<ReceiverOptions> = {}): Receiver {
  return new Receiver({ signal: new AbortController().signal, watchdog, ...options });
}

function never(): never {
  throw new Error('a connection is never paused');
}

/** Returns a controller like the one with which undici aborts requests. It records every abort. */
function controller(): { aborts: unknown[]; value: Parameters<Receiver['onRequestStart']>[0] } {
  const aborts: unknown[] = [];
  const abort = (reason: Error): void => void aborts.push(reason.message);
  return { aborts, value: { aborted: false, paused: false, reason: null, abort, pause: never, resume: never } };
}

const ANY = controller().value;

/** Collects the body. */
function gather(response: Receiver): { pieces: string[]; done: Promise<void> } {
  const pieces: string[] = [];
  return { pieces, done: response.receive((piece) => void pieces.push(Buffer.from(piece).toString())) };
}

it('a response as it comes hands its pieces on in their order, those that came before the reader too', async () => {
  const response = receiver();
  response.onResponseStart(ANY, 200, {});
  response.onResponseData(ANY, Buffer.from('a'));
  const { pieces, done } = gather(response);
  expect(pieces).toEqual(['a']);
  response.onResponseData(ANY, Buffer.from('b'));
  expect(pieces).toEqual(['a', 'b']);
  response.onResponseEnd();
  await done;
});

it('R45: a response as it comes hands on what came before it broke off, and then fails', async () => {
  const response = receiver();
  response.onResponseStart(ANY, 200, {});
  response.onResponseData(ANY, Buffer.from('a'));
  response.onResponseError(ANY, new Error('reset'));
  const { pieces, done } = gather(response);
  await expect(done).rejects.toThrow('reset');
  expect(pieces).toEqual(['a']);
});

it('a response as it comes keeps no more than a bound for a reader that does not come', async () => {
  const response = receiver();
  const { aborts, value } = controller();
  response.onRequestStart(value);
  response.onResponseStart(ANY, 200, {});
  const piece = Buffer.alloc(16 * 1024 * 1024);
  for (let n = 0; n < 5; n += 1) response.onResponseData(ANY, piece);
  expect(aborts).toHaveLength(1);
  await expect(gather(response).done).rejects.toThrow('not read in time');
});

it('a response as it comes drops its connection when a piece cannot be taken, and hands on no more', async () => {
  const response = receiver();
  const { aborts, value } = controller();
  response.onRequestStart(value);
  response.onResponseStart(ANY, 200, {});
  let taken = 0;
  const done = response.receive(() => {
    taken += 1;
    throw new Error('disk full');
  });
  response.onResponseData(ANY, Buffer.from('a'));
  response.onResponseData(ANY, Buffer.from('b'));
  await expect(done).rejects.toMatchObject({ cause: new Error('disk full') });
  expect([taken, aborts.length]).toEqual([1, 1]);
});

it.each([
  ['is complete', (response: Receiver) => response.onResponseEnd()],
  ['breaks off', (response: Receiver) => response.onResponseError(ANY, new Error('reset'))],
])('R70: a response as it comes fails as its reader does when it %s before the reader takes it', async (_, end) => {
  const response = receiver();
  response.onResponseStart(ANY, 200, {});
  for (const piece of ['a', 'b', 'c']) response.onResponseData(ANY, Buffer.from(piece));
  end(response);
  const taken: string[] = [];
  const done = response.receive((piece) => {
    taken.push(Buffer.from(piece).toString());
    if (taken.length === 2) throw new Error('disk full');
  });
  await expect(done).rejects.toMatchObject({ cause: new Error('disk full') });
  expect(taken).toEqual(['a', 'b']);
});

it('a response as it comes fails as it failed first, whatever happens before its reader takes it', async () => {
  const response = receiver();
  response.onResponseStart(ANY, 200, {});
  response.onResponseError(ANY, new Error('reset'));
  response.onResponseError(ANY, new Error('aborted because of the reset'));
  response.drop();
  await expect(gather(response).done).rejects.toThrow(/^reset$/);
});

it.each([
  ['aborted', 'aborted'],
  ['dropped', 'its response was not complete in time'],
])('R70: a response as it comes fails when it is complete and %s before its reader takes it', async (how, message) => {
  const abort = new AbortController();
  const response = receiver({ signal: abort.signal });
  response.onResponseStart(ANY, 200, {});
  response.onResponseData(ANY, Buffer.from('a'));
  response.onResponseEnd();
  if (how === 'aborted') abort.abort(new Error('aborted'));
  else response.drop();
  const { pieces, done } = gather(response);
  await expect(done).rejects.toThrow(message);
  expect(pieces).toEqual([]);
});

it('R19: a response as it comes gives up at once when it is aborted, pieces and all', async () => {
  const abort = new AbortController();
  const response = receiver({ signal: abort.signal });
  const { aborts, value } = controller();
  response.onRequestStart(value);
  response.onResponseStart(ANY, 200, {});
  response.onResponseData(ANY, Buffer.from('a'));
  abort.abort(new Error('enough'));
  const { pieces, done } = gather(response);
  await expect(done).rejects.toThrow('enough');
  expect([pieces, aborts]).toEqual([[], ['enough']]);
});

it('a response as it comes ends its connection when it is dropped on the way, and only then', () => {
  for (const [ended, count] of [
    [false, 1],
    [true, 0],
  ] as const) {
    const response = receiver();
    const { aborts, value } = controller();
    response.onRequestStart(value);
    response.onResponseStart(ANY, 200, {});
    if (ended) response.onResponseEnd();
    response.drop();
    expect(aborts).toHaveLength(count);
  }
});
