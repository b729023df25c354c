import { csvRow, excelSafeRows } from '../output/csv.ts';
import { RESULT_COLUMNS } from '../schema/account-updater-files.ts';
import { readResults, type ResultRow } from './read-results.ts';
import {
  type ActionGroup,
  actionGroupOf,
  type Actions,
  explainResultCode,
  RESULT_CODES,
  type ResultClass,
  type ResultCode,
} from './result-codes.ts';

/** How often one code came, and what it asks for. */
export interface CodeCount extends ResultCode {
  readonly code: string;
  readonly count: number;
  /** False for a code that the interface does not name. */
  readonly known: boolean;
}

/** What a result file holds, in numbers. Rows without any update stand in no result file. */
export interface ResultSummary {
  readonly rows: number;
  readonly updated: number;
  readonly warned: number;
  readonly errors: number;
  /** Rows with codes of no known prefix. */
  readonly unknown: number;
  /** Codes in the order of the interface, then those not known there, by name. */
  readonly codes: readonly CodeCount[];
  /** Names of the columns that the interface does not name; not told by a file without rows. */
  readonly extraColumns: readonly string[];
}

/** Stands for all codes beyond the first thousand different ones: no result file, but memory stays flat. */
const OTHER_CODES = '(other codes)';

const MOST_CODES = 1_000;

/** Counts the rows of a result file by code and class, in flat memory. Fails as `readResults` does. */
export async function summarizeResults(source: AsyncIterable<Uint8Array>): Promise<ResultSummary> {
  const counts = new Map<string, number>();
  let extraColumns: readonly string[] = [];
  for await (const rows of readResults(source)) {
    for (const { result_code, extra, row } of rows) {
      if (row === 1) extraColumns = Object.keys(extra);
      const code = counts.size < MOST_CODES || counts.has(result_code) ? result_code : OTHER_CODES;
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
  }
  const codes = [...counts]
    .map(([code, count]) => codeCount(code, count))
    .toSorted((a, b) => place(a.code) - place(b.code) || (a.code < b.code ? -1 : 1));
  return {
    rows: total(codes),
    updated: total(codes, 'updated'),
    warned: total(codes, 'warned'),
    errors: total(codes, 'error'),
    unknown: total(codes, 'unknown'),
    codes,
    extraColumns,
  };
}

function codeCount(code: string, count: number): CodeCount {
  return { code, count, ...explainResultCode(code) };
}

function place(code: string): number {
  const at = Object.keys(RESULT_CODES).indexOf(code);
  return at === -1 ? Infinity : at;
}

function total(codes: readonly CodeCount[], group?: ResultClass): number {
  return codes.reduce(
    (sum, code) => (group === undefined || code.class === group ? sum + code.count : sum),
    0,
  );
}

/** A row of a result file, and the group that it belongs to. */
export interface GroupedRow {
  readonly group: ActionGroup;
  /** The header of every group: the interface's columns, then all others of the file. */
  readonly header: string;
  /** The row below that header, with its line end. */
  readonly line: string;
}

/** Sorts the rows of a result file by what there is to do, in their order and with all their columns; in batches. */
export async function* splitResults(
  source: AsyncIterable<Uint8Array>,
  actions: Actions,
  excelSafe = false,
): AsyncGenerator<readonly GroupedRow[], void> {
  let names: readonly string[] | undefined;
  for await (const rows of readResults(source)) {
    const columns = (names ??= [...RESULT_COLUMNS, ...Object.keys(rows[0]?.extra ?? {})]);
    const lineOf = (cells: readonly string[]): string =>
      excelSafe ? excelSafeRows(columns, [cells]) : csvRow(cells);
    const header = lineOf(columns);
    yield rows.map((row) => ({
      group: actionGroupOf(row.result_code, row.new_token !== '', actions),
      header,
      line: lineOf(cellsOf(row)),
    }));
  }
}

function cellsOf(row: ResultRow): string[] {
  return [...RESULT_COLUMNS.map((name) => row[name]), ...Object.values(row.extra)];
}
