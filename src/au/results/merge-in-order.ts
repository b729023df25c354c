// Merges result files in the order of the rows of the request.

import { csvRow, csvRows } from '../../cli/output/csv.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { readResults, type ResultRow } from '../result-codes.ts';
import type { PartRows } from './rows-of-request.ts';

/** How many lines are written at once. */
const LINES_AT_ONCE = 1000;

/** A row of a result file, with the number of its row in the request. */
interface NumberedRow {
  readonly row: ResultRow;
  readonly number: number;
}

/**
 * Merges the results of jobs in the order of the request, without rows of other requests. `rows` has the rows of each part. If
 * two files have a result for the same row, the later file counts. A file in the order of the request is read row by row; any
 * other file is sorted in memory first.
 */
export async function* mergedInOrder(parts: readonly string[], rows: readonly PartRows[]): AsyncGenerator<string> {
  const extra = await extraColumns(parts);
  yield csvRow([...RESULT_COLUMNS, ...extra]);
  const files = parts.map((part, at) => rowsInOrder(part, rows[at]));
  // The next unwritten row of each file.
  const heads = await Promise.all(files.map(nextOf));
  const written = { number: 0, file: -1 };
  let lines: (readonly string[])[] = [];
  for (;;) {
    const numbers = heads.map((head) => head?.number ?? Infinity);
    const number = Math.min(...numbers);
    const file = numbers.lastIndexOf(number);
    const head = heads[file];
    if (head === undefined) break;
    if (number !== written.number || file === written.file) lines.push(resultCells(head.row, extra));
    if (number !== written.number) Object.assign(written, { number, file });
    if (lines.length === LINES_AT_ONCE) {
      yield csvRows(lines);
      lines = [];
    }
    heads[file] = await nextOf(files[file]);
  }
  yield csvRows(lines);
}

async function nextOf(file: AsyncGenerator<NumberedRow, void> | undefined): Promise<NumberedRow | undefined> {
  return (await file?.next())?.value ?? undefined;
}

/** Returns the cells of a result, with the extra columns of all files. */
export function resultCells(row: ResultRow, extra: readonly string[]): readonly string[] {
  return [...RESULT_COLUMNS.map((name) => row[name]), ...extra.map((name) => row.extra[name] ?? '')];
}

/** Returns the names of the columns that some files have besides the documented ones. */
export async function extraColumns(parts: readonly string[]): Promise<readonly string[]> {
  const extra = new Set<string>();
  for (const part of parts)
    for await (const [row] of readResults((await fileSource(part)).open())) {
      for (const name of Object.keys(row?.extra ?? {})) extra.add(name);
      break;
    }
  return [...extra];
}

/** Yields the rows of a file in the order of the request, without those of other requests. */
async function* rowsInOrder(part: string, own: PartRows | undefined): AsyncGenerator<NumberedRow, void> {
  if (own === undefined) return;
  const source = await fileSource(part);
  if (await isInOrder(source.open(), own)) return yield* numbered(source.open(), own);
  const all: NumberedRow[] = [];
  for await (const row of numbered(source.open(), own)) all.push(row);
  yield* all.toSorted((one, other) => one.number - other.number);
}

async function* numbered(source: AsyncIterable<Uint8Array>, own: PartRows): AsyncGenerator<NumberedRow, void> {
  for await (const rows of readResults(source))
    for (const row of rows) {
      const number = own.numberOf(row.token);
      if (number !== 0) yield { row, number };
    }
}

async function isInOrder(source: AsyncIterable<Uint8Array>, own: PartRows): Promise<boolean> {
  let last = 0;
  for await (const { number } of numbered(source, own)) {
    if (number < last) return false;
    last = number;
  }
  return true;
}
