// Turns one row of an export into a row of the request, or a problem.

import { isAscii } from 'node:buffer';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { type Content, contentOf } from '../request/cell-content.ts';
import { CountedLines, type FileOverview, type Rule } from '../request/request-file.ts';
import { CARD_NUMBER, checkRow } from '../request/request-rules.ts';
import type { Check, Doubt } from '../request/checks.ts';
import { type Mark, markOf } from '../request/marks.ts';
import { doubtsOf, Overview } from '../request/overview.ts';
import { isUuid, rowKey } from '../request/row-key.ts';
import { shapeOf, unwrappedUuid, withoutFormula } from '../request/token-shape.ts';
import type { Overflow } from '../request/row-buckets.ts';
import { TokenTable } from '../request/token-table.ts';
import { headerName, onOneLine } from '../results/kept-columns.ts';
import { type CsvRow, END_MARKS, isQuoted } from '../csv-rows.ts';
import { DateCounter, type DateFacts, type JudgedDate, judged } from './date-facts.ts';
import { KeptRepeats } from './kept-repeats.ts';
import { LateRows, type RepeatedRows } from './late-rows.ts';
import type { ColumnPlaces } from './prepare-columns.ts';
import {
  type DateOrder,
  type Expiration,
  hasLostZero,
  monthOfName,
  ORDER_NAMES,
  readExpiration,
  twoDigitMonth,
  twoDigitYear,
} from './prepare-date.ts';
import { type ProblemGroup, ProblemGroups, type RowFinding } from './prepare-problems.ts';
import type { RepeatColumns } from './repeat-columns.ts';

/** The kinds of changes to rows, in the order of the output. Scripts rely on these names. */
const CHANGES = [
  'line_ends',
  'spaces',
  'marks',
  'wrapped_tokens',
  'quoted_merchants',
  'expirations',
  'years',
  'months',
  'blank_lines',
  'repeated_headers',
  'total_rows',
  'converted_rows',
  'repeated_tokens',
  'later_dates',
  'excluded_tokens',
] as const;

export type ChangeKind = (typeof CHANGES)[number];

/** The number of rows with one kind of change, and the lines of the first rows. */
export interface Change extends Readonly<Pick<CountedLines, 'count' | 'first'>> {
  readonly kind: ChangeKind;
}

export interface PreparedRows {
  /** The number of rows written. */
  readonly rows: number;
  /** The problems of refused rows, one per row. */
  readonly problems: readonly ProblemGroup[];
  readonly problemCount: number;
  /** Whether a problem affects the whole export: it contains a card number, or its rows cannot be separated. */
  readonly isUnusable: boolean;
  readonly changes: readonly Change[];
  /** Lines whose written row contains a longer run of digits that begins or ends with a card number. */
  readonly attachedDigits: Pick<CountedLines, 'count' | 'first'>;
  /** Lines whose written row has a year without a month, or a month without a year. */
  readonly halfDates: Pick<CountedLines, 'count' | 'first'>;
  /** Lines of repeated rows whose kept cells differ from the first row; undefined without kept columns. */
  readonly keptRepeats: Pick<CountedLines, 'count' | 'first'> | undefined;
  /** The expirations of repeated rows that are later than in the first row, by key. */
  readonly laterDates: ReadonlyMap<string, Expiration>;
  /** The overview of all written rows. */
  readonly overview: FileOverview;
  readonly dates: DateFacts;
  /** The doubts about the whole export. */
  readonly doubts: readonly Doubt[];
  /** Words in the merchant column that may mean "no merchant" or be a name, such as NA, and their rows. */
  readonly words: readonly WordRows[];
  /** The rows that were written more than once, because a repeat came after the table of rows was full; undefined if none were. */
  readonly lateRepeats: RepeatedRows | undefined;
}

/** A word that may mean "no merchant" or be a name, and its rows. */
export interface WordRows extends Readonly<Pick<CountedLines, 'count' | 'first'>> {
  readonly word: string;
}

/** The outcome of one row of an export: a row of the request, or a problem. */
export type PreparedRow =
  | { readonly token: string; readonly text: string; readonly finding?: undefined }
  | { readonly finding: RowFinding };

export interface RowOptions {
  readonly places: ColumnPlaces;
  /** The names of the columns. */
  readonly names: readonly string[];
  /** The indexes of columns that are written to another file. */
  readonly kept: readonly number[];
  readonly orders: readonly DateOrder[];
  /** The time zone in whose calendar times are read. */
  readonly zone: string | undefined;
  readonly now: number | undefined;
  readonly accept: readonly Check[];
  /** Words that mean "no merchant". */
  readonly empty: readonly string[];
  /** Whether such words are names of merchants. */
  readonly hasNames: boolean;
  /** Whether a token of another shape than a UUID is refused. */
  readonly onlyUuids: boolean;
  /** The expirations to write in place of earlier ones, by the keys of their rows. */
  readonly laterDates: ReadonlyMap<string, Expiration> | undefined;
  /** The rows that an earlier reading wrote more than once. */
  readonly lateRepeats: RepeatedRows | undefined;
  /** The operator's list of tokens to leave out. */
  readonly exclusions: TokenList | undefined;
  /** Compares the rows of a token; undefined where the merchant is known. */
  readonly repeats: RepeatColumns | undefined;
  /** The approximate number of rows. */
  readonly expectedRows: number;
  /** Opens a file for the hashes of rows that do not fit into memory. Default: memory takes all. */
  readonly openOverflow: (() => Promise<Overflow>) | undefined;
  /** The limit on slots for rows whose repeats are found at once. For tests. */
  readonly mostSlots: number | undefined;
}

/** A file of tokens. */
export interface TokenList {
  /** Returns the line of a token, or 0. */
  lineOf(token: string): number;
}

/** The limit on slots: about three million different rows, as many as ten jobs take, in 64 MiB. */
const MAX_SLOTS = 2 ** 22;

/** Converts rows of an export into rows of a request file, one at a time. */
export class RowPreparer {
  readonly #places: ColumnPlaces;
  readonly #names: readonly string[];
  readonly #kept: readonly number[];
  /** The columns whose cells are written. */
  readonly #written: readonly number[];
  /** The columns that are read for the request. */
  readonly #read: readonly number[];
  readonly #dates: DateReader;
  readonly #problems = new ProblemGroups();
  readonly #changes = new Map<ChangeKind, CountedLines>();
  readonly #exclusions: TokenList | undefined;
  readonly #repeats: RepeatColumns | undefined;
  /** The expirations of the rows so far as numbers, by the keys of the rows. */
  readonly #expirations: TokenTable;
  readonly #writtenDates: ReadonlyMap<string, Expiration> | undefined;
  readonly #laterDates = new Map<string, Expiration>();
  readonly #accept: readonly Check[];
  readonly #overview: Overview;
  readonly #dateCounter = new DateCounter();
  readonly #empty: ReadonlySet<string>;
  readonly #hasNames: boolean;
  readonly #onlyUuids: boolean;
  /** The meaning of each merchant cell: a name, a mark for nothing, or a word that may be either. */
  readonly #merchantMarks = new Map<string, Mark | 'name'>();
  readonly #words = new Map<string, CountedLines>();
  #hasQuotedMerchants = false;
  readonly #attachedDigits = new CountedLines();
  readonly #halfDates = new CountedLines();
  /** Rows that came after the table was full. */
  readonly #late: LateRows;
  readonly #lateRepeats: RepeatedRows | undefined;
  readonly #keptRepeats: KeptRepeats | undefined;
  #isUnusable = false;
  #rows = 0;

  constructor(options: RowOptions) {
    const { places, names, kept, orders, laterDates, lateRepeats, exclusions, repeats, expectedRows, openOverflow } =
      options;
    const { mostSlots = MAX_SLOTS } = options;
    this.#places = places;
    this.#names = names;
    this.#kept = kept;
    this.#written = [places.token ?? -1, places.merchant_id ?? -1, ...kept];
    this.#read = Object.values(places);
    const { accept, empty, hasNames, onlyUuids } = options;
    this.#dates = new DateReader(orders, options.zone);
    this.#accept = accept;
    this.#overview = new Overview(options.now, [...accept, 'marks']);
    this.#empty = new Set(empty.map((word) => word.toLowerCase()));
    this.#hasNames = hasNames;
    this.#onlyUuids = onlyUuids;
    this.#exclusions = exclusions;
    this.#repeats = repeats;
    this.#writtenDates = laterDates;
    this.#expirations = new TokenTable({ words: 3, expected: expectedRows, mostSlots });
    this.#late = new LateRows(this.#expirations, openOverflow);
    this.#lateRepeats = lateRepeats;
    this.#keptRepeats = kept.length === 0 ? undefined : new KeptRepeats({ expected: expectedRows, mostSlots });
  }

  /** Tells whether a row has no token, but nothing or a word such as "total" in its place. */
  isTotal(row: CsvRow): boolean {
    return isTotalWord(cellAt(row.cells, this.#places.token)) && !isBlank(row);
  }

  /** Leaves out a last row without a token as a total. If the export may be cut off in that row, refuses it. */
  takeTotal({ cells, line }: CsvRow, endsWithLineEnd: boolean): PreparedRow | undefined {
    if (cells.some((cell) => contentOf(cell) === 'card_number')) return this.refuse(line, CARD_NUMBER);
    if (cells.some((cell) => cell.trim() !== '' && isTotalWord(cell.trim()))) return this.#dropped('total_rows', line);
    const width = this.#names.length;
    if (cells.length < width) return this.refuse(line, wrongWidth(cells, width));
    if (!endsWithLineEnd && this.#places.token === width - 1) return this.refuse(line, EMPTY_TOKEN);
    return this.#dropped('total_rows', line);
  }

  take(row: CsvRow): PreparedRow | undefined {
    const { cells, line } = row;
    if (isBlank(row)) return this.#dropped('blank_lines', line);
    // Card numbers are refused even in unused columns, because such an export should not be on this machine at all.
    const contents = cells.map((cell) => contentOf(cell));
    if (contents.includes('card_number') || this.#keepsCardNumber(cells)) return this.refuse(line, CARD_NUMBER);
    // A spreadsheet may add empty cells after the last column.
    const width = this.#names.length;
    if (cells.length !== width && (cells.length < width || cells.slice(width).some((cell) => cell !== '')))
      return this.refuse(line, wrongWidth(cells, width));
    const made: ChangeKind[] = [];
    const token = this.#token(cells, made);
    if (isTotalWord(token)) return this.refuse(line, token === '' ? EMPTY_TOKEN : TOTAL_WITHIN);
    if (this.#isHeader(token, cells) || isRuler(token, cells)) return this.#dropped('repeated_headers', line);
    // A row that is not wanted needs no valid expiration.
    if (this.#exclusions !== undefined && this.#exclusions.lineOf(token) > 0)
      return this.#dropped('excluded_tokens', line);
    const expiration = this.#expiration(row, made);
    if ('problem' in expiration) return this.refuse(line, expiration);
    const merchant = this.#merchant(row, made);
    const { year, month } = expiration;
    const whole = { token, isUuid: isUuid(token), year, month, merchant };
    const problem = this.#onlyUuids && !whole.isUuid ? otherShape(token) : this.#overview.problemOf(whole);
    if (problem !== undefined) return this.refuse(line, problem);
    const key = rowKey(token, merchant);
    const sent = this.#latestDate(key) ?? expiration;
    const text = rowText(token, sent, merchant);
    if (typeof text !== 'string') return this.refuse(line, text);
    // The encoding of this row was guessed, and a request must not depend on a guess.
    if (row.isConverted && !isAscii(Buffer.from(text))) return this.refuse(line, WRONG_BYTES);
    if (this.#kept.some((at) => cells[at]?.includes('\uFFFD'))) return this.refuse(line, WRONG_BYTES);
    const isRepeated = this.#isRepeated(key, expiration, line);
    this.#compareKept(key, row, isRepeated);
    this.#repeats?.take(key, cells, isRepeated);
    if (isRepeated) return this.#dropped('repeated_tokens', line);
    this.#overview.take(whole, line);
    if ('isLastDay' in expiration) this.#dateCounter.take(expiration, line);
    if ((sent.year === '') !== (sent.month === '')) this.#halfDates.add(line);
    this.#note(row, contents, made);
    this.#rows += 1;
    return { token, text };
  }

  /** Records the problem of a line. */
  refuse(line: number, finding: RowFinding): PreparedRow {
    this.#problems.add(line, finding);
    if (UNUSABLE.has(finding.rule)) this.#isUnusable = true;
    return { finding };
  }

  /** Moves hashes of rows out of memory if there are many. Callers call it now and then between rows. */
  async relieve(): Promise<void> {
    await this.#late.relieve();
  }

  async finish(): Promise<PreparedRows> {
    if (this.#rows === 0 && this.#problems.count === 0) {
      const problem = this.#changes.has('excluded_tokens')
        ? 'every row of the export is on the list of exclusions'
        : 'the export has no rows';
      this.refuse(1, { rule: 'no_rows', problem });
    }
    const overview = this.#overview.found();
    const dates = this.#dateCounter.found();
    const isClear = this.#hasQuotedMerchants;
    return {
      rows: this.#rows,
      overview,
      dates,
      doubts: [
        ...doubtsOf(overview, this.#accept),
        ...dates.doubts.filter(({ check }) => !this.#accept.includes(check)),
      ],
      words: isClear ? [] : [...this.#words].map(([word, { count, first }]) => ({ word, count, first })),
      problems: this.#problems.largestFirst(),
      problemCount: this.#problems.count,
      isUnusable: this.#isUnusable,
      changes: CHANGES.flatMap((kind) => {
        const lines = this.#changes.get(kind);
        return lines ? [{ kind, count: lines.count, first: lines.first }] : [];
      }),
      attachedDigits: this.#attachedDigits,
      halfDates: this.#halfDates,
      keptRepeats: this.#keptRepeats?.lines,
      laterDates: this.#laterDates,
      lateRepeats: await this.#late.repeated(),
    };
  }

  #token(cells: readonly string[], made: ChangeKind[]): string {
    const token = cellAt(cells, this.#places.token);
    if (token.length <= UUID_LENGTH && !token.includes('‑')) return token;
    const uuid = unwrappedUuid(token);
    if (uuid === undefined) return token;
    made.push('wrapped_tokens');
    return uuid;
  }

  /** Returns the merchant of a row; empty for an unquoted mark for nothing, such as NULL. */
  #merchant(row: CsvRow, made: ChangeKind[]): string {
    const place = this.#places.merchant_id;
    const cell = cellAt(row.cells, place);
    if (place === undefined || cell === '') return cell;
    const text = sqlText(cell);
    if (text !== undefined) made.push('quoted_merchants');
    if (text !== undefined || isQuoted(row, place)) {
      this.#hasQuotedMerchants = true;
      return text ?? cell;
    }
    const mark = this.#merchantMark(cell);
    if (mark === 'name') return cell;
    made.push('marks');
    if (mark === 'word' && !this.#empty.has(cell.toLowerCase())) {
      const lines = this.#words.get(cell) ?? new CountedLines();
      this.#words.set(cell, lines);
      lines.add(row.line);
    }
    return '';
  }

  #merchantMark(cell: string): Mark | 'name' {
    const cachedMark = this.#merchantMarks.get(cell);
    if (cachedMark !== undefined) return cachedMark;
    const ownMark = markOf(cell);
    const mark = ownMark === undefined || (ownMark === 'word' && this.#hasNames) ? 'name' : ownMark;
    if (this.#merchantMarks.size < MERCHANTS_KEPT) this.#merchantMarks.set(cell, mark);
    return mark;
  }

  #expiration(row: CsvRow, made: ChangeKind[]): Expiration | JudgedDate | RowFinding {
    const { cells } = row;
    if (this.#places.expiration !== undefined) {
      const cell = cellAt(cells, this.#places.expiration);
      const read = this.#dates.read(cell);
      if ('problem' in read && this.#isMark(row, 'expiration', cell, made)) return NO_EXPIRATION;
      if (cell !== '') made.push('expirations');
      return read;
    }
    const yearCell = cellAt(cells, this.#places.expiration_year);
    const monthCell = cellAt(cells, this.#places.expiration_month);
    let year = yearCell === '' ? '' : twoDigitYear(yearCell);
    let month = monthCell === '' ? '' : (twoDigitMonth(monthCell) ?? monthOfName(monthCell));
    if (year === undefined && this.#isMark(row, 'expiration_year', yearCell, made)) year = '';
    if (month === undefined && this.#isMark(row, 'expiration_month', monthCell, made)) month = '';
    if (year === undefined) return { ...WRONG_YEAR, shape: shapeOf(yearCell) };
    if (month === undefined)
      return isSwapped(yearCell, monthCell) ? SWAPPED : { ...WRONG_MONTH, shape: shapeOf(monthCell) };
    if (year !== yearCell) made.push('years');
    if (month !== monthCell) made.push('months');
    return { year, month };
  }

  /** Tells whether an unquoted cell of a date is a mark for nothing. */
  #isMark(row: CsvRow, column: keyof ColumnPlaces, cell: string, made: ChangeKind[]): boolean {
    if (markOf(cell) === undefined || isQuoted(row, this.#places[column] ?? -1)) return false;
    made.push('marks');
    return true;
  }

  /** Tells whether a kept cell is a card number once it is on one line. */
  #keepsCardNumber(cells: readonly string[]): boolean {
    return this.#kept.some((at) => {
      const cell = cells[at] ?? '';
      const written = onOneLine(cell);
      return written !== cell && contentOf(written) === 'card_number';
    });
  }

  #isHeader(token: string, cells: readonly string[]): boolean {
    if (headerName(token) !== this.#names[this.#places.token ?? -1]) return false;
    return this.#names.every((name, at) => headerName(cells[at] ?? '') === name);
  }

  #isRepeated(key: string, expiration: Expiration, line: number): boolean {
    const date = dateNumber(expiration);
    const repeat = this.#lateRepeats?.take(key, date);
    if (repeat !== undefined) {
      if (repeat === 'later') this.#changed('later_dates', line);
      return repeat !== 'first';
    }
    const earlier = this.#expirations.isFull ? 0 : this.#expirations.setIfAbsent(key, date);
    if (earlier === 0) {
      if (this.#expirations.isFull && this.#lateRepeats === undefined) this.#late.add(key, date);
      return false;
    }
    if (date > earlier) {
      this.#expirations.set(key, date);
      this.#laterDates.set(key, expiration);
      this.#changed('later_dates', line);
    }
    return true;
  }

  #compareKept(key: string, { cells, line }: CsvRow, isRepeated: boolean): void {
    if (this.#keptRepeats === undefined) return;
    // Rows that differ only in blanks are the same customer.
    const kept = this.#kept.map((at) => onOneLine(cells[at] ?? '').trim());
    if (isRepeated) this.#keptRepeats.takeRepeat(key, kept, line);
    else this.#keptRepeats.addFirst(key, kept, (this.#lateRepeats?.latestOf(key) ?? 0) !== 0);
  }

  /** Returns the latest expiration of a row that repeats, as an earlier reading found it. */
  #latestDate(key: string): Expiration | undefined {
    return expirationOf(this.#lateRepeats?.latestOf(key) ?? 0) ?? this.#writtenDates?.get(key);
  }

  /** Counts the changes to a written row. */
  #note(row: CsvRow, contents: readonly Content[], made: ChangeKind[]): void {
    const { cells, line } = row;
    if (contents.includes('attached_digits') && this.#written.some((at) => contents[at] === 'attached_digits'))
      this.#attachedDigits.add(line);
    if (row.isConverted) made.push('converted_rows');
    if (row.endsWithReturn) made.push('line_ends');
    if (row.hasPaddedQuotes || this.#read.some((at) => isPadded(cells[at]))) made.push('spaces');
    for (const kind of made) this.#changed(kind, line);
  }

  #dropped(kind: ChangeKind, line: number): undefined {
    this.#changed(kind, line);
  }

  #changed(kind: ChangeKind, line: number): void {
    const lines = this.#changes.get(kind) ?? new CountedLines();
    this.#changes.set(kind, lines);
    lines.add(line);
  }
}

/** The largest number of different merchants whose meaning is remembered. */
const MERCHANTS_KEPT = 1_000;
const UUID_LENGTH = 36;
const NO_EXPIRATION: Expiration = { year: '', month: '' };

const UNUSABLE: ReadonlySet<Rule> = new Set<Rule>(['card_number', 'quoting', 'no_rows']);

const EMPTY_TOKEN = { rule: 'token_empty', column: 'token', problem: 'is empty' } as const;
const TOTAL_WITHIN = { rule: 'token_empty', column: 'token', problem: 'is a total in place of a token' } as const;
const WRONG_YEAR = { rule: 'year', column: 'expiration_year', problem: 'is not a year of 2 or 4 digits' } as const;
const WRONG_MONTH = { rule: 'month', column: 'expiration_month', problem: 'is not a month from 1 to 12' } as const;
const SWAPPED = {
  rule: 'month',
  column: 'expiration_month',
  problem: 'is a year, and expiration_year a month: are the two columns swapped?',
} as const;
const WRONG_BYTES = {
  rule: 'encoding',
  problem: 'the row has bytes that are no text in UTF-8 or UTF-16: save the export as UTF-8',
} as const;

function cellAt(cells: readonly string[], place: number | undefined): string {
  return place === undefined ? '' : withoutFormula((cells[place] ?? '').trim());
}

/** Tells whether the cells of a year and a month look as if their columns were swapped. */
function isSwapped(year: string, month: string): boolean {
  return twoDigitMonth(year) !== undefined && /^(?:20)?[2-4]\d$/.test(month);
}

/** Returns the text of a cell in plain quotes, as SQL and `sqlite3 -quote` write it; undefined for any other cell. */
function sqlText(cell: string): string | undefined {
  return cell.startsWith("'") ? /^'((?:[^']|'')*)'$/.exec(cell)?.[1]?.replaceAll("''", "'").trim() : undefined;
}

/** Tells whether a row only underlines the header, as sqlcmd writes it. */
function isRuler(token: string, cells: readonly string[]): boolean {
  return token.startsWith('--') && cells.every((cell) => /^-+$/.test(cell.trim()));
}

function otherShape(token: string): RowFinding {
  return { rule: 'tokens', column: 'token', problem: OTHER_SHAPE, shape: shapeOf(token) };
}

/** The reason of a row whose token differs from the others. */
export const OTHER_SHAPE = 'is no UUID, as most tokens are';

const MAX_TOTAL_LENGTH = 24;
/** The first cell of a total below the rows. psql and sqlcmd write the number of rows there. */
const TOTAL = /^(?:(?:grand )?total|sum|summe|\(\d+ rows?(?: affected)?\))?:?$/i;

function isTotalWord(token: string): boolean {
  return token.length <= MAX_TOTAL_LENGTH && TOTAL.test(token);
}

export function isBlank({ cells }: CsvRow): boolean {
  return cells.every((cell) => cell.trim() === '' || END_MARKS.includes(cell.charAt(0)));
}

/** Returns an expiration as a number, larger for a later one; 1 for an incomplete one. */
function dateNumber({ year, month }: Expiration): number {
  return year === '' || month === '' ? 1 : 2 + Number(year) * 12 + Number(month);
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** Returns the expiration for a number of `dateNumber`; undefined for an incomplete one. */
function expirationOf(date: number): Expiration | undefined {
  if (date <= 1) return undefined;
  const months = date - 3;
  return { year: twoDigits(Math.floor(months / 12)), month: twoDigits((months % 12) + 1) };
}

/**
 * Returns the problem of a row with the wrong number of cells. Such a row may contain a card number that spans cells.
 */
function wrongWidth(cells: readonly string[], width: number): RowFinding {
  if (containsCardNumber(cells.join(' '), 'cell')) return CARD_NUMBER;
  return { rule: 'columns', problem: `the row has ${cells.length} cells, and the header ${width}` };
}

/** Returns the line for the request file, or the problem with it. */
function rowText(token: string, { year, month }: Expiration, merchant: string): string | RowFinding {
  // Most rows are recognized as valid by this cheap test.
  if (isUuid(token) && PLAIN_MERCHANT.test(merchant)) return `${token},${year},${month},${merchant}\n`;
  if (token.includes('\uFFFD') || merchant.includes('\uFFFD')) return WRONG_BYTES;
  const text = csvRow([token, year, month, merchant]);
  return checkRow(Buffer.from(text.slice(0, -1))).findings[0] ?? text;
}

const PLAIN_MERCHANT = /^[\w.-]*$/;

/** The largest number of dates that are cached. An export has a few hundred different ones. */
const DATES_KEPT = 5_000;
const MAX_KEPT_LENGTH = 40;

/** Reads expirations and caches the results. */
class DateReader {
  readonly #orders: readonly DateOrder[];
  readonly #zone: string | undefined;
  readonly #known = new Map<string, Expiration | JudgedDate | RowFinding>();

  constructor(orders: readonly DateOrder[], zone: string | undefined) {
    this.#orders = orders;
    this.#zone = zone;
  }

  read(cell: string): Expiration | JudgedDate | RowFinding {
    const cached = this.#known.get(cell);
    if (cached !== undefined) return cached;
    const date = this.#readUncached(cell);
    if (this.#known.size < DATES_KEPT && cell.length <= MAX_KEPT_LENGTH) this.#known.set(cell, date);
    return date;
  }

  #readUncached(cell: string): Expiration | JudgedDate | RowFinding {
    if (cell === '') return NO_EXPIRATION;
    if (hasLostZero(cell)) return { ...LOST_ZERO, shape: shapeOf(cell) };
    const date = readExpiration(cell, this.#orders, this.#zone);
    if (date === undefined)
      return { rule: 'date', problem: 'the expiration is not a month and a year', shape: shapeOf(cell) };
    if (!('orders' in date)) return judged(date);
    const orders = date.orders.map((order) => `${ORDER_NAMES[order]} (--date-order ${order})`);
    const problem = `the expiration may be ${orders.join(' or ')}`;
    return { rule: 'date_order', problem, shape: shapeOf(cell), orders: date.orders };
  }
}

const LOST_ZERO = {
  rule: 'date',
  problem:
    'the expiration has one digit behind a point: January, or October without its zero; export the column as text',
} as const;

function isPadded(cell = ''): boolean {
  return cell !== cell.trim();
}
