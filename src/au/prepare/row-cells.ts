// Reads single cells of a row of an export, and recognizes rows that are no data.

import { type CsvRow, END_MARKS } from '../csv-rows.ts';
import { withoutFormula } from '../request/token-shape.ts';

export function cellAt(cells: readonly string[], place: number | undefined): string {
  return place === undefined ? '' : withoutFormula((cells[place] ?? '').trim());
}

export function isBlank({ cells }: CsvRow): boolean {
  return cells.every((cell) => cell.trim() === '' || END_MARKS.includes(cell.charAt(0)));
}

/** Tells whether a row only underlines the header, as sqlcmd writes it. */
export function isRuler(token: string, cells: readonly string[]): boolean {
  return token.startsWith('--') && cells.every((cell) => /^-+$/.test(cell.trim()));
}

const MAX_TOTAL_LENGTH = 24;
/** The first cell of a total below the rows. psql and sqlcmd write the number of rows there. */
const TOTAL = /^(?:(?:grand )?total|sum|summe|\(\d+ rows?(?: affected)?\))?:?$/i;

/** Tells whether a cell is empty or a word such as "total". */
export function isTotalWord(token: string): boolean {
  return token.length <= MAX_TOTAL_LENGTH && TOTAL.test(token);
}
