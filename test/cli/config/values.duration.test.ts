import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../src/cli/config/values.ts';

describe('a duration', () => {
  it.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['1h30m', 5_400_000],
    ['7d', 604_800_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['250ms', 250],
    ['0s', 0],
  ])('the duration %s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '5', '1.5h', '-5s', '5 s', '30m1h', '1h1h', '5S', '2026-11-20', 'h', '99999999999999d', '٣s'])(
    '%j is no duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );
});
