import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { duration, positiveDuration } from '../../../src/cli/app/value-parsers.ts';

it.each([
  ['90s', 90_000],
  ['15m', 900_000],
  ['1h30m', 5_400_000],
  ['7d', 604_800_000],
  ['1w2d', 777_600_000],
  ['1d2h3m4s5ms', 93_784_005],
  ['250ms', 250],
  ['0s', 0],
])('the duration %s is %d ms', (text, ms) => {
  expect(duration(text)).toBe(ms);
});

it.each([
  '',
  '5',
  's',
  'h',
  '1.5h',
  '-1s',
  '5 s',
  '5S',
  '1h 30m',
  '30m1h',
  '1h1h',
  '1e3s',
  '2026-11-20',
  '٣s',
  '99999999999999999999d',
])('a duration refuses %j', (text) => {
  expect(() => duration(text)).toThrow(/^must be a duration/);
});

it('a duration is the sum of its parts', () => {
  const part = fc.nat(500);
  fc.assert(
    fc.property(part, part, part, part, part, (w, d, h, m, s) => {
      expect(duration(`${w}w${d}d${h}h${m}m${s}s`)).toBe(((((w * 7 + d) * 24 + h) * 60 + m) * 60 + s) * 1000);
    }),
  );
});

it('a duration can be required to be greater than zero', () => {
  expect(() => positiveDuration('0s')).toThrow(/greater than zero/);
});
