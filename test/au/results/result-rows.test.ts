import { expect, it } from 'vitest';
import { type MatchOptions, ResultRows } from '../../../src/au/results/result-rows.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { HEADER } from '../rows.ts';

function source(...lines: readonly string[]) {
  const bytes = Buffer.from([...lines, ''].join('\n'));
  return {
    async *open() {
      yield bytes;
    },
  };
}

/** Places the results of these tokens among the rows of a request. */
async function placesOf(
  rows: readonly string[],
  tokens: readonly string[],
  options: MatchOptions = {},
): Promise<(number | undefined)[]> {
  const results = source(RESULT_COLUMNS.join(','), ...tokens.map((token) => `${token},,,,,,UPD_PAN`));
  const placeOf = (await ResultRows.match(source(HEADER, ...rows), results, options)).placing();
  return tokens.map((token) => placeOf(token));
}

it.each([
  ['one row for each token', ['a,,,M1', 'b,,,M2', 'c,,,M1'], ['c', 'a'], [0, 0]],
  ['a result for each row', ['a,,,M1', 'b,,,M1', 'a,,,M2', 'a,,,M3'], ['a', 'b', 'a', 'a'], [0, 0, 1, 2]],
  ['no result for one of two rows', ['a,,,M1', 'b,,,M1', 'a,,,M2'], ['a', 'b'], [undefined, 0]],
  ['results in another order', ['a,,,M1', 'b,,,M1', 'a,,,M2'], ['b', 'a', 'a'], [0, undefined, undefined]],
  ['merchants with commas', ['a,,,"M,1"', 'a,,,"N,1"'], ['a'], [undefined]],
])('the rows of results are found or not known: %s', async (_, rows, tokens, places) => {
  expect(await placesOf(rows, tokens)).toEqual(places);
});

it('the rows of results are not known for a token that has more results than rows, where another job may have made them', async () => {
  const rows = ['a,,,M1', 'b,,,M1'];
  expect(await placesOf(rows, ['a', 'b', 'a'], { mayHaveMore: true })).toEqual([undefined, 0, undefined]);
  expect(await placesOf(rows, ['a', 'b'], { mayHaveMore: true })).toEqual([0, 0]);
  // Other tokens are still matched in order.
  const others = ['a,,,M1', 'b,,,M1', 'b,,,M2'];
  expect(await placesOf(others, ['a', 'b', 'a', 'b'], { mayHaveMore: true })).toEqual([undefined, 0, undefined, 1]);
});

it('the rows of results are not known for a token whose rows may have another order, unless its results are equal', async () => {
  const rows = ['a,,,M1', 'a,,,M2', 'b,,,M1', 'b,,,M2', 'c,,,M1', 'c,,,M2'];
  const answers = ['a,,,n1,,,UPD_PAN', 'a,,,n2,,,UPD_PAN', 'b,,,n3,,,UPD_PAN', 'b,,,n3,,,UPD_PAN'];
  const others = ['c,,,n4,,,UPD_PAN', 'c,,,n5,,,UPD_PAN'];
  const results = source(RESULT_COLUMNS.join(','), ...answers, ...others);
  const matched = await ResultRows.match(source(HEADER, ...rows), results, { isUnordered: (key) => key !== 'c' });
  expect(['a', 'b', 'c'].map((token) => matched.isKnown(token))).toEqual([false, true, true]);
});
