// Reads the beginning of an export: its encoding, its header, and what is no export at all.

import { createHash } from 'node:crypto';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/number.ts';
import { CR, type Finding, LF, MAX_LINE_LENGTH } from '../request/request-file.ts';
import { CARD_NUMBER, checkHeader } from '../request/request-rules.ts';
import { utf16Order } from '../request/text-encoding.ts';
import { headerName } from '../results/kept-columns.ts';
import { type CsvRow, splitCells } from '../csv-rows.ts';
import { inSmallPieces } from '../request/request-lines.ts';
import { type DecodedText, type Encoding, type ExportDecoder, exportDecoder } from './export-text.ts';
import { cardInTitle, findHeader, type Header, headerSign, isDataRow, MAX_HEAD_LINES } from './find-header.ts';
import type { PrepareOptions } from './how-to-read.ts';

/** The length of the pieces in which an export is read, in bytes. */
export const PIECE_LENGTH = 8 * 1024;

type Pieces = AsyncGenerator<Uint8Array, void>;

/** The beginning of an export. */
export interface ExportHead {
  readonly header: Header;
  /** The text that was read so far, with the header. */
  readonly start: readonly DecodedText[];
  /** Decodes the rest. */
  readonly decoder: ExportDecoder;
}

/**
 * Reads an export until its header is known. The other pieces remain unread.
 * @throws SvcError `refused_input` for a file that is no export
 */
export async function readHead(pieces: Pieces, options: PrepareOptions): Promise<ExportHead> {
  const head = await firstPieces(pieces, options);
  const encoding = encodingOf(head);
  const decoder = exportDecoder(encoding);
  const start = [decoder.decode(head)];
  const textSoFar = (): string => start.map(({ text }) => text).join('');
  // In UTF-16, the byte of a line end also occurs within other characters. Lines of a title may stand above the header.
  const isWanted = (): boolean => {
    const text = textSoFar();
    const [first = '', ...others] = text.split('\n', MAX_HEAD_LINES + 1);
    const isHeader = others.length > 0 && headerSign(first, options) !== undefined;
    return !isHeader && others.length < MAX_HEAD_LINES && text.length <= MAX_LINE_LENGTH;
  };
  for await (const piece of takeWhile(pieces, isWanted)) start.push(decoder.decode(piece));
  if (!textSoFar().includes('\n')) start.push(decoder.finish());
  const lines = textSoFar().split('\n', MAX_HEAD_LINES);
  requireExport(encoding === 'utf-8' ? firstLine(head) : Buffer.from((lines[0] ?? '').trimEnd()), options);
  const header = findHeader(lines, nameOf(options), options);
  const inTitle = cardInTitle(lines.slice(0, header.skipped));
  if (inTitle !== -1) throw refusedHeader(CARD_NUMBER, options, inTitle + 1);
  if (header.skipped > 0) requireExport(Buffer.from(header.text), options, header.skipped + 1);
  return { header, start, decoder };
}

/**
 * Returns the form of an export: a hash of its column names, or their number without a header. Exports of the same form have the
 * same. Undefined if no header can be found.
 */
export async function formOf(source: AsyncIterable<Uint8Array>, options: PrepareOptions): Promise<string | undefined> {
  const pieces = inSmallPieces(source, PIECE_LENGTH);
  try {
    const { header } = await readHead(pieces, options);
    const { cells = [] } = splitCells(header.text, { delimiter: header.delimiter, isLenient: true }) as Partial<CsvRow>;
    const names = cells.map(headerName);
    if (isDataRow(names)) return countText(names.length, 'column');
    return createHash('sha256').update(JSON.stringify(names)).digest('hex');
  } catch (error) {
    if (isSvcError(error, 'refused_input')) return undefined;
    throw error;
  } finally {
    pieces.return(undefined).catch(() => undefined);
  }
}

/** Reads pieces until the end of the first line. */
async function firstPieces(pieces: Pieces, options: PrepareOptions): Promise<Buffer> {
  let head = Buffer.alloc(0);
  for await (const piece of takeWhile(pieces, () => !head.includes(LF) && head.length <= MAX_LINE_LENGTH))
    head = Buffer.concat([head, piece]);
  if (head.length === 0) throw emptyExport(options);
  return head;
}

export function emptyExport(options: PrepareOptions): SvcError {
  return new SvcError('refused_input', `${nameOf(options)} is empty`, { hint: 'Check that the export is complete.' });
}

/** Yields pieces while more are wanted. */
async function* takeWhile(pieces: Pieces, isWanted: () => boolean): Pieces {
  while (isWanted()) {
    const { value, done } = await pieces.next();
    if (done === true) return;
    yield value;
  }
}

function encodingOf(head: Uint8Array): Encoding {
  const order = utf16Order(firstLine(head));
  if (order === undefined) return 'utf-8';
  return order === 'little' ? 'utf-16le' : 'utf-16be';
}

function firstLine(head: Uint8Array): Uint8Array {
  const end = head.indexOf(LF);
  const line = head.subarray(0, end === -1 ? head.length : end);
  return line.at(-1) === CR ? line.subarray(0, -1) : line;
}

/** Refuses a file that is no export: one that is not text, a result file, or one with a card number in its header. */
function requireExport(header: Uint8Array, options: PrepareOptions, line = 1): void {
  const { findings, below } = checkHeader(header);
  const refused = findings.find(({ rule }) => /^(?:card_number|wrong_file|line_too_long)$/.test(rule));
  const finding = refused ?? (below === 'nothing' ? findings[0] : undefined);
  if (finding) throw refusedHeader(finding, options, line);
}

export function refusedHeader(
  { problem, rule }: Pick<Finding, 'problem' | 'rule'>,
  options: PrepareOptions,
  line: number,
): SvcError {
  return new SvcError('refused_input', `${nameOf(options)}, line ${line}: ${problem}`, { facts: { rule } });
}

function nameOf({ name = 'the export' }: PrepareOptions): string {
  return name;
}
