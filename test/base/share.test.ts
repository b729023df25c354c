import { expect, it } from 'vitest';
import { compareShare } from '../../src/base/share.ts';

it.each([100, 1000])('every whole percentage of %i rows equals the share of its rows', (rows) => {
  const percentages = Array.from({ length: 101 }, (_, at) => at);
  expect(percentages.map((percent) => compareShare((percent * rows) / 100, rows, percent / 100))).toEqual(
    percentages.map(() => 0),
  );
});

it('a share is compared to six decimals of a percentage in 10 million rows', () => {
  expect(compareShare(2_900_001, 10_000_000, 0.29)).toBeGreaterThan(0);
  expect(compareShare(2_899_999, 10_000_000, 0.29)).toBeLessThan(0);
  expect(compareShare(2_900_000, 10_000_000, 28.999_999 / 100)).toBeGreaterThan(0);
});
