import { SvcError } from '../errors.ts';
import { inSmallPieces, LineBlocks, type LineReader, splitCells } from './line-blocks.ts';

/** One row of a request file. */
export interface RequestRow {
  readonly token: string;
  /** The line as it stands in the file, without its line end. */
  readonly line: string;
}

/**
 * Reads a request file that was checked before: a line is a row there. Gives the rows in batches, in flat memory.
 * @throws SvcError `conflict` when it is not the file that was checked
 */
export async function* readRequest(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly RequestRow[], void> {
  const lines = new Lines();
  const blocks = new LineBlocks(lines);
  for await (const piece of inSmallPieces(source)) {
    blocks.feed(piece);
    yield lines.take();
  }
  const last = blocks.finish();
  if (last !== undefined) lines.lines(last);
  yield lines.take();
}

/** The cells of a row, as they were meant. */
export function cellsOf({ line }: RequestRow): readonly string[] {
  const split = splitCells(line);
  if (split.fault !== undefined) throw changedRequest();
  return split.cells;
}

/** The request file is another than a moment ago. */
function changedRequest(): SvcError {
  return new SvcError('conflict', 'the request file changed while it was read', {
    hint: 'Run the command again when nothing writes to the file.',
  });
}

class Lines implements LineReader {
  #rows: RequestRow[] = [];
  #isHeader = true;

  lines(bytes: Uint8Array): void {
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\n');
    if (lines.at(-1) === '') lines.pop();
    for (const line of this.#isHeader ? lines.slice(1) : lines) this.#rows.push(rowOf(line));
    this.#isHeader = false;
  }

  longBytes(): void {
    throw changedRequest();
  }

  longLine(): void {
    throw changedRequest();
  }

  take(): readonly RequestRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

function rowOf(ended: string): RequestRow {
  const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
  if (line.startsWith('"')) return { token: cellsOf({ token: '', line })[0] ?? '', line };
  const comma = line.indexOf(',');
  return { token: comma === -1 ? line : line.slice(0, comma), line };
}
