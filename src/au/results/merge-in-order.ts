import { csvRow } from '../../cli/output/csv.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { readResults, type ResultRow } from '../result-codes.ts';
import { ResultCursor } from './reconcile.ts';
import type { PartRows } from './rows-of-request.ts';

/** How many lines are written at once. */
const LINES_AT_ONCE = 1000;

/** A result file from which the next row of the request is taken. */
interface Head {
  readonly row: ResultRow;
  readonly number: number;
  /** The place of the file among all. */
  readonly file: number;
  readonly next: () => Promise<Head | undefined>;
}

/**
 * Merges the results of jobs into one file, in the order of the rows of the request, without the rows of other requests.
 * `rows` are those of each part. Where two files have a result of the same row, that of the later one counts. A file that has
 * its rows in that order is read row by row; the rows of any other are sorted in memory first.
 */
export async function* mergedInOrder(parts: readonly string[], rows: readonly PartRows[]): AsyncGenerator<string> {
  const extra = await extraColumns(parts);
  yield csvRow([...RESULT_COLUMNS, ...extra]);
  const heads: Head[] = [];
  for (const [index, part] of parts.entries()) {
    const own = rows[index];
    const head = own && (await headOf(part, own, index));
    if (head) heads.push(head);
  }
  let lines: string[] = [];
  let last: Head | undefined;
  while (heads.length > 0) {
    const first = heads.reduce((least, head, at) => (head.number <= (heads[least]?.number ?? 0) ? at : least), 0);
    const head = heads[first];
    if (head === undefined) break;
    if (head.number !== last?.number || head.file === last.file) {
      lines.push(resultLine(head.row, extra));
      last = head;
    }
    if (lines.length === LINES_AT_ONCE) {
      yield lines.join('');
      lines = [];
    }
    const next = await head.next();
    if (next) heads[first] = next;
    else heads.splice(first, 1);
  }
  yield lines.join('');
}

/** Returns the line of a result, with the columns that only some files have. */
export function resultLine(row: ResultRow, extra: readonly string[]): string {
  return csvRow([...RESULT_COLUMNS.map((name) => row[name]), ...extra.map((name) => row.extra[name] ?? '')]);
}

/** Returns the names of the columns that some of the files have besides the usual ones. */
export async function extraColumns(parts: readonly string[]): Promise<readonly string[]> {
  const extra = new Set<string>();
  for (const part of parts)
    for await (const [row] of readResults((await fileSource(part)).open())) {
      for (const name of Object.keys(row?.extra ?? {})) extra.add(name);
      break;
    }
  return [...extra];
}

async function headOf(part: string, rows: PartRows, file: number): Promise<Head | undefined> {
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
  const found: { readonly row: ResultRow; readonly number: number }[] = [];
  for await (const rows of readResults(source))
    for (const row of rows) {
      const number = part.numberOf(row.token);
      if (number !== 0) found.push({ row, number });
    }
  const sorted = found.toSorted((one, other) => one.number - other.number);
  const at = (index: number): Head | undefined => {
    const one = sorted[index];
    return one && { ...one, file, next: async () => at(index + 1) };
  };
  return at(0);
}
