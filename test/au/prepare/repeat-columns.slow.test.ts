import { expect, it } from 'vitest';
import { ColumnSamples } from '../../../src/au/prepare/column-samples.ts';
import { RepeatColumns } from '../../../src/au/prepare/repeat-columns.ts';

it('R32: svc au prepare compares the columns of a token with very many rows in bounded memory', () => {
  const names = Array.from({ length: 40 }, (_, at) => `column-${at}`);
  const columns = new RepeatColumns(new ColumnSamples(names, [], undefined).columns);
  const take = (): void => {
    // A set takes 16.7 million cells.
    for (let at = 0; at < 430_000; at += 1) columns.take('token', Array.from(names).fill(String(at)));
  };
  expect(take).not.toThrow();
  expect(columns.found()).toEqual([]);
});
