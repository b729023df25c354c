import { csvRow } from '../../cli/output/csv.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { readRequest } from '../request/request-lines.ts';
import { tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';
import { readResults } from '../result-codes.ts';
import type { Rereadable } from './reconcile.ts';

/** The tokens of a request file, each with the number of its first row, starting at 1. */
export type RowNumbers = Pick<TokenTable, 'get'>;

/** Numbers the rows of a request file by their tokens. `expected` is the number of its rows. */
export async function rowNumbersOf(file: string, expected: number): Promise<RowNumbers> {
  const table = new TokenTable({ words: 3, expected });
  let number = 0;
  for await (const rows of readRequest((await fileSource(file)).open()))
    for (const { token } of rows) table.setIfAbsent(tokenKey(token), (number += 1));
  return table;
}

/** Leaves out the results of tokens that a request does not have. A job of another run may have rows of other files. */
export function onlyRequested(results: Rereadable, numbers: RowNumbers): Rereadable {
  return {
    async *open() {
      yield Buffer.from(csvRow(RESULT_COLUMNS));
      for await (const rows of readResults(results.open())) {
        const own = rows.filter(({ token }) => numbers.get(tokenKey(token)) !== 0);
        yield Buffer.from(own.map((row) => csvRow(RESULT_COLUMNS.map((name) => row[name]))).join(''));
      }
    },
  };
}
