import { describe, expect, it } from 'vitest';
import { Receiver } from '../../src/http/receiver.ts';

function receiver(signal = new AbortController().signal): Receiver {
  return new Receiver(signal, () => undefined);
}

const HEADERS = ['ETag', '"a"', 'X-Note', 'one', 'x-note', 'two'].map((text) => Buffer.from(text));

describe('an answer as it comes', () => {
  it('tells its head, whatever the case of names, and passes over interim answers', async () => {
    const answer = receiver();
    answer.onHeaders(103, [], () => undefined);
    answer.onHeaders(200, HEADERS, () => undefined);
    const { status, headers } = await answer.head;
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toEqual({ etag: ['"a"'], 'x-note': ['one', 'two'] });
  });

  it('gives its pieces in their order, and is over behind the last', async () => {
    const answer = receiver();
    answer.onHeaders(200, [], () => undefined);
    const more = answer.more();
    answer.onData(Buffer.from('a'));
    answer.onData(Buffer.from('b'));
    answer.onComplete();
    await more;
    expect([answer.take(), answer.take()].map(String)).toEqual(['a', 'b']);
    expect(answer.take()).toBeUndefined();
    expect(answer.isOver).toBe(true);
  });

  it('R45 gives what came before it broke off, and then says that it did', () => {
    const answer = receiver();
    answer.onHeaders(200, [], () => undefined);
    answer.onData(Buffer.from('a'));
    answer.onError(new Error('reset'));
    expect(String(answer.take())).toBe('a');
    expect(() => answer.take()).toThrow('reset');
    expect(answer.isOver).toBe(false);
  });

  it('holds the sender back while nobody takes, and lets it go on once there is room', () => {
    const answer = receiver();
    let resumed = 0;
    answer.onHeaders(200, [], () => (resumed += 1));
    const piece = Buffer.alloc(100_000);
    expect([1, 2, 3].map(() => answer.onData(piece))).toEqual([true, true, false]);
    answer.take();
    expect(resumed).toBe(1);
    answer.take();
    expect(resumed).toBe(1);
  });

  it('R19 gives up at once when it is aborted, pieces and all', async () => {
    const abort = new AbortController();
    const answer = receiver(abort.signal);
    let aborted: unknown;
    answer.onConnect((reason) => (aborted = reason));
    answer.onHeaders(200, [], () => undefined);
    answer.onData(Buffer.from('a'));
    abort.abort(new Error('enough'));
    expect(() => answer.take()).toThrow('enough');
    expect(String(aborted)).toContain('enough');
    await answer.more();
  });

  it('R19 is not even begun when it was aborted before', async () => {
    const abort = new AbortController();
    let sent = false;
    const answer = new Receiver(abort.signal, () => (sent = true));
    abort.abort(new Error('enough'));
    await expect(answer.head).rejects.toThrow('enough');
    let aborted: unknown;
    answer.onConnect((reason) => (aborted = reason));
    expect([sent, String(aborted)]).toEqual([false, 'Error: enough']);
  });

  it('ends its connection when it is dropped on the way, and only then', () => {
    for (const [ended, aborts] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const answer = receiver();
      let aborted = 0;
      answer.onConnect(() => (aborted += 1));
      answer.onHeaders(200, [], () => undefined);
      if (ended) answer.onComplete();
      answer.drop();
      expect(aborted).toBe(aborts);
    }
  });
});
