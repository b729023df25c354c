// Looks at the first cells of each column of an export, to find columns that may be the expiration or the merchant.

import { isNamedMerchant } from './merchant-name.ts';
import { monthOfName } from '../date-parts.ts';
import { readExpiration } from './prepare-date.ts';

/** The number of filled cells that are examined in a column. */
const MAX_CELLS = 1_000;
/** The share of cells that must be dates or ids. */
const MOST_CELLS = 0.9;
/** With fewer cells, ids of merchants may all be different. */
export const FEW_CELLS = 20;
/** No card is valid for longer. */
const MAX_VALID_MONTHS = 20 * 12;

/** What the first filled cells of a column are. */
export interface ColumnSample {
  readonly place: number;
  readonly name: string;
  /** Whether the name means the id of a merchant. */
  readonly isNamedMerchant: boolean;
  filled: number;
  readonly different: Set<string>;
  /** Whether any rows of the export differ in this column. */
  hasSeveral: boolean;
  first?: string;
  dates: number;
  futureDates: number;
  hasTooLateDates: boolean;
  /** Cells that may be ids, in contrast to the name of a merchant, which mostly has spaces. */
  ids: number;
  /** Cells that may name something, in contrast to a date, an amount or a number of an attempt. */
  labels: number;
}

/** The columns that look like the id of a merchant. */
export interface MerchantColumns {
  /** Columns with a few different ids: rows of several merchants would become rows without a merchant. */
  readonly likely: readonly number[];
  /** Columns with only one id, or with another one in most rows, such as the merchant's references of payments. */
  readonly doubtful: readonly number[];
}

export class ColumnSamples {
  readonly columns: readonly ColumnSample[];
  readonly #thisMonth: number;

  /** `taken` are the columns with a known meaning. `now` decides which dates are past. */
  constructor(names: readonly string[], taken: readonly number[], now: number | undefined) {
    const date = new Date(now ?? Number.NaN);
    this.#thisMonth = date.getUTCFullYear() * 12 + date.getUTCMonth();
    this.columns = names.map((name, place) => newSample(name, place)).filter(({ place }) => !taken.includes(place));
  }

  take(cells: readonly string[]): void {
    for (const column of this.columns) {
      if (column.filled === MAX_CELLS && (column.hasSeveral || !column.isNamedMerchant)) continue;
      const cell = cells[column.place]?.trim() ?? '';
      // The header may be repeated among the rows.
      if (cell === '' || cell === column.name) continue;
      // An export that is sorted by merchant begins with many rows of the first one.
      column.first ??= cell;
      column.hasSeveral ||= cell !== column.first;
      if (column.filled < MAX_CELLS) this.#examine(column, cell);
    }
  }

  /** Returns the columns that are mostly dates, most of them in the future. */
  expirations(): number[] {
    return this.columns.flatMap(({ place, filled, dates, futureDates, hasTooLateDates }) => {
      const isDated = filled > 0 && dates >= filled * MOST_CELLS && futureDates > dates / 2;
      return isDated && !hasTooLateDates ? [place] : [];
    });
  }

  /** Returns the columns that look like the id of a merchant by their names and cells. */
  merchants(): MerchantColumns {
    const named = this.columns.filter(
      ({ isNamedMerchant, filled, ids }) => isNamedMerchant && filled > 0 && ids >= filled * MOST_CELLS,
    );
    return {
      likely: named.filter((column) => hasFewValues(column)).map(({ place }) => place),
      doubtful: named.filter((column) => !hasFewValues(column)).map(({ place }) => place),
    };
  }

  #examine(column: ColumnSample, cell: string): void {
    column.filled += 1;
    column.different.add(cell);
    if (ID.test(cell)) column.ids += 1;
    if (isLabel(cell)) column.labels += 1;
    const month = monthOf(cell);
    if (month === undefined) return;
    column.dates += 1;
    if (month >= this.#thisMonth) column.futureDates += 1;
    if (month > this.#thisMonth + MAX_VALID_MONTHS) column.hasTooLateDates = true;
  }
}

function newSample(name: string, place: number): ColumnSample {
  const counts = { filled: 0, dates: 0, futureDates: 0, ids: 0, labels: 0 };
  const seen = { different: new Set<string>(), hasSeveral: false, hasTooLateDates: false };
  return { place, name, isNamedMerchant: isNamedMerchant(name), ...counts, ...seen };
}

function hasFewValues({ hasSeveral, filled, different }: ColumnSample): boolean {
  return hasSeveral && (filled < FEW_CELLS || different.size <= filled / 2);
}

const ID = /^[\p{L}\p{N}][\p{L}\p{N}_.:/-]{0,63}$/u;
const DATE = /^\d{1,4}[-/.]\d{1,2}(?:\D|$)/;
const LABEL = /\p{L}|^\d{9,}$/u;

function isLabel(cell: string): boolean {
  if (!LABEL.test(cell) || DATE.test(cell)) return false;
  const [word = '', ...others] = cell.split(/[^\p{L}]+/u).filter((part) => part !== '');
  return others.length > 0 || !/\d/.test(cell) || monthOfName(word) === undefined;
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
