import { csvRow, excelSafeRows } from '../csv-row.ts';
import { type Actions, type Pile, pileOf } from './actions.ts';
import { readResults } from './read-results.ts';
import type { ResultRow } from './result-row.ts';
import { RESULT_COLUMNS } from '../schema/account-updater-files.ts';

/** A row of a result file, and the pile that it belongs on. */
export interface PiledRow {
  readonly pile: Pile;
  /** The header of every pile: the interface's columns, then all others of the file. */
  readonly header: string;
  /** The row below that header, with its line end. */
  readonly line: string;
}

/** Sorts the rows of a result file by what there is to do, in their order and with all their columns; in batches. */
export async function* splitResults(
  source: AsyncIterable<Uint8Array>,
  actions: Actions,
  excelSafe = false,
): AsyncGenerator<readonly PiledRow[], void> {
  let names: readonly string[] | undefined;
  for await (const rows of readResults(source)) {
    const columns = (names ??= [...RESULT_COLUMNS, ...Object.keys(rows[0]?.extra ?? {})]);
    const lineOf = (cells: readonly string[]): string =>
      excelSafe ? excelSafeRows(columns, [cells]) : csvRow(cells);
    const header = lineOf(columns);
    yield rows.map((row) => ({
      pile: pileOf(row.result_code, row.new_token !== '', actions),
      header,
      line: lineOf(cellsOf(row)),
    }));
  }
}

function cellsOf(row: ResultRow): string[] {
  return [...RESULT_COLUMNS.map((name) => row[name]), ...Object.values(row.extra)];
}
