// Reads a file of kept columns: the columns of an export that `svc au prepare --keep` wrote beside the request.

import { SvcError } from '../../base/errors.ts';
import { LinesAt } from '../../base/files/lines-at.ts';
import type { Context } from '../../cli/app/command.ts';
import { reading, value } from '../../cli/app/parameter.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { countText } from '../../cli/output/number.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { type Delimiter, delimiterWith, withoutSeparatorLine, splitCells } from '../csv-rows.ts';
import { contentOf } from '../request/cell-content.ts';
import { isSameToken, tokenKey } from '../request/row-key.ts';
import { TokenTable } from '../request/token-table.ts';

/** The first columns of the file: the number of the row in the request, and its token. */
export const KEPT_COLUMNS = ['row', 'token'] as const;

/** Returns the name of the kept columns file for a request. */
export function keepFileOf(request: string): string {
  return `${request.replace(/\.csv$/i, '')}.keep.csv`;
}

/** The option `--keep`, for commands that write rows. */
export const keepParameter = reading(
  value('--keep <file>', "add the columns of this file from 'svc au prepare --keep', by token", text),
  ['.csv'],
);

/** Opens the file of `--keep` and closes it when the command ends. */
export async function openKept(context: Context, typed: string | undefined): Promise<KeptColumns | undefined> {
  if (typed === undefined) return undefined;
  const kept = await KeptColumns.open(resolvePath(context, typed));
  context.onClose(() => kept.close());
  return kept;
}

const LF = 10;
/** The size of the longest row. It limits memory for a file without line ends. */
const MAX_ROW_BYTES = 256 * 1024;

/** Finds the kept columns of rows by token. Memory contains only a hash of each token and the offset of its row. */
export class KeptColumns {
  /** The names of the kept columns. */
  readonly names: readonly string[];
  readonly #path: string;
  readonly #lines: LinesAt;
  readonly #rows: RowStarts;
  readonly #delimiter: Delimiter;
  /** The number of lookups that found no row. */
  #missing = 0;
  /** The number of lookups that found several rows, and could not tell which one is right. */
  #ambiguous = 0;

  private constructor(path: string, names: readonly string[], rows: RowStarts, delimiter: Delimiter) {
    this.names = names;
    this.#path = path;
    this.#lines = new LinesAt(path, MAX_ROW_BYTES + 1);
    this.#rows = rows;
    this.#delimiter = delimiter;
  }

  /** Opens a kept columns file, even if a spreadsheet saved it. @throws SvcError `refused_input` for any other file */
  static async open(path: string): Promise<KeptColumns> {
    const rows: RowStarts = { numbers: new TokenTable(), offsets: [], following: [] };
    let names: readonly string[] | undefined;
    let delimiter: Delimiter | undefined;
    for await (const { text: line, offset } of linesOf(path)) {
      if (names === undefined && offset === 0 && withoutSeparatorLine(`${line}\n`) === '') continue;
      delimiter ??= delimiterWith(line.replace(/^\uFEFF/, ''), KEPT_COLUMNS);
      const cells = cellsIn(line, delimiter, path);
      if (names !== undefined) addRow(rows, cells[1] ?? '', offset);
      else if (cells[0] === KEPT_COLUMNS[0] && cells[1] === KEPT_COLUMNS[1] && cells.length > 2) names = cells.slice(2);
      else throw notKeptColumnsError(path, 'does not begin with the columns row and token');
    }
    if (names === undefined) throw notKeptColumnsError(path, 'is empty');
    // With carriage returns alone, the whole file would be read as its header.
    if (rows.offsets.length === 0 && names.some((name) => name.includes('\r')))
      throw notKeptColumnsError(path, 'has lines that end with carriage returns alone');
    return new KeptColumns(path, names, rows, delimiter ?? ',');
  }

  /**
   * Returns the kept cells of a token. They are empty for an unknown token, if rows of several merchants differ, or if the request
   * has another number (`rows`) of rows of the token than the file.
   */
  cellsOf(token: string, rows?: number): readonly string[] {
    const [first, ...others] = this.#offsetsOf(token);
    if (first !== undefined && rows !== undefined && rows !== others.length + 1) return this.#unknownCells();
    const cells = this.#cellsAt(token, first);
    const isShared = others.every((offset) => this.#cellsAt(token, offset).every((cell, at) => cell === cells[at]));
    return isShared ? cells : this.#unknownCells();
  }

  /**
   * Returns the kept cells of one row of a token. `place` counts the token's rows in the order of the request, from 0. The cells
   * are empty without a place, or if the request has another number (`rows`) of rows of the token than the file.
   */
  cellsAt(token: string, place: number | undefined, rows?: number): readonly string[] {
    const offsets = this.#offsetsOf(token);
    const isOther = rows !== undefined && offsets.length > 0 && offsets.length !== rows;
    return place === undefined || isOther ? this.#unknownCells() : this.#cellsAt(token, offsets[place]);
  }

  #unknownCells(): readonly string[] {
    this.#ambiguous += 1;
    return this.names.map(() => '');
  }

  /** Returns the offsets of a token's rows, in the order of the request. */
  #offsetsOf(token: string): readonly number[] {
    const { numbers, offsets, following } = this.#rows;
    const last = numbers.get(tokenKey(token)) - 1;
    if (last === -1) return [];
    const ownOffsets: number[] = [];
    for (let row = following[last] ?? last; ; row = following[row] ?? last) {
      ownOffsets.push(offsets[row] ?? 0);
      if (row === last) break;
    }
    if (ownOffsets.length === 1) return ownOffsets;
    const numbered = ownOffsets.map((offset) => ({ offset, number: Number(this.#cellsIn(offset)[0]) }));
    return numbered.toSorted((a, b) => a.number - b.number).map(({ offset }) => offset);
  }

  #cellsAt(token: string, offset: number | undefined): readonly string[] {
    const cells = offset === undefined ? [] : this.#cellsIn(offset);
    const isOfToken = isSameToken(cells[1] ?? '', token);
    if (!isOfToken) this.#missing += 1;
    else if (cells.some((cell) => contentOf(cell) === 'card_number')) throw cardNumberError(this.#path);
    return this.names.map((_, at) => (isOfToken ? (cells[at + KEPT_COLUMNS.length] ?? '') : ''));
  }

  #cellsIn(offset: number): readonly string[] {
    return cellsIn(this.#lines.lineAt(offset), this.#delimiter, this.#path);
  }

  has(token: string): boolean {
    return this.#rows.numbers.get(tokenKey(token)) !== 0;
  }

  /** Warns of rows without kept columns. `hint` says how to find the columns of tokens with several rows. */
  warnOfMissing({ notices }: Context, hint = ''): void {
    if (this.#missing > 0) notices.warn(`${this.#path} has no columns for ${countText(this.#missing, 'row')}`);
    if (this.#ambiguous > 0)
      notices.warn(
        `kept columns are left empty in ${countText(this.#ambiguous, 'row')}: it is not known which rows of ${this.#path} belong to them${hint}`,
      );
  }

  close(): void {
    this.#lines.close();
  }
}

const LINE_END = /[\r\n]/;

/**
 * Puts a cell on one line, so that each row is one line and can be read by its offset. Blanks at both ends of the cell stay: they
 * may be part of a key in the operator's table.
 */
export function onOneLine(cell: string): string {
  if (!LINE_END.test(cell)) return cell;
  const lines = cell.split(LINE_END).filter((line) => line.trim() !== '');
  const ended = lines.map((line, at) => (at < lines.length - 1 ? line.trimEnd() : line));
  return ended.map((line, at) => (at > 0 ? line.trimStart() : line)).join(' ');
}

/** Returns the name of a column: the cell of the header on one line, without blanks around it. */
export function headerName(cell: string): string {
  return onOneLine(cell).trim();
}

/** The offset of each row in a file, and the number of each token's last row, plus one. */
interface RowStarts {
  readonly numbers: TokenTable;
  readonly offsets: number[];
  /** The next row of the same token, by row number. The rows of a token form a ring: after the last comes the first. */
  readonly following: number[];
}

function addRow({ numbers, offsets, following }: RowStarts, token: string, offset: number): void {
  const key = tokenKey(token);
  const last = numbers.get(key) - 1;
  const added = offsets.length;
  offsets.push(offset);
  following.push(last === -1 ? added : (following[last] ?? 0));
  if (last !== -1) following[last] = added;
  numbers.set(key, added + 1);
}

interface Line {
  /** The text of the line, without its line feed. */
  readonly text: string;
  readonly offset: number;
}

async function* linesOf(path: string): AsyncGenerator<Line, void> {
  const tooLong = notKeptColumnsError(path, 'has a line that is too long');
  let rest = Buffer.alloc(0);
  let offset = 0;
  for await (const piece of (await fileSource(path)).open()) {
    rest = Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = rest.indexOf(LF); end !== -1; end = rest.indexOf(LF, start)) {
      if (end - start > MAX_ROW_BYTES) throw tooLong;
      yield { text: rest.toString('utf8', start, end), offset: offset + start };
      start = end + 1;
    }
    rest = rest.subarray(start);
    offset += start;
    if (rest.length > MAX_ROW_BYTES) throw tooLong;
  }
  if (rest.length > 0) yield { text: rest.toString(), offset };
}

function cellsIn(line: string, delimiter: Delimiter, path: string): readonly string[] {
  const split = splitCells(line.replace(/^\uFEFF/, '').replace(/\r$/, ''), { delimiter });
  if (split.fault !== undefined) throw notKeptColumnsError(path, 'is malformed');
  return split.cells;
}

/** Returns the error for a card number in the file, which `svc au prepare` never writes. It does not show the number. */
function cardNumberError(path: string): SvcError {
  return new SvcError('refused_input', `${path} contains what looks like a card number`, {
    hint: 'Remove the number from the file of kept columns, or prepare the export again: svc au prepare --keep.',
    facts: { file: path },
  });
}

function notKeptColumnsError(path: string, problem: string): SvcError {
  return new SvcError('refused_input', `${path} is no file of kept columns: it ${problem}`, {
    hint: 'svc au prepare --keep writes such a file beside the request, with .keep.csv at its end.',
    facts: { file: path },
  });
}
