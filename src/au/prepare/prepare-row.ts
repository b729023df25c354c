// Turns one row of an export into a row of the request, or a problem.

import { isAscii } from 'node:buffer';
import { containsCardNumber } from '../../base/security/card-number.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { type Content, contentOf } from '../request/cell-content.ts';
import { CountedLines, type FileOverview, type Rule } from '../request/request-file.ts';
import { CARD_NUMBER, checkRow } from '../request/request-rules.ts';
import type { Doubt } from '../request/checks.ts';
import { doubtsOf, Overview } from '../request/overview.ts';
import { isUuid, rowKey } from '../request/row-key.ts';
import { shapeOf, unwrappedUuid } from '../request/token-shape.ts';
import { TokenTable } from '../request/token-table.ts';
import { headerName, onOneLine } from '../results/kept-columns.ts';
import type { CsvRow } from '../csv-rows.ts';
import { type Change, type ChangeKind, Changes, type Lines } from './changes.ts';
import { ColumnSamples, type MerchantColumns } from './column-samples.ts';
import { DateCounter, type DateFacts } from './date-facts.ts';
import type { PrepareOptions } from './how-to-read.ts';
import { type ColumnPlaces, PREPARED_COLUMNS } from './prepare-columns.ts';
import type { Expiration } from '../date-parts.ts';
import { type ProblemGroup, ProblemGroups, type RowFinding } from './prepare-problems.ts';
import { RepeatColumns } from './repeat-columns.ts';
import { cellAt, isBlank, isRuler, isTotalWord } from './row-cells.ts';
import { RowDates, type RepeatedRows, type RepeatPlace } from './row-dates.ts';
import { dateNumber, expirationOf, ExpirationReader } from './row-expiration.ts';
import { MerchantReader, type WordRows } from './row-merchant.ts';

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
  readonly attachedDigits: Lines;
  /** Lines whose written row has a year without a month, or a month without a year. */
  readonly halfDates: Lines;
  /** Lines of repeated rows whose kept cells differ from the first row. */
  readonly keptRepeats: Lines;
  /** The overview of all written rows. */
  readonly overview: FileOverview;
  readonly dates: DateFacts;
  /** The doubts about the whole export. */
  readonly doubts: readonly Doubt[];
  /** Words in the merchant column that may mean "no merchant" or be a name, such as NA, and their rows. */
  readonly words: readonly WordRows[];
  /** The rows that repeat a token and merchant, for the next reading, which writes each once; undefined if there are none. */
  readonly repeated: RepeatedRows | undefined;
  /** The names of columns that look like the expiration, if that is not known. */
  readonly candidates: readonly string[];
  /** The names of columns that look like the merchant, if that is not known. */
  readonly merchants: Readonly<Record<keyof MerchantColumns, readonly string[]>>;
  /** The names of columns that tell repeated rows apart, if the merchant is not known. */
  readonly tellingApart: readonly string[];
}

/** The outcome of one row of an export: a row of the request, or a problem. */
export type PreparedRow =
  | { readonly token: string; readonly text: string; readonly finding?: undefined }
  | { readonly finding: RowFinding };

/** The columns of an export. */
export interface ExportColumns {
  readonly names: readonly string[];
  readonly places: ColumnPlaces;
  /** The indexes of columns that are written to another file. */
  readonly kept: readonly number[];
}

/** Converts rows of an export into rows of a request file, one at a time. */
export class RowPreparer {
  readonly #options: PrepareOptions;
  readonly #columns: ExportColumns;
  readonly #expirations: ExpirationReader;
  readonly #merchants: MerchantReader;
  readonly #overview: Overview;
  readonly #samples: ColumnSamples;
  readonly #repeatColumns: RepeatColumns;
  readonly #rowDates: RowDates;
  readonly #problems = new ProblemGroups();
  readonly #changes = new Changes();
  readonly #dateCounter = new DateCounter();
  readonly #attachedDigits = new CountedLines();
  readonly #halfDates = new CountedLines();
  /** The keys and kept cells of the first of repeated rows. */
  readonly #firstKept = new TokenTable({ hasValues: false });
  readonly #keptRepeats = new CountedLines();
  #isUnusable = false;
  #rows = 0;

  constructor(options: PrepareOptions, columns: ExportColumns) {
    const { now, accept = [], openOverflow } = options;
    const { names, places } = columns;
    this.#options = options;
    this.#columns = columns;
    this.#expirations = new ExpirationReader(places, options);
    this.#merchants = new MerchantReader(places.merchant_id, options);
    this.#overview = new Overview(now, [...accept, 'marks']);
    this.#samples = new ColumnSamples(names, Object.values(places), now);
    this.#repeatColumns = new RepeatColumns(places.merchant_id === undefined ? this.#samples.columns : []);
    this.#rowDates = new RowDates(openOverflow);
  }

  /** Tells whether a row has no token, but nothing or a word such as "total" in its place. */
  isTotal(row: CsvRow): boolean {
    return isTotalWord(cellAt(row.cells, this.#columns.places.token)) && !isBlank(row);
  }

  /** Leaves out a last row without a token as a total. If the export may be cut off in that row, refuses it. */
  takeTotal({ cells, line }: CsvRow, endsWithLineEnd: boolean): PreparedRow | undefined {
    if (cells.some((cell) => contentOf(cell) === 'card_number')) return this.refuse(line, CARD_NUMBER);
    if (cells.some((cell) => cell.trim() !== '' && isTotalWord(cell.trim()))) return this.#drop('total_rows', line);
    const width = this.#columns.names.length;
    if (cells.length < width) return this.refuse(line, wrongWidth(cells, width));
    if (!endsWithLineEnd && this.#columns.places.token === width - 1) return this.refuse(line, EMPTY_TOKEN);
    return this.#drop('total_rows', line);
  }

  take(row: CsvRow): PreparedRow | undefined {
    const { cells, line } = row;
    const { names, kept } = this.#columns;
    const { exclusions, onlyUuids } = this.#options;
    this.#samples.take(cells);
    if (isBlank(row)) return this.#drop('blank_lines', line);
    // Card numbers are refused even in unused columns, because such an export should not be on this machine at all.
    const contents = cells.map((cell) => contentOf(cell));
    if (contents.includes('card_number') || this.#keepsCardNumber(cells)) return this.refuse(line, CARD_NUMBER);
    // A spreadsheet may add empty cells after the last column.
    const width = names.length;
    if (cells.length !== width && (cells.length < width || cells.slice(width).some((cell) => cell !== '')))
      return this.refuse(line, wrongWidth(cells, width));
    const made: ChangeKind[] = [];
    const token = this.#token(cells, made);
    if (isTotalWord(token)) return this.refuse(line, token === '' ? EMPTY_TOKEN : TOTAL_WITHIN);
    if (this.#isHeader(token, cells) || isRuler(token, cells)) return this.#drop('repeated_headers', line);
    // A row that is not wanted needs no valid expiration.
    if (exclusions !== undefined && exclusions.lineOf(token) > 0) return this.#drop('excluded_tokens', line);
    const expiration = this.#expirations.read(row, made);
    if ('problem' in expiration) return this.refuse(line, expiration);
    const merchant = this.#merchants.read(row, made);
    const { year, month } = expiration;
    const whole = { token, isUuid: isUuid(token), year, month, merchant };
    const problem =
      onlyUuids?.(cells) === true && !whole.isUuid
        ? { ...NO_UUID, shape: shapeOf(token) }
        : this.#overview.problemOf(whole);
    if (problem !== undefined) return this.refuse(line, problem);
    const key = rowKey(token, merchant);
    const sent = expirationOf(this.#options.repeated?.latestOf(key) ?? 0) ?? expiration;
    const text = rowText(token, sent, merchant);
    if (typeof text !== 'string') return this.refuse(line, text);
    // The encoding of this row was guessed, and a request must not depend on a guess.
    if (row.isConverted && !isAscii(Buffer.from(text))) return this.refuse(line, WRONG_BYTES);
    if (kept.some((at) => cells[at]?.includes('\uFFFD'))) return this.refuse(line, WRONG_BYTES);
    this.#repeatColumns.take(key, cells);
    const repeat = this.#takeRepeat(key, expiration, row);
    // The day counts in the row whose month is sent.
    if (repeat !== 'repeated' && 'isLastDay' in expiration && dateNumber(expiration) === dateNumber(sent))
      this.#dateCounter.take(expiration, line);
    if (repeat === 'repeated' || repeat === 'later') return this.#drop('repeated_tokens', line);
    this.#overview.take({ ...whole, year: sent.year, month: sent.month }, line);
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
    await this.#rowDates.relieve();
  }

  async finish(): Promise<PreparedRows> {
    if (this.#rows === 0 && this.#problems.count === 0) {
      const problem = this.#changes.has('excluded_tokens')
        ? 'every row of the export is on the list of exclusions'
        : 'the export has no rows';
      this.refuse(1, { rule: 'no_rows', problem });
    }
    const { accept = [] } = this.#options;
    const overview = this.#overview.found();
    const dates = this.#dateCounter.found();
    return {
      rows: this.#rows,
      overview,
      dates,
      doubts: [...doubtsOf(overview, accept), ...dates.doubts.filter(({ check }) => !accept.includes(check))],
      words: this.#merchants.unclearWords(),
      problems: this.#problems.largestFirst(),
      problemCount: this.#problems.count,
      isUnusable: this.#isUnusable,
      changes: this.#changes.found(),
      attachedDigits: this.#attachedDigits,
      halfDates: this.#halfDates,
      keptRepeats: this.#keptRepeats,
      repeated: await this.#rowDates.repeated(),
      ...this.#unknownColumns(),
    };
  }

  /** Returns the columns that may have what no column is known to have. */
  #unknownColumns(): Pick<PreparedRows, 'candidates' | 'merchants' | 'tellingApart'> {
    const { names, places } = this.#columns;
    const { noExpiration, noMerchant } = this.#options;
    const isDated = (places.expiration ?? places.expiration_year ?? places.expiration_month) !== undefined;
    const namesOf = (found: readonly number[]): string[] => found.map((at) => names[at] ?? '');
    const { likely, doubtful } = this.#samples.merchants();
    const areNoMerchants = places.merchant_id !== undefined || noMerchant === true;
    return {
      candidates: isDated || noExpiration ? [] : namesOf(this.#samples.expirations()),
      merchants: { likely: areNoMerchants ? [] : namesOf(likely), doubtful: areNoMerchants ? [] : namesOf(doubtful) },
      tellingApart: namesOf(this.#repeatColumns.found()),
    };
  }

  #token(cells: readonly string[], made: ChangeKind[]): string {
    const token = cellAt(cells, this.#columns.places.token);
    const uuid = unwrappedUuid(token);
    if (uuid === undefined) return token;
    made.push('wrapped_tokens');
    return uuid;
  }

  /** Tells whether a kept cell is a card number once it is on one line. */
  #keepsCardNumber(cells: readonly string[]): boolean {
    return this.#columns.kept.some((at) => {
      const cell = cells[at] ?? '';
      const written = onOneLine(cell);
      return written !== cell && contentOf(written) === 'card_number';
    });
  }

  #isHeader(token: string, cells: readonly string[]): boolean {
    const { names, places } = this.#columns;
    if (headerName(token) !== names[places.token ?? -1]) return false;
    return names.every((name, at) => headerName(cells[at] ?? '') === name);
  }

  /** Takes a row as one of those with its key. The first reading only collects the rows, and finds repeats at its end. */
  #takeRepeat(key: string, expiration: Expiration, { cells, line }: CsvRow): RepeatPlace | undefined {
    const date = dateNumber(expiration);
    const { repeated } = this.#options;
    if (repeated === undefined) {
      this.#rowDates.add(key, date);
      return undefined;
    }
    const place = repeated.take(key, date);
    if (place === undefined) return undefined;
    if (place === 'later') this.#changes.add('later_dates', line);
    // Rows that differ only in blanks are the same customer.
    const row = [key, ...this.#columns.kept.map((at) => onOneLine(cells[at] ?? '').trim())].join('\0');
    if (place === 'first') this.#firstKept.setIfAbsent(row, 1);
    else if (this.#firstKept.get(row) === 0) this.#keptRepeats.add(line);
    return place;
  }

  /** Counts the changes to a written row. */
  #note(row: CsvRow, contents: readonly Content[], made: ChangeKind[]): void {
    const { cells, line } = row;
    const { places, kept } = this.#columns;
    const hasDigits = (at = -1): boolean => contents[at] === 'attached_digits';
    if (hasDigits(places.token) || hasDigits(places.merchant_id) || kept.some((at) => hasDigits(at)))
      this.#attachedDigits.add(line);
    if (row.isConverted) made.push('converted_rows');
    if (row.endsWithReturn) made.push('line_ends');
    if (PREPARED_COLUMNS.some((column) => isPadded(cells[places[column] ?? -1]))) made.push('spaces');
    for (const kind of made) this.#changes.add(kind, line);
  }

  #drop(kind: ChangeKind, line: number): undefined {
    this.#changes.add(kind, line);
  }
}

const UNUSABLE: ReadonlySet<Rule> = new Set<Rule>(['card_number', 'quoting', 'no_rows']);

const EMPTY_TOKEN = { rule: 'token_empty', column: 'token', problem: 'is empty' } as const;
const TOTAL_WITHIN = { rule: 'token_empty', column: 'token', problem: 'is a total in place of a token' } as const;
const WRONG_BYTES = {
  rule: 'encoding',
  problem: 'the row has bytes that are no text in UTF-8 or UTF-16: save the export as UTF-8',
} as const;

/** The problem of a row whose token differs from the others. */
export const NO_UUID = { rule: 'tokens', column: 'token', problem: 'is no UUID, as most tokens are' } as const;

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

const PLAIN_MERCHANT = /^[\w.-]{0,64}$/;

function isPadded(cell = ''): boolean {
  return cell !== cell.trim();
}
