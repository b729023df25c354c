import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawPartBar } from '../../src/output/bars.ts';

const NONE = { done: 0, atWork: 0, waiting: 0, failed: 0 };

describe('a bar of parts', () => {
  it('has a cell for each part, by its state', () => {
    const counts = { done: 2, atWork: 3, waiting: 1, failed: 1 };
    expect(drawPartBar(counts, 12)).toBe('██▒▒▒░╳');
    expect(drawPartBar(counts, 12, { unicode: false })).toBe('##===.x');
    expect(drawPartBar(NONE, 12)).toBe('');
  });

  it('is full only when all parts are done', () => {
    expect(drawPartBar({ ...NONE, done: 99, atWork: 1 }, 10)).toBe('█████████▒');
    expect(drawPartBar({ ...NONE, done: 100 }, 10)).toBe('██████████');
    expect(drawPartBar({ ...NONE, done: 1, atWork: 998, failed: 1 }, 10)).toBe('█▒▒▒▒▒▒▒▒╳');
  });

  it('keeps to its width, and a cell for every state that has parts', () => {
    const count = fc.nat({ max: 500 });
    const counts = fc.record({ done: count, atWork: count, waiting: count, failed: count });
    fc.assert(
      fc.property(counts, fc.integer({ min: 4, max: 40 }), (given, width) => {
        const bar = drawPartBar(given, width, { unicode: false });
        const total = given.done + given.atWork + given.waiting + given.failed;
        expect(bar).toHaveLength(Math.min(total, width));
        for (const [sign, parts] of [
          ['#', given.done],
          ['=', given.atWork],
          ['.', given.waiting],
          ['x', given.failed],
        ] as const)
          expect(bar.includes(sign)).toBe(parts > 0);
      }),
    );
  });
});
