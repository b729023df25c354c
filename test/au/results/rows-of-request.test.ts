import { expect, it } from 'vitest';
import { TokenRows } from '../../../src/au/results/rows-of-request.ts';
import { HEADER } from '../rows.ts';

function source(...lines: readonly string[]) {
  const bytes = Buffer.from([...lines, ''].join('\n'));
  return {
    async *open() {
      yield bytes;
    },
  };
}

it('the rows of a token are counted, one for each of its merchants', async () => {
  const rows = await TokenRows.of(source(HEADER, 'a,,,M1', 'b,,,M1', 'a,,,"M,2"', 'a,,,M3'));
  expect(['a', 'b', 'c'].map((token) => rows.countRows(token))).toEqual([3, 1, 1]);
  const placeOf = rows.occurrenceCounter();
  expect(['a', 'b', 'a', 'b', 'a'].map((token) => placeOf(token))).toEqual([0, 0, 1, 0, 2]);
});
