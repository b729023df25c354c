// Merges result files in the order of the rows of the request.

import { csvRow, csvRows } from '../../cli/output/csv.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { readResults, type ResultRow } from '../result-codes.ts';
import { ResultCursor } from './reconcile.ts';
import type { PartRows } from './rows-of-request.ts';

/** How many lines are written at once. */
const LINES_AT_ONCE = 1000;

/** The next unwritten row of a result file. */
interface Head {
  readonly row: ResultRow;
  /** The number of the row in the request. */
  readonly number: number;
  /** The index of the file. */
  readonly file: number;
  readonly next: () => Promise<Head | undefined>;
}

/**
 * Merges the results of jobs in the order of the request, without rows of other requests. `rows` has the rows of each part. If
 * two files have a result for the same row, the later file counts. A file in the order of the request is read row by row; any
 * other file is sorted in memory first.
 */
export async function* mergedInOrder(parts: readonly string[], rows: readonly PartRows[]): AsyncGenerator<string> {
  const extra = await extraColumns(parts);
  yield csvRow([...RESULT_COLUMNS, ...extra]);
  const heads: Head[] = [];
  for (const [index, part] of parts.entries()) {
    const ownRows = rows[index];
    const head = ownRows && (await openHead(part, ownRows, index));
    if (head) heads.push(head);
  }
  let lines: (readonly string[])[] = [];
  let last: Head | undefined;
  while (heads.length > 0) {
    const first = heads.reduce((least, head, at) => (head.number <= (heads[least]?.number ?? 0) ? at : least), 0);
    const head = heads[first];
    if (head === undefined) break;
    if (head.number !== last?.number || head.file === last.file) {
      lines.push(resultCells(head.row, extra));
      last = head;
    }
    if (lines.length === LINES_AT_ONCE) {
      yield csvRows(lines);
      lines = [];
    }
    const next = await head.next();
    if (next) heads[first] = next;
    else heads.splice(first, 1);
  }
  yield csvRows(lines);
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

async function openHead(part: string, rows: PartRows, file: number): Promise<Head | undefined> {
  const source = await fileSource(part);
  if (!(await isInOrder(source.open(), rows))) return sortedHead(source.open(), rows, file);
  const cursor = await ResultCursor.open(source.open());
  const current = async (): Promise<Head | undefined> => {
    for (;;) {
      const { row } = cursor;
      if (row === undefined) {
        await cursor.close();
        return undefined;
      }
      const number = rows.numberOf(row.token);
      const next = async (): Promise<Head | undefined> => {
        await cursor.advance();
        return current();
      };
      if (number !== 0) return { row, number, file, next };
      await cursor.advance();
    }
  };
  return current();
}

async function isInOrder(source: AsyncIterable<Uint8Array>, part: PartRows): Promise<boolean> {
  let last = 0;
  for await (const rows of readResults(source))
    for (const row of rows) {
      const number = part.numberOf(row.token);
      if (number !== 0 && number < last) return false;
      last = Math.max(last, number);
    }
  return true;
}

async function sortedHead(source: AsyncIterable<Uint8Array>, part: PartRows, file: number): Promise<Head | undefined> {
  const requested: { readonly row: ResultRow; readonly number: number }[] = [];
  for await (const rows of readResults(source))
    for (const row of rows) {
      const number = part.numberOf(row.token);
      if (number !== 0) requested.push({ row, number });
    }
  const sorted = requested.toSorted((one, other) => one.number - other.number);
  const at = (index: number): Head | undefined => {
    const head = sorted[index];
    return head && { ...head, file, next: async () => at(index + 1) };
  };
  return at(0);
}
