import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  FaultChooser,
  matchesCall,
  readCallPattern,
  readFault,
  readFaults,
} from '../../../src/emulator/faults/fault.ts';
import { FaultSyntaxError } from '../../../src/emulator/faults/occasion.ts';

const logs = { method: 'GET', path: '/logs' };
const always = { first: 1, last: Infinity, probability: 1 } as const;

it.each([
  ['429@GET /logs:0.1', { status: 429 }, { ...always, probability: 0.1 }],
  ['429@GET /logs', { status: 429 }, always],
  [
    '503,retry-after=5,latency=2s@GET /logs:#3',
    { status: 503, latency: 2000, headers: { 'retry-after': '5' } },
    { ...always, first: 3, last: 3 },
  ],
  ['hang@GET /logs:#2-4', { hang: 'head' }, { ...always, first: 2, last: 4 }],
  ['hang=body@GET /logs:#2-', { hang: 'body' }, { ...always, first: 2, last: Infinity }],
  ['503,applied@GET /logs', { status: 503, applied: true }, always],
  ['reset@GET /logs:1', { reset: 'head' }, { ...always, probability: 1 }],
  ['reset=100@GET /logs:.5', { reset: 100 }, { ...always, probability: 0.5 }],
  ['truncate=7@GET /logs', { truncate: 7 }, always],
  ['trickle=20ms@GET /logs', { trickle: 20 }, always],
  ['redirect=http://user@host:1/x@GET /logs', { redirect: 'http://user@host:1/x' }, always],
  ['malformed@GET /logs', { malformed: true }, always],
  ['encode=deflate@GET /logs', { encode: 'deflate' }, always],
])('a fault in one line reads %s', (text, effect, occasion) => {
  expect(readFault(text)).toEqual({ text, call: logs, effect, occasion });
});

it.each([
  '',
  '429',
  '429@',
  '429@/logs',
  '429@GET logs',
  '429@get /logs',
  '99@GET /logs',
  '600@GET /logs',
  'slow@GET /logs',
  'latency@GET /logs',
  'latency=2@GET /logs',
  'latency=2h@GET /logs',
  'reset=x@GET /logs',
  'truncate@GET /logs',
  'redirect@GET /logs',
  'hang=tail@GET /logs',
  '429@GET /logs:0',
  '429@GET /logs:1.5',
  '429@GET /logs:#0',
  '429@GET /logs:#3-2',
  '429@GET /logs:x',
  '429@GET /logs:',
  '429@GET /logs?a=1',
  '429@GET /a:b:0.1',
  '429@GET /logs 0.1',
])('a fault in one line refuses %j in words that do not repeat it', (text) => {
  const error = thrownBy(() => readFault(text));
  expect(error).toBeInstanceOf(FaultSyntaxError);
  expect(error?.message).toMatch(/^expected /);
});

it('a fault in one line never fails otherwise, whatever is written', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('', '@GET /logs', '@* **:0.5'), (text, rest) => {
      const error = thrownBy(() => readFault(text + rest));
      expect([undefined, FaultSyntaxError]).toContain(error?.constructor);
    }),
  );
});

it.each([
  ['GET /logs', 'GET', '/logs?size=1', true],
  ['GET /logs', 'POST', '/logs', false],
  ['GET /logs', 'GET', '/logs/entity-types', false],
  ['GET /account-updater/jobs/*', 'GET', '/account-updater/jobs/a-b', true],
  ['GET /account-updater/jobs/*', 'GET', '/account-updater/jobs', false],
  ['GET /account-updater/*', 'GET', '/account-updater/jobs/x', false],
  ['* /account-updater/**', 'PUT', '/account-updater/jobs/x', true],
  ['* **', 'DELETE', '//x', true],
  ['GET /a.c', 'GET', '/abc', false],
])('the pattern %s matches %s %s: %s', (pattern, method, target, expected) => {
  expect(matchesCall(readCallPattern(pattern)!, method, target)).toBe(expected);
});

it('several faults are one a line or separated by semicolons, with a seed and comments', () => {
  const text = '# an outage\n429@GET /logs:0.1; seed=7\n\n418,x-a=b,body=tea@GET /logs:#2;';
  expect(readFaults(text)).toEqual({
    seed: 7,
    faults: [
      { text: '429@GET /logs:0.1', call: logs, effect: { status: 429 }, occasion: { ...always, probability: 0.1 } },
      {
        text: '418,x-a=b,body=tea@GET /logs:#2',
        call: logs,
        effect: { status: 418, headers: { 'x-a': 'b' }, body: 'tea' },
        occasion: { ...always, first: 2, last: 2 },
      },
    ],
  });
  expect(readFaults('')).toEqual({ faults: [], seed: undefined });
});

it('several faults are refused with the number of the one that is wrong', () => {
  expect(() => readFaults('429@GET /logs\nnonsense')).toThrow(/^fault 2: expected an effect/);
  expect(thrownBy(() => readFaults('[{"on":"GET /logs"}]'))).toBeInstanceOf(FaultSyntaxError);
});

it('the choice of a fault is the same for the same seed, another for another, and as frequent as requested', () => {
  const struck = run(1, '429@GET /logs:0.1');
  expect(run(1, '429@GET /logs:0.1')).toEqual(struck);
  expect(run(2, '429@GET /logs:0.1')).not.toEqual(struck);
  const share = struck.filter(Boolean).length / struck.length;
  expect(share).toBeGreaterThan(0.07);
  expect(share).toBeLessThan(0.13);
});

it('the choice of a fault counts the requests that a rule is about, and takes the first rule that strikes', () => {
  expect(run(1, '500@GET /logs:#2; 501@GET /logs:#2-4; 502@POST /logs', 5)).toEqual([
    undefined,
    500,
    501,
    501,
    undefined,
  ]);
});

function run(seed: number, line: string, count = 2000): (number | undefined)[] {
  const chooser = new FaultChooser(readFaults(line).faults, seed);
  return Array.from({ length: count }, () => chooser.choose('GET', '/logs')?.status);
}

function thrownBy(act: () => unknown): Error | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
