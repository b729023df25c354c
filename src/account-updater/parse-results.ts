import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { SvcError } from '../errors.ts';
import {
  DOWNLOAD_AGAIN_HINT,
  readResultHeader,
  type ResultHeader,
  type ResultRow,
  toResultRow,
} from './read-results.ts';

const BATCH = 500;
/** The longest row, in bytes: a thousand times what the service sends. A file without line ends is not read further. */
const LONGEST_ROW = 1024 * 1024;

/**
 * Reads a result file with csv-parse: all that RFC 4180 allows, quoted line ends too. `before` rows were read already.
 * Gives true in the end when there was not even a header.
 * @throws SvcError `altered` when the file is cut or malformed, or lacks the columns that every row needs
 */
export async function* parseResults(
  source: AsyncIterable<Uint8Array>,
  before: number,
): AsyncGenerator<readonly ResultRow[], boolean> {
  let header: ResultHeader | undefined;
  let row = before;
  let rows: ResultRow[] = [];
  try {
    for await (const cells of parserOf(source)) {
      if (header === undefined) {
        header = readResultHeader(cells);
        continue;
      }
      row += 1;
      rows.push(toResultRow(cells, header, row));
      if (rows.length < BATCH) continue;
      yield rows;
      rows = [];
    }
  } catch (error) {
    throw error instanceof CsvError ? malformed(error, row) : error;
  }
  if (rows.length > 0) yield rows;
  return header === undefined;
}

function parserOf(source: AsyncIterable<Uint8Array>): AsyncIterable<string[]> {
  const input = Readable.from(source, { objectMode: false });
  const parser = parse({ bom: true, skip_empty_lines: true, max_record_size: LONGEST_ROW });
  input.once('error', (error) => parser.destroy(error));
  parser.once('close', () => input.destroy());
  return input.pipe(parser);
}

// The parser's own error repeats what stands in the file, so it is no cause.
function malformed(error: CsvError, row: number): SvcError {
  return new SvcError(
    'altered',
    `the result file is malformed or cut off behind row ${row} (${error.code})`,
    { hint: DOWNLOAD_AGAIN_HINT },
  );
}
