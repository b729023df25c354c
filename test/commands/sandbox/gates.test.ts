import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectation, peakRate, rateLimit, unmet } from '../../../src/commands/sandbox/exec.ts';

describe('an expectation', () => {
  it.each([
    ['GET /logs>=1', { call: 'GET /logs', operator: '>=', count: 1 }],
    ['GET /logs', { call: 'GET /logs', operator: '>=', count: 1 }],
    ['* /3ds/**=0', { call: '* /3ds/**', operator: '=', count: 0 }],
    ['POST /a/*<3', { call: 'POST /a/*', operator: '<', count: 3 }],
    ['PUT **<=3', { call: 'PUT **', operator: '<=', count: 3 }],
  ])('reads %s', (text, expected) => {
    expect(expectation(text)).toEqual(expected);
  });

  it.each(['', '/logs', 'get /logs', 'GET logs', 'GET /logs>=', 'GET /logs>=x', 'GET /logs==1', 'GET  /logs'])(
    'refuses %j',
    (text) => {
      expect(() => expectation(text)).toThrow('must be a method, a path and a count');
    },
  );

  it.each([
    ['>=', [1, 2]],
    ['<=', [0, 1]],
    ['=', [1]],
    ['>', [2]],
    ['<', [0]],
  ] as const)('with %s 1 is met by %j', (operator, met) => {
    const seen = [0, 1, 2].filter(
      (count) =>
        unmet({ expect: [{ call: 'x', operator, count: 1 }], maxRate: undefined }, [], () => count).length === 0,
    );
    expect(seen).toEqual(met);
  });
});

describe('a rate', () => {
  it('is a number of requests in a time', () => {
    expect(rateLimit('10/10s')).toEqual({ requests: 10, ms: 10_000 });
    expect(rateLimit('200/1m')).toEqual({ requests: 200, ms: 60_000 });
    for (const text of ['', '10', '10/', '/10s', '10/0s', '10/10', '-1/1s', '1.5/1s'])
      expect(() => rateLimit(text), text).toThrow('such as 10/10s');
  });

  it('is the most that any span holds: the span after its end is another', () => {
    expect(peakRate([], 1000)).toBe(0);
    expect(peakRate([0, 999, 1000, 1999], 1000)).toBe(2);
    fc.assert(
      fc.property(fc.array(fc.nat(300)), fc.integer({ min: 1, max: 50 }), (times, ms) => {
        const plain = times.map((from) => times.filter((time) => time >= from && time < from + ms).length);
        expect(peakRate(times, ms)).toBe(Math.max(0, ...plain));
      }),
    );
  });

  it('is told when it was too high', () => {
    const gates = { expect: [], maxRate: { requests: 2, ms: 1000 } };
    expect(unmet(gates, [0, 1, 1001], () => 0)).toEqual([]);
    expect(unmet(gates, [0, 1, 999], () => 0)).toEqual(['3 requests within 1 s, expected at most 2']);
  });
});
