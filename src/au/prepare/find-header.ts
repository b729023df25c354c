// Finds the header of an export.

import { SvcError } from '../../base/errors.ts';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { type Delimiter, DELIMITERS, splitCells } from '../csv-rows.ts';
import { isUuid } from '../request/row-key.ts';
import type { ReadingOptions } from './how-to-read.ts';
import { delimiterOf, isTokenName } from './prepare-columns.ts';
import { readExpiration } from './prepare-date.ts';

/** The number of lines at the beginning of an export that may contain the header. */
export const MAX_HEAD_LINES = 12;

/** The header of an export, and the separator of its cells. */
export interface Header {
  /** The text of the header; of the first row if the operator names the columns. */
  readonly text: string;
  /** The number of lines above the header. */
  readonly skipped: number;
  readonly delimiter: Delimiter;
}

/** The operator's names of columns, by which a header is recognized. */
type NamedColumns = Pick<ReadingOptions, 'columns' | 'columnNames'>;

/**
 * Tells whether the cells have the name of the token column, and so are the header. A row may have that word beside its token: if
 * the operator names all columns, the header has it at the place of the tokens, counted from the left or from the right.
 */
export function isHeader(cells: readonly string[], { columns = [], columnNames }: NamedColumns): boolean {
  const tokenName = columns.find(({ column }) => column === 'token')?.name;
  const isToken = (cell = ''): boolean => isTokenName(cell, tokenName);
  if (cells.some(isUuid)) return false;
  if (columnNames === undefined) return cells.some((cell) => isToken(cell));
  const shift = cells.length - columnNames.length;
  return columnNames.some((name, at) => isToken(name) && (isToken(cells[at]) || isToken(cells[at + shift])));
}

/** Returns the sign that separates the cells of a line as a header; undefined if the line is none. */
export function headerSign(line: string, how: NamedColumns): Delimiter | undefined {
  return DELIMITERS.find((sign) => isHeader(cellsOf(line, sign), how));
}

/**
 * Finds the header among the first lines of an export. Above it may be a line with the separator or a type, or a title, whose
 * lines have fewer cells.
 * @throws SvcError `refused_input` for a table that is drawn with lines, or a header that can be separated in two ways
 */
export function findHeader(lines: readonly string[], name: string, how: NamedColumns = {}): Header {
  const box = lines.slice(0, 4).findIndex((line) => RULE.test(line));
  if (box !== -1)
    throw new SvcError('refused_input', `${name}, line ${box + 1}: a table drawn for people, not CSV`, {
      hint: 'Export it as CSV instead: psql --csv, sqlite3 -csv -header, or mariadb --batch with --no-quotes here.',
    });
  const separator = /^sep=(.)\s*$/i.exec(lines[0] ?? '')?.[1];
  const given = DELIMITERS.find((sign) => sign === separator);
  const first = given !== undefined || /^"?#TYPE /.test(lines[0] ?? '') ? 1 : 0;
  const at = first + titleLines(lines.slice(first), how);
  const text = (lines[at] ?? '').replace(/\r$/, '');
  return { text, skipped: at, delimiter: given ?? delimiterOf(text) };
}

/** Returns the number of lines of a title: each has no token, and fewer cells than the line below them, which names the tokens. */
function titleLines(lines: readonly string[], how: NamedColumns): number {
  for (const [at, line] of lines.entries()) {
    const sign = headerSign(line, how);
    if (sign === undefined) continue;
    const width = cellsOf(line, sign).length;
    const titles = lines.slice(0, at).map((title) => cellsOf(title, sign));
    return titles.every((cells) => filledCells(cells) < width && !cells.some(isUuid)) ? at : 0;
  }
  return 0;
}

/** A spreadsheet writes empty cells behind a title. */
function filledCells(cells: readonly string[]): number {
  return cells.findLastIndex((cell) => cell !== '') + 1;
}

/** A line between rows, as psql, sqlite3 and mariadb draw tables. */
const RULE = /^\s*(?:[+┌├╭╔╠][-=─═┬┼╤╪+]+[+┐┤╮╗╣]?|-{2,}(?:\+-+)+)\s*$/;

function cellsOf(line: string, delimiter: string): string[] {
  const split = splitCells(line.replace(/\r$/, ''), { delimiter, isLenient: true });
  return split.fault === undefined ? split.cells.map((cell) => cell.trim()) : [];
}

/** Finds a card number in the lines above the header, which no other check reads. Returns the index of its line, or -1. */
export function cardInTitle(lines: readonly string[]): number {
  return lines.findIndex((line) => [line, ...line.split(/[,;\t|]/)].some((cell) => containsCardNumber(cell, 'cell')));
}

/** Tells whether a line has data and not names: a token, a date, or mostly numbers. */
export function isDataRow(cells: readonly string[]): boolean {
  return (
    cells.some((cell) => isUuid(cell) || (!isNumber(cell) && isDate(cell))) ||
    cells.filter(isNumber).length * 2 >= cells.length
  );
}

function isNumber(cell: string): boolean {
  return /^\d+$/.test(cell);
}

function isDate(cell: string): boolean {
  return /^\d[\d\s:/.TZ+-]*$|^\d{1,2}-[A-Za-z]{3,9}-\d{2,4}$/.test(cell) && readExpiration(cell) !== undefined;
}

/**
 * Returns the error for an export without a header. It shows no cell, and proposes names only for cells that can be one
 * column alone.
 */
export function withoutHeader(cells: readonly string[]): SvcError {
  return new SvcError('refused_input', 'the file has no header line', {
    facts: { needs: 'columns', proposed: proposedColumns(cells) },
  });
}

/** The names in a header, the indexes of those that are sent or kept, and of the token. */
interface HeaderNames {
  readonly names: readonly string[];
  readonly used: ReadonlySet<number>;
  readonly token: number;
}

/**
 * Returns column names for rows with more or fewer cells than the header. The header's names are aligned from the left, or from
 * the right if they fit there: R writes no name for its first column.
 */
export function columnsOfRows({ names, used, token }: HeaderNames, cells: readonly string[]): readonly string[] {
  const shift = [0, cells.length - names.length].find((each) => isUuid(cells[token + each] ?? ''));
  if (shift === undefined) return proposedColumns(cells);
  return cells.map((_, at) => (used.has(at - shift) ? (names[at - shift] ?? '-') : '-'));
}

function proposedColumns(cells: readonly string[]): string[] {
  const numbers = cells.flatMap((cell, at) => (/^\d{1,2}$|^20\d\d$/.test(cell) ? [at] : []));
  const [one = -1, other = -1] = numbers;
  const isMonth = (at: number): boolean => Number(cells[at]) >= 1 && Number(cells[at]) <= 12;
  const isPair = numbers.length === 2 && isMonth(one) !== isMonth(other);
  const token = Math.max(0, cells.findIndex(isUuid));
  const date = isPair ? -1 : cells.findIndex((cell, at) => at !== token && !/^\d+$/.test(cell) && isDate(cell));
  return cells.map((_, at) => {
    if (at === token) return 'token';
    if (at === date) return 'expiration';
    if (isPair && numbers.includes(at)) return isMonth(at) ? 'month' : 'year';
    return '-';
  });
}
