import { SvcError } from '../errors.ts';
import { LineBlocks } from './line-blocks.ts';
import { PlainResults } from './plain-results.ts';
import { DOWNLOAD_AGAIN, type ResultRow } from './result-row.ts';
import { inSmallPieces } from './small-pieces.ts';

/** How a result file is read. */
export interface ReadResultsOptions {
  /** Leaves the quick way out; the result is the same. For tests and measurements. */
  readonly slowly?: boolean | undefined;
}

/**
 * Reads a result file by the names of its columns: batches of rows, never empty, in flat memory. Lines that are plain
 * go a quick way; from the first one that is not, csv-parse reads on.
 * @throws SvcError `altered` when the file is cut or malformed, or lacks the columns that every row needs
 */
export async function* readResults(
  source: AsyncIterable<Uint8Array>,
  { slowly = false }: ReadResultsOptions = {},
): AsyncGenerator<readonly ResultRow[], void> {
  const plain = new PlainResults(slowly);
  const blocks = new LineBlocks(plain);
  const pieces = inSmallPieces(source);
  try {
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
      blocks.feed(next.value);
      const rows = plain.take();
      if (rows.length > 0) yield rows;
      if (plain.isOdd) break;
    }
    const last = blocks.finish();
    if (last !== undefined) plain.lastLine(last);
    const rows = plain.take();
    if (rows.length > 0) yield rows;
    if (plain.isOdd) return yield* parsed(plain, pieces);
    if (plain.header.length === 0) throw emptyFile();
  } finally {
    await pieces.return();
  }
}

/** The rest of the file, from the first odd line on, with the header in front of it. */
async function* parsed(
  { header, rest, count }: PlainResults,
  further: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly ResultRow[], void> {
  const { parseResults } = await import('./parse-results.ts');
  const isEmpty = yield* parseResults(joined(header, rest, further), count);
  if (isEmpty) throw emptyFile();
}

async function* joined(
  header: Uint8Array,
  rest: readonly Uint8Array[],
  further: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  yield header;
  yield* rest;
  // The parser reads ahead, and what comes is lent.
  for await (const piece of further) yield Uint8Array.from(piece);
}

function emptyFile(): SvcError {
  return new SvcError('altered', 'the result file is empty, without even a header', { hint: DOWNLOAD_AGAIN });
}
