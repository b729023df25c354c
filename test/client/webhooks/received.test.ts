import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headersToForward, headersToKeep, KnownIds, readDelivery } from '../../../src/client/webhooks/received.ts';

function read(value: unknown): ReturnType<typeof readDelivery> {
  return readDelivery(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
}

describe('reading a delivery', () => {
  it('the reader of deliveries keeps types and members that nobody knows', () => {
    const odd = { event: { id: '1', type: 'tenant.moved', data: 'text', more: [1] }, extra: { a: null } };
    expect(read(odd)).toEqual({ delivery: odd });
  });

  it.each([
    ['', 'the body is empty'],
    [' \n', 'the body is empty'],
    ['{"event":', 'the body is not JSON'],
    ['hello', 'the body is not JSON'],
    ['[]', 'the body is JSON, but has no event member'],
    ['null', 'the body is JSON, but has no event member'],
    ['{"event":[]}', 'the body is JSON, but has no event member'],
    ['{"event":{"type":"t"}}', 'event.id is missing or not a string'],
    ['{"event":{"id":7,"type":"t"}}', 'event.id is missing or not a string'],
    ['{"event":{"id":"1","type":""}}', 'event.type is missing or not a string'],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'the body is nested too deeply'],
    [`{"event":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`, 'the body is nested too deeply'],
  ])('the reader of deliveries says what is wrong with %.40s', (text, problem) => {
    expect(read(text)).toEqual({ problem });
  });

  it('the reader of deliveries does not take brackets in text for depth', () => {
    const deep = { event: { id: '1', type: 't', note: `\\"${'[{'.repeat(500)}` } };
    expect(read(deep)).toEqual({ delivery: deep });
  });

  it('the reader of deliveries refuses what is not UTF-8', () => {
    expect(readDelivery(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))).toEqual({ problem: 'the body is not UTF-8 text' });
  });

  it('the reader of deliveries never throws, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          const result = readDelivery(bytes);
          expect('problem' in result || 'delivery' in result).toBe(true);
        },
      ),
    );
  });
});

describe('known ids', () => {
  it('known ids tell an id that came before, and stay few', () => {
    const ids = new KnownIds(3);
    expect(['a', 'b', 'a', 'c', 'd', 'a', 'b'].map((id) => ids.add(id))).toEqual([
      false,
      false,
      true,
      false,
      false,
      true,
      false,
    ]);
    expect(ids.size).toBe(3);
  });

  it('known ids know long ids too', () => {
    const ids = new KnownIds();
    const long = 'x'.repeat(500_000);
    expect([ids.add(`${long}1`), ids.add(`${long}2`), ids.add(`${long}1`)]).toEqual([false, false, true]);
  });
});

describe('headers', () => {
  const headers = new Map([
    ['host', 'localhost'],
    ['content-type', 'application/json; charset=utf-8'],
    ['content-length', '5'],
    ['transfer-encoding', 'chunked'],
    ['x-webhook-signature', 't=1,v1=abc'],
    ['authorization', 'Bearer canary-1'],
    ['svc-api-key', 'canary-2'],
    ['x-api-key', 'canary-3'],
    ['cookie', 'a=canary-4'],
    ['x-odd', 'a\u0100b'],
  ]);

  it('R06: headers that hold keys are neither kept nor passed on; a signature is both', () => {
    const kept = headersToKeep(headers, (text) => text);
    const passed = headersToForward(headers);
    expect(JSON.stringify([kept, passed])).not.toContain('canary');
    expect(kept).toMatchObject({ authorization: '[hidden]', 'x-webhook-signature': 't=1,v1=abc' });
    expect(passed).toEqual({ 'content-type': 'application/json; charset=utf-8', 'x-webhook-signature': 't=1,v1=abc' });
  });

  it('headers that are passed on name a type also where none came', () => {
    expect(headersToForward(new Map())).toEqual({ 'content-type': 'application/json' });
  });
});
