import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { SvcError } from '../../base/errors.ts';
import { copiedPieces } from '../results/result-codes.ts';
import {
  type ColumnChoice,
  type ColumnPlaces,
  type DateOrder,
  type Delimiter,
  delimiterOf,
  findColumns,
  type PreparedColumn,
} from './prepare-columns.ts';
import { type PreparedRows, RowPreparer } from './prepare-row.ts';
import { CR, LF, LONGEST_LINE, REQUEST_HEADER } from './request-file.ts';
import { checkHeader } from './request-rules.ts';

export interface PrepareOptions {
  /** Columns that the operator names; others are known by well-known names. */
  readonly columns?: readonly ColumnChoice[] | undefined;
  readonly dateOrder?: DateOrder | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes read so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** What became of an export. What was written counts only when there is no problem. */
export interface Prepared extends PreparedRows {
  /** Of the export; hexadecimal. */
  readonly sha256: string;
  readonly delimiter: Delimiter;
  readonly hasByteOrderMark: boolean;
  /** The name that each of our columns has in the export. */
  readonly columns: Readonly<Partial<Record<PreparedColumn, string>>>;
  readonly leftOut: readonly string[];
}

/** No row of an export is longer. Bounds memory where a quote is never closed. */
const LONGEST_ROW = 64 * 1024;

/**
 * Makes a request file of an export: reads it once, in flat memory, and passes on the text of the request piece by
 * piece. The same export gives the same bytes.
 * @throws SvcError `refused_input` where the header does not show which column is which
 */
export async function prepareRequest(
  source: AsyncIterable<Uint8Array>,
  write: (text: string) => Promise<void>,
  options: PrepareOptions = {},
): Promise<Prepared> {
  const hash = createHash('sha256');
  const pieces = copiedPieces(watched(source, hash, options));
  try {
    return { ...(await prepareFrom(pieces, write, options)), sha256: hash.digest('hex') };
  } finally {
    // Where it ends before all was read, the file is closed. A pipe that is silent is not waited for.
    pieces.return(undefined).catch(() => undefined);
  }
}

async function prepareFrom(
  pieces: AsyncGenerator<Uint8Array>,
  write: (text: string) => Promise<void>,
  options: PrepareOptions,
): Promise<Omit<Prepared, 'sha256'>> {
  const { CsvError, parse } = await import('csv-parse');
  const head = await readHead(pieces);
  const header = head.subarray(0, head.indexOf(LF) === -1 ? head.length : head.indexOf(LF));
  requireExport(header.at(-1) === CR ? header.subarray(0, -1) : header);
  const delimiter = delimiterOf(header.toString());
  const reader = new ExportReader(delimiter, options);
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    trim: true,
    raw: true,
    max_record_size: LONGEST_ROW,
    // Rows are made here: those that wait in the stream are lost when it fails.
    on_record: (row: unknown) => reader.take(row as ParsedRow),
  });
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    yield head;
    yield* pieces;
  };
  const input = Readable.from(whole(), { objectMode: false });
  input.once('error', (error) => parser.destroy(error));
  parser.once('close', () => input.destroy());
  await write(`${REQUEST_HEADER}\n`);
  try {
    for await (const lines of input.pipe(parser) as AsyncIterable<string[]>) await write(lines.join(''));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The parser's own error repeats cells of the file.
    reader.malformed(error.code);
  }
  await write(reader.flush().join(''));
  return { ...reader.finish(), delimiter, hasByteOrderMark: header[0] === 0xef };
}

type ParsedRow = Readonly<{ record: readonly string[]; raw: string }>;

async function* watched(
  source: AsyncIterable<Uint8Array>,
  hash: { update(piece: Uint8Array): unknown },
  { signal, onProgress }: PrepareOptions,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of source) {
    signal?.throwIfAborted();
    hash.update(piece);
    yield piece;
    bytes += piece.length;
    onProgress?.(bytes);
  }
}

/** The pieces up to the end of the first line. */
async function readHead(pieces: AsyncGenerator<Uint8Array>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (!head.includes(LF) && head.length <= LONGEST_LINE) {
    const { value, done } = await pieces.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  if (head.length === 0) throw new SvcError('refused_input', 'the export is empty');
  return head;
}

/** A file that is no text has no columns, a result file no tokens to request, and a card number is not shown. */
function requireExport(header: Uint8Array): void {
  const { findings, below } = checkHeader(header);
  const refused = findings.find(({ rule }) => rule === 'card_number' || rule === 'wrong_file');
  const found = refused ?? (below === 'nothing' ? findings[0] : undefined);
  if (found) throw new SvcError('refused_input', `line 1: ${found.problem}`, { facts: { rule: found.rule } });
}

const BATCH = 200;

/** Takes the rows of an export as the parser gives them: first the header, then rows below it. */
class ExportReader {
  readonly #delimiter: Delimiter;
  readonly #options: PrepareOptions;
  #names: readonly string[] = [];
  #places: ColumnPlaces = {};
  #ready: string[] = [];
  #rows: RowPreparer | undefined;
  /** Where the next row starts: a quoted cell can contain line ends. */
  #line = 1;

  constructor(delimiter: Delimiter, options: PrepareOptions) {
    this.#delimiter = delimiter;
    this.#options = options;
  }

  take({ record: cells, raw }: ParsedRow): string[] | null {
    const line = this.#line;
    this.#line += 1 + (raw.slice(0, -1).match(/\n/g)?.length ?? 0);
    if (this.#rows) {
      const row = this.#rows.take(cells, raw, line);
      if (row !== null) this.#ready.push(row);
      return this.#ready.length < BATCH ? null : this.flush();
    }
    this.#names = cells;
    this.#places = findColumns(cells, this.#options.columns ?? []);
    this.#rows = new RowPreparer(this.#places, cells.length, this.#delimiter, this.#options.dateOrder);
    return null;
  }

  /** The lines that were not passed on yet. */
  flush(): string[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  malformed(code: string): void {
    const problem = `${QUOTES[code] ?? 'a quote stands inside a cell; quote the whole cell and write the quote twice'}; nothing below was read`;
    if (!this.#rows) throw new SvcError('refused_input', `line 1: ${problem}`);
    this.#rows.refuse(this.#line, { rule: 'quoting', problem });
  }

  finish(): Omit<Prepared, 'delimiter' | 'sha256' | 'hasByteOrderMark'> {
    if (!this.#rows) throw new SvcError('refused_input', 'the export is empty');
    const places = Object.entries(this.#places).map(([column, at]) => [column, this.#names[at] ?? ''] as const);
    const used = new Set(Object.values(this.#places));
    return {
      ...this.#rows.finish(),
      columns: Object.fromEntries(places),
      leftOut: this.#names.filter((_, at) => !used.has(at)),
    };
  }
}

const QUOTES: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: `the row is longer than ${LONGEST_ROW} bytes: is a quote not closed?`,
  CSV_QUOTE_NOT_CLOSED: 'a quoted cell does not end',
};
