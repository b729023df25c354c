import { containsCardNumber, inspectCell } from '../../base/security/card-number.ts';
import { csvRow } from '../../cli/output/csv.ts';
import {
  type ColumnPlaces,
  type DateOrder,
  type Delimiter,
  type Expiration,
  readExpiration,
  twoDigitMonth,
  twoDigitYear,
} from './prepare-columns.ts';
import { CountedLines, type Finding, type Problem, Problems } from './request-file.ts';
import { CARD_NUMBER, checkRow } from './request-rules.ts';
import { TokenTable } from './token-table.ts';

/** What was changed in rows, in the order in which it is printed. Stable names, for scripts. */
const CHANGES = ['line_ends', 'spaces', 'expirations', 'years', 'months', 'blank_lines', 'repeated_tokens'] as const;

export type ChangeKind = (typeof CHANGES)[number];

/** How many rows were changed in one way, and the lines of the first. */
export interface Change {
  readonly kind: ChangeKind;
  readonly count: number;
  readonly lines: readonly number[];
}

export interface PreparedRows {
  /** Rows written. */
  readonly rows: number;
  readonly problems: readonly Problem[];
  readonly problemCount: number;
  readonly changes: readonly Change[];
  /** Lines with a run of digits in the row written that begins or ends with a card number. */
  readonly attachedDigits: Pick<CountedLines, 'count' | 'first'>;
  /** The last line compared with those above it, where there were too many different tokens to compare all. */
  readonly comparedTo: number | undefined;
}

const LINES_KEPT = 3;
/** About three million different tokens, as many as ten jobs take, in 64 MiB. */
const MOST_SLOTS = 2 ** 22;

/** Makes rows of a request file of the rows of an export, one at a time. */
export class RowPreparer {
  readonly #places: ColumnPlaces;
  readonly #width: number;
  readonly #delimiter: Delimiter;
  readonly #order: DateOrder | undefined;
  readonly #problems = new Problems();
  readonly #changes = new Map<ChangeKind, { count: number; lines: number[] }>();
  // Three words of hash: a row that is dropped by mistake would not be missed.
  readonly #tokens = new TokenTable({ words: 3, mostSlots: MOST_SLOTS });
  readonly #attachedDigits = new CountedLines();
  #comparedTo: number | undefined;
  #rows = 0;

  constructor(places: ColumnPlaces, width: number, delimiter: Delimiter, order: DateOrder | undefined) {
    this.#places = places;
    this.#width = width;
    this.#delimiter = delimiter;
    this.#order = order;
  }

  /** The line of the request file; null where the row is dropped or refused. `raw` is the text of the row. */
  take(cells: readonly string[], raw: string, line: number): string | null {
    if (cells.every((cell) => cell.trim() === '')) return this.#dropped('blank_lines', line);
    // A card number is refused in columns that are left out too: the export should not be here at all.
    if (cells.some((cell) => containsCardNumber(cell, 'cell'))) return this.refuse(line, CARD_NUMBER);
    // A spreadsheet may leave empty cells behind the last column.
    if (cells.length < this.#width || cells.slice(this.#width).some((cell) => cell !== ''))
      return this.refuse(line, {
        rule: 'columns',
        problem: `the row has ${cells.length} cells, and the header ${this.#width}`,
      });
    const made: ChangeKind[] = [];
    const expiration = this.#expiration(cells, made);
    if ('problem' in expiration) return this.refuse(line, expiration);
    const token = this.#cell(cells, 'token');
    const merchant = this.#cell(cells, 'merchant_id');
    const row = [token, expiration.year, expiration.month, merchant];
    const isValid = isPlain(token, merchant);
    const text = isValid ? `${row.join(',')}\n` : csvRow(row);
    const [wrong] = isValid ? [] : checkRow(Buffer.from(text.slice(0, -1))).findings;
    if (wrong) return this.refuse(line, wrong);
    if (this.#isRepeated(token, line)) return this.#dropped('repeated_tokens', line);
    if ([token, merchant].some((cell) => inspectCell(cell) === 'attached_digits')) this.#attachedDigits.add(line);
    if (raw.endsWith('\r')) made.push('line_ends');
    if (this.#hadSpaces(cells, raw)) made.push('spaces');
    for (const kind of made) this.#changed(kind, line);
    this.#rows += 1;
    return text;
  }

  /** Records what is wrong with a line. */
  refuse(line: number, finding: Finding): null {
    this.#problems.add(line, [finding]);
    return null;
  }

  finish(): PreparedRows {
    if (this.#rows === 0 && this.#problems.count === 0)
      this.refuse(1, { rule: 'no_rows', problem: 'the export has no rows' });
    return {
      rows: this.#rows,
      problems: this.#problems.first,
      problemCount: this.#problems.count,
      changes: CHANGES.flatMap((kind) => {
        const change = this.#changes.get(kind);
        return change ? [{ kind, ...change }] : [];
      }),
      attachedDigits: this.#attachedDigits,
      comparedTo: this.#comparedTo,
    };
  }

  #expiration(cells: readonly string[], made: ChangeKind[]): Expiration | Finding {
    if (this.#places.expiration !== undefined) return this.#combined(this.#cell(cells, 'expiration'), made);
    const yearCell = this.#cell(cells, 'expiration_year');
    const monthCell = this.#cell(cells, 'expiration_month');
    const year = yearCell === '' ? '' : twoDigitYear(yearCell);
    const month = monthCell === '' ? '' : twoDigitMonth(monthCell);
    if (year === undefined)
      return { rule: 'year', column: 'expiration_year', problem: 'is not a year of 2 or 4 digits' };
    if (month === undefined)
      return { rule: 'month', column: 'expiration_month', problem: 'is not a month from 1 to 12' };
    if (year !== yearCell) made.push('years');
    if (month !== monthCell) made.push('months');
    return { year, month };
  }

  #combined(cell: string, made: ChangeKind[]): Expiration | Finding {
    if (cell === '') return { year: '', month: '' };
    const found = readExpiration(cell, this.#order);
    if (found === undefined) return { rule: 'date', problem: 'the expiration is not a month and a year' };
    if (found === 'ambiguous')
      return { rule: 'date_order', problem: 'the expiration can be month and year, or year and month' };
    made.push('expirations');
    return found;
  }

  #cell(cells: readonly string[], column: keyof ColumnPlaces): string {
    const place = this.#places[column];
    return place === undefined ? '' : (cells[place] ?? '').trim();
  }

  #isRepeated(token: string, line: number): boolean {
    if (this.#comparedTo !== undefined) return false;
    const slot = this.#tokens.find(token);
    if (this.#tokens.valueAt(slot) > 0) return true;
    this.#tokens.put(slot, line);
    if (this.#tokens.isFull) this.#comparedTo = line - 1;
    return false;
  }

  /** The parser trims cells that are not quoted, so those are looked up in the row as it stands. */
  #hadSpaces(cells: readonly string[], raw: string): boolean {
    const written = raw.replaceAll(/"[^"]*"|[\r\n]$/g, '').split(this.#delimiter);
    return Object.values(this.#places).some((at) => isPadded(written[at]) || isPadded(cells[at]));
  }

  #dropped(kind: ChangeKind, line: number): null {
    this.#changed(kind, line);
    return null;
  }

  #changed(kind: ChangeKind, line: number): void {
    const change = this.#changes.get(kind) ?? { count: 0, lines: [] };
    change.count += 1;
    if (change.lines.length < LINES_KEPT) change.lines.push(line);
    this.#changes.set(kind, change);
  }
}

/** Whether the row is valid by its looks, without quotes: so are most. */
function isPlain(token: string, merchant: string): boolean {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(token) && /^[\w.-]*$/.test(merchant);
}

function isPadded(cell = ''): boolean {
  return cell !== cell.trim();
}
