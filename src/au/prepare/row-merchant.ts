// Reads the merchant of a row of an export.

import { CountedLines } from '../request/request-file.ts';
import { type Mark, markOf } from '../request/marks.ts';
import { type CsvRow, isQuoted } from '../csv-rows.ts';
import type { ChangeKind, Lines } from './changes.ts';
import type { ReadingOptions } from './how-to-read.ts';
import { cellAt } from './row-cells.ts';

/** A word that may mean "no merchant" or be a name, and its rows. */
export interface WordRows extends Lines {
  readonly word: string;
}

/** The largest number of different merchants whose meaning is remembered. */
const MERCHANTS_KEPT = 1_000;

export class MerchantReader {
  readonly #place: number | undefined;
  readonly #empty: ReadonlySet<string>;
  readonly #noEmpty: boolean;
  /** The meaning of each cell: a name, a mark for nothing, or a word that may be either. */
  readonly #meanings = new Map<string, Mark | 'name'>();
  readonly #words = new Map<string, CountedLines>();
  #hasQuoted = false;

  constructor(place: number | undefined, { empty = [], noEmpty = false }: Pick<ReadingOptions, 'empty' | 'noEmpty'>) {
    this.#place = place;
    this.#empty = new Set(empty.map((word) => word.toLowerCase()));
    this.#noEmpty = noEmpty;
  }

  /** Returns the merchant of a row; empty for an unquoted mark for nothing, such as NULL. Adds its changes to `made`. */
  read(row: CsvRow, made: ChangeKind[]): string {
    const place = this.#place;
    const cell = cellAt(row.cells, place);
    if (place === undefined || cell === '') return cell;
    const text = sqlText(cell);
    if (text !== undefined) made.push('quoted_merchants');
    if (text !== undefined || isQuoted(row, place)) {
      this.#hasQuoted = true;
      return text ?? cell;
    }
    const meaning = this.#meaningOf(cell);
    if (meaning === 'name') return cell;
    made.push('marks');
    if (meaning === 'word' && !this.#empty.has(cell.toLowerCase())) {
      const lines = this.#words.get(cell) ?? new CountedLines();
      this.#words.set(cell, lines);
      lines.add(row.line);
    }
    return '';
  }

  /** Returns the words that may mean "no merchant" or be a name. Where other cells are quoted, unquoted words are no names. */
  unclearWords(): readonly WordRows[] {
    return this.#hasQuoted ? [] : [...this.#words].map(([word, { count, first }]) => ({ word, count, first }));
  }

  #meaningOf(cell: string): Mark | 'name' {
    const known = this.#meanings.get(cell);
    if (known !== undefined) return known;
    const mark = markOf(cell);
    const meaning = mark === undefined || (mark === 'word' && this.#noEmpty) ? 'name' : mark;
    if (this.#meanings.size < MERCHANTS_KEPT) this.#meanings.set(cell, meaning);
    return meaning;
  }
}

/** Returns the text of a cell in plain quotes, as SQL and `sqlite3 -quote` write it; undefined for any other cell. */
function sqlText(cell: string): string | undefined {
  return cell.startsWith("'") ? /^'((?:[^']|'')*)'$/.exec(cell)?.[1]?.replaceAll("''", "'").trim() : undefined;
}
