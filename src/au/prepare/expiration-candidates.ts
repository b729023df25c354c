// Finds columns of an export that look like an expiration.

import { monthOfName, readExpiration } from './prepare-date.ts';

/** The number of filled cells that are examined in a column. */
const MAX_CELLS = 1_000;
/** The share of cells that must be dates. */
const MIN_DATES = 0.9;
/** No card is valid for longer. */
const MAX_VALID_MONTHS = 20 * 12;

/** Finds columns that look like an expiration by their cells, in an export without a column of a known name. */
export class ExpirationCandidates {
  readonly #columns: readonly Column[];
  readonly #thisMonth: number;

  /** `taken` are the columns with another meaning. `now` decides which dates are past. */
  constructor(width: number, taken: readonly number[], now: number) {
    const date = new Date(now);
    this.#thisMonth = date.getUTCFullYear() * 12 + date.getUTCMonth();
    const places = Array.from({ length: width }, (_, place) => place).filter((place) => !taken.includes(place));
    this.#columns = places.map((place) => ({ place, filled: 0, dates: 0, future: 0, isTooLate: false }));
  }

  take(cells: readonly string[]): void {
    for (const column of this.#columns) {
      const cell = cells[column.place]?.trim() ?? '';
      if (cell === '' || column.filled === MAX_CELLS) continue;
      column.filled += 1;
      const month = monthOf(cell);
      if (month === undefined) continue;
      column.dates += 1;
      if (month >= this.#thisMonth) column.future += 1;
      if (month > this.#thisMonth + MAX_VALID_MONTHS) column.isTooLate = true;
    }
  }

  /** Returns the indexes of the columns that are mostly dates, most of them in the future. */
  found(): number[] {
    return this.#columns.flatMap(({ place, filled, dates, future, isTooLate }) => {
      const isDated = filled > 0 && dates >= filled * MIN_DATES && future > dates / 2;
      return isDated && !isTooLate ? [place] : [];
    });
  }
}

interface Column {
  readonly place: number;
  filled: number;
  dates: number;
  future: number;
  isTooLate: boolean;
}

const MAX_DATE_LENGTH = 40;

/** Returns the month of a date, counted from the year 0; undefined for bare digits, which may be anything. */
function monthOf(cell: string): number | undefined {
  if (cell.length > MAX_DATE_LENGTH || !isWritten(cell)) return undefined;
  const reading = readExpiration(cell);
  // The order of an ambiguous date does not matter here: the operator is asked about the column anyway.
  const read =
    reading !== undefined && 'orders' in reading ? readExpiration(cell, reading.orders.slice(0, 1)) : reading;
  if (read === undefined || 'orders' in read) return undefined;
  return (2000 + Number(read.year)) * 12 + Number(read.month) - 1;
}

/** Tells whether a cell has a sign between digits, or the name of a month. */
function isWritten(cell: string): boolean {
  return /\d[-/.' ]+\d/.test(cell) || (cell.match(/[a-z]+/gi) ?? []).some((word) => monthOfName(word) !== undefined);
}
