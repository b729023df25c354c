import { csvRow } from '../csv-row.ts';
import { type Actions, type Pile, pileOf } from './actions.ts';
import { readResults, type ResultRow } from './read-results.ts';
import { RESULT_COLUMNS } from '../schema/account-updater-files.ts';

/** A row of a result file, and the pile that it belongs on. */
export interface PiledRow {
  readonly pile: Pile;
  /** The header of every pile: the interface's columns, then all others of the file. */
  readonly header: string;
  /** The row below that header, with its line end. */
  readonly line: string;
}

/** Sorts the rows of a result file by what there is to do, in their order and with all their columns. */
export async function* splitResults(
  source: AsyncIterable<Uint8Array>,
  actions: Actions,
): AsyncGenerator<PiledRow, void> {
  let header: string | undefined;
  for await (const row of readResults(source)) {
    header ??= csvRow([...RESULT_COLUMNS, ...Object.keys(row.extra)]);
    yield { pile: pileOf(row.result_code, row.new_token !== '', actions), header, line: lineOf(row) };
  }
}

function lineOf(row: ResultRow): string {
  return csvRow([...RESULT_COLUMNS.map((name) => row[name]), ...Object.values(row.extra)]);
}
