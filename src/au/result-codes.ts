// Reads result files, and explains the codes in them.

import { SvcError } from '../base/errors.ts';
import type { ResultStep } from '../cli/config/result-steps.ts';
import table from './glossary.json' with { type: 'json' };
import { asClause } from '../cli/glossary/glossary.ts';
import { csvRowFormat } from '../cli/output/csv.ts';
import { countText, formatNumber } from '../cli/output/number.ts';
import { type ResultCode as KnownCode, RESULT_COLUMNS } from '../schema/account-updater-files.ts';
import { ownMember } from '../schema/own-member.ts';
import { type Expiration, twoDigitMonth, twoDigitYear } from './date-parts.ts';
import { CSV_FAULTS, CsvRows, delimiterWith, withoutSeparatorLine } from './csv-rows.ts';

/** The longest row in characters, a thousand times what the service sends. Bounds memory for a file without line ends. */
const MAX_ROW_LENGTH = 1024 * 1024;
/**
 * The size of pieces to read. The garbage collector frees the rows of a small piece cheaply, before it promotes them to
 * long-lived memory.
 */
const PIECE = 16 * 1024;

/**
 * Reads a result file by its column names and yields nonempty batches of rows, with constant memory. Accepts everything
 * that RFC 4180 allows, and semicolons, tabs or vertical bars in place of the commas.
 * @throws SvcError `checksum_mismatch` for a file that is truncated, malformed or without a required column
 */
export async function* readResults(source: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ResultRow[], void> {
  const reader = new ResultReader();
  const decoder = new TextDecoder();
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += PIECE) {
      const rows = reader.read(decoder.decode(chunk.subarray(at, at + PIECE), { stream: true }));
      if (rows.length > 0) yield rows;
    }
  }
  const rows = [...reader.read(decoder.decode()), ...reader.finish()];
  if (rows.length > 0) yield rows;
}

const NEEDED: readonly ResultColumn[] = ['token', 'result_code'];

/** Reads the rows of a result file from its text. A spreadsheet may have saved it with other signs between columns. */
class ResultReader {
  /** The text up to the first line end, which shows how lines end. */
  #head = '';
  #lines: CsvRows | undefined;
  #header: ResultHeader | undefined;
  #width = 0;
  #row = 0;
  #rows: ResultRow[] = [];

  /** Returns the rows that end in the next part of the text. */
  read(text: string): readonly ResultRow[] {
    if (this.#lines !== undefined) return this.#rowsOf(this.#lines, text);
    this.#head = withoutSeparatorLine(this.#head + text);
    const [lineEnd] = /[\r\n][^]/.exec(this.#head) ?? [];
    return lineEnd === undefined && this.#head.length <= MAX_ROW_LENGTH ? [] : this.#begin(lineEnd);
  }

  /** Ends the text. Returns the last rows. */
  finish(): readonly ResultRow[] {
    const first = this.#lines === undefined ? this.#begin() : [];
    this.#lines?.finish();
    const rows = this.#lines === undefined ? [] : this.#rowsOf(this.#lines, '');
    if (this.#header === undefined) throw unreadable('is empty, without even a header');
    return [...first, ...rows];
  }

  /** Begins to read. `lineEnd` is the first end of a line with the character after it: some spreadsheets write a return alone. */
  #begin(lineEnd = '\n'): readonly ResultRow[] {
    const isReturnAlone = lineEnd.startsWith('\r') && lineEnd !== '\r\n';
    const [header = ''] = this.#head.split(/[\r\n]/, 1);
    const delimiter = delimiterWith(header, NEEDED);
    const form = { delimiter, lineEnd: isReturnAlone ? '\r' : '\n', longestRow: MAX_ROW_LENGTH } as const;
    this.#lines = new CsvRows(form, ({ cells }) => this.#take(cells));
    return this.#rowsOf(this.#lines, this.#head);
  }

  #rowsOf(lines: CsvRows, text: string): readonly ResultRow[] {
    lines.feed(text);
    if (lines.stop !== undefined) throw this.#malformed(CSV_FAULTS[lines.stop.why]);
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  #take(cells: readonly string[]): void {
    const isEmpty = cells.length === 1 && cells[0] === '';
    if (isEmpty) return;
    if (this.#header === undefined) {
      this.#header = readResultHeader(cells);
      this.#width = cells.length;
      return;
    }
    if (cells.length !== this.#width)
      throw this.#malformed(`a row has ${countText(cells.length, 'cell')} instead of ${this.#width}`);
    this.#row += 1;
    this.#rows.push(toResultRow(cells, this.#header, this.#row));
  }

  #malformed(problem: string): SvcError {
    return unreadable(`is malformed or truncated after row ${this.#row}: ${problem}`);
  }
}

function unreadable(problem: string, facts?: Readonly<Record<string, unknown>>): SvcError {
  return wrongResults(`the result file ${problem}`, facts);
}

/** Returns the error for results that cannot be right. */
export function wrongResults(message: string, facts?: Readonly<Record<string, unknown>>): SvcError {
  return new SvcError('checksum_mismatch', message, {
    hint: 'Download the results again; if that changes nothing, contact support with the job id.',
    next: ['au', 'download', '<job>', '--out', '<file>'],
    facts,
  });
}

export type ResultColumn = (typeof RESULT_COLUMNS)[number];

/** A row of a result file: the known columns, empty if the file lacks them, and all other columns unchanged. */
export type ResultRow = Readonly<Record<ResultColumn, string>> & {
  /** The columns that are not in the documented interface, by name. */
  readonly extra: Readonly<Record<string, string>>;
  /** The number of the row. The first row below the header is 1. */
  readonly row: number;
};

interface ResultHeader {
  /** The index of each known column; -1 for a column that the file lacks. */
  readonly indexes: Readonly<Record<ResultColumn, number>>;
  readonly extra: readonly (readonly [name: string, at: number])[];
}

/** Parses the header. @throws SvcError `checksum_mismatch` for a missing or duplicated column */
function readResultHeader(names: readonly string[]): ResultHeader {
  const missing = NEEDED.filter((column) => !names.includes(column));
  if (missing.length > 0)
    throw unreadable(`lacks the column${missing.length === 1 ? '' : 's'} ${missing.join(' and ')}`, { missing });
  const seen = new Set<string>();
  const duplicate = names.find((name) => seen.size === seen.add(name).size);
  if (duplicate !== undefined) throw unreadable(`names the column ${JSON.stringify(duplicate)} twice`);
  const knownColumns: ReadonlySet<string> = new Set(RESULT_COLUMNS);
  const indexes = RESULT_COLUMNS.map((column) => [column, names.indexOf(column)] as const);
  return {
    indexes: Object.fromEntries(indexes) as ResultHeader['indexes'],
    extra: names.map((name, at) => [name, at] as const).filter(([name]) => !knownColumns.has(name)),
  };
}

// This runs for each of millions of rows, and a loop over the names took half of the time.
function toResultRow(cells: readonly string[], { indexes, extra }: ResultHeader, row: number): ResultRow {
  return {
    token: cells[indexes.token] ?? '',
    expiration_year: cells[indexes.expiration_year] ?? '',
    expiration_month: cells[indexes.expiration_month] ?? '',
    new_token: cells[indexes.new_token] ?? '',
    new_expiration_year: cells[indexes.new_expiration_year] ?? '',
    new_expiration_month: cells[indexes.new_expiration_month] ?? '',
    result_code: cells[indexes.result_code] ?? '',
    extra: extra.length === 0 ? NO_EXTRA : Object.fromEntries(extra.map(([name, at]) => [name, cells[at] ?? ''])),
    row,
  };
}

const NO_EXTRA: Readonly<Record<string, string>> = {};

/** The meaning of a result for its token, from the prefix of its code. */
export type ResultClass = 'updated' | 'warned' | 'error' | 'unknown';

/**
 * The actions for a row of the request, by its result, in the order of every report, with their names. The next request
 * has new tokens for `replace`, no rows for `exclude`, and unchanged rows for all others. The keys are also file names.
 */
export const ROW_GROUPS = {
  replace: 'use the new token',
  contact: 'contact the cardholder',
  consider: 'consider leaving out',
  exclude: 'leave out',
  fix: 'fix',
  support: 'contact support',
  keep: 'nothing to do',
} as const;

export type RowGroup = keyof typeof ROW_GROUPS;

export type GroupCounts = Readonly<Record<RowGroup, number>>;

export const GROUPS = Object.keys(ROW_GROUPS) as RowGroup[];

/** Returns a count of zero for every group. */
export function noRows(): Record<RowGroup, number> {
  return { replace: 0, contact: 0, consider: 0, exclude: 0, fix: 0, support: 0, keep: 0 };
}

/** Returns the groups that have rows, then the rows without a result if their number is known. */
export function namedCounts(
  groups: GroupCounts,
  unchanged = 0,
): { readonly group: RowGroup | 'unchanged'; readonly name: string; readonly count: number }[] {
  const counts = GROUPS.map((group) => ({ group, name: ROW_GROUPS[group], count: groups[group] }));
  return [...counts, { group: 'unchanged' as const, name: 'unchanged', count: unchanged }].filter(
    ({ count }) => count > 0,
  );
}

export interface ResultCode {
  readonly class: ResultClass;
  readonly meaning: string;
  readonly action: string;
  /** The group of the code's rows, except for updates without a new token. */
  readonly group: RowGroup;
  /** Whether the code is in the documented interface. */
  readonly known: boolean;
}

/** The groups of the result codes of the documented interface, in its order. The service may send other codes. */
const GROUP_OF_CODE: Readonly<Record<KnownCode, RowGroup>> = {
  UPD_PAN: 'replace',
  UPD_EXP_DATE: 'replace',
  UPD_BRAND_CONV: 'replace',
  UPD_CORRECTED: 'replace',
  WRN_CLOSED_ACCOUNT: 'exclude',
  WRN_CONTACT_CARDHOLDER: 'contact',
  WRN_ISSUER_NOT_ENROLLED: 'consider',
  WRN_ISSUER_NO_DATA: 'consider',
  WRN_OPT_OUT: 'consider',
  WRN_UNSUPPORTED_NETWORK: 'consider',
  ERR_UNDEFINED: 'support',
  ERR_INVALID_PAN: 'exclude',
  ERR_INVALID_TOKEN: 'fix',
  ERR_INVALID_EXP_DATE: 'fix',
  ERR_INVALID_CONFIG: 'fix',
};

const PREFIXES: Readonly<Record<string, ResultClass>> = { UPD: 'updated', WRN: 'warned', ERR: 'error' };

const RESULT_CODES = new Map(
  Object.entries(GROUP_OF_CODE).map(([code, group]): [string, ResultCode] => {
    const { means, next } = table['result code'][code as KnownCode];
    const explained = { class: classOf(code), meaning: asClause(means), action: asClause(next), group, known: true };
    return [code, explained];
  }),
);

/** Explains a result code. An unknown code is explained by its prefix. */
export function explainResultCode(code: string): ResultCode {
  const explained = RESULT_CODES.get(code);
  if (explained !== undefined) return explained;
  return { class: classOf(code), ...UNKNOWN_CODES[classOf(code)], known: false };
}

function classOf(code: string): ResultClass {
  return ownMember(PREFIXES, code.slice(0, 3)) ?? 'unknown';
}

const UNKNOWN_CODES: Readonly<Record<ResultClass, Omit<ResultCode, 'class' | 'known'>>> = {
  updated: { meaning: 'an unknown update', action: 'use the new token where there is one', group: 'replace' },
  warned: { meaning: 'an unknown warning', action: 'look the code up with the service', group: 'support' },
  error: { meaning: 'an unknown error', action: 'look the code up with the service', group: 'support' },
  unknown: { meaning: 'an unknown result code', action: 'leave the row as it is, and look the code up', group: 'keep' },
};

/** The operator's actions for result codes, which replace the defaults. */
export type Actions = ReadonlyMap<string, ResultStep>;

/**
 * Returns the group of a row: the operator's choice for its code, or the default. No row without a new token is in
 * `replace`: one that lacks it is for support, and any other one needs nothing.
 */
export function groupOf(code: string, hasNewToken: boolean, actions: Actions): RowGroup {
  const { group: usual, class: ofCode } = explainResultCode(code);
  // A new token must not be lost behind a code that nobody knows.
  const group = actions.get(code) ?? (ofCode === 'unknown' && hasNewToken ? 'support' : usual);
  if (group !== 'replace' || hasNewToken) return group;
  return lacksNewToken(code, hasNewToken) ? 'support' : 'keep';
}

/** The codes that mean that a new token was created. */
const CREATES_TOKEN: ReadonlySet<string> = new Set<KnownCode>(['UPD_PAN', 'UPD_EXP_DATE', 'UPD_CORRECTED']);

/** Tells whether a row lacks the new token that its code says was created. */
function lacksNewToken(code: string, hasNewToken: boolean): boolean {
  return !hasNewToken && CREATES_TOKEN.has(code);
}

/**
 * What is odd about the updates of a result file: how many lack their new token or have their old one, and the new expirations of
 * the others.
 */
export interface Updates {
  lostTokens: number;
  oldTokens: number;
  /** The number of rows by their new expiration, in months since the year 0. */
  readonly expirations: Map<number, number>;
}

export function noUpdates(): Updates {
  return { lostTokens: 0, oldTokens: 0, expirations: new Map() };
}

/** Adds the result of a token to the facts about the updates in its file. */
export function noteUpdate(updates: Updates, token: string, row: NewExpiration & Pick<ResultRow, 'result_code'>): void {
  if (lacksNewToken(row.result_code, row.new_token !== '')) updates.lostTokens += 1;
  if (row.new_token !== '' && row.new_token === token) updates.oldTokens += 1;
  const month = row.new_token === '' ? undefined : newMonth(row);
  if (month !== undefined) updates.expirations.set(month, (updates.expirations.get(month) ?? 0) + 1);
}

/** Returns warnings about updates of a result file without another token, or whose new expiration is already past. */
export function updateWarnings(
  { lostTokens, oldTokens, expirations }: Updates,
  file: string,
  now: number,
): readonly string[] {
  const expired = [...expirations].reduce((sum, [month, rows]) => (month < monthOf(now) ? sum + rows : sum), 0);
  return [
    ...lostTokensWarning(lostTokens, file),
    ...oldTokensWarning(oldTokens, file),
    ...expiredWarning(expired, file),
  ];
}

function lostTokensWarning(count: number, file: string): readonly string[] {
  if (count === 0) return [];
  const [rows, say, lack, their] = count === 1 ? ['row', 'says', 'lacks', 'its'] : ['rows', 'say', 'lack', 'their'];
  return [
    `${formatNumber(count)} ${rows} of ${file} ${say} that a new token was created, and ${lack} it: contact support with the job id, and keep ${their} old token${count === 1 ? '' : 's'} until then`,
  ];
}

function oldTokensWarning(count: number, file: string): readonly string[] {
  if (count === 0) return [];
  const [has, its] = count === 1 ? ['has its', 'its'] : ['have their', 'their'];
  return [
    `${countText(count, 'row')} of ${file} ${has} old token as the new one: contact support with the job id before you change ${its} expiration`,
  ];
}

function expiredWarning(count: number, file: string): readonly string[] {
  if (count === 0) return [];
  const [have, whom] = count === 1 ? ['has', 'the cardholder'] : ['have', 'these cardholders'];
  return [
    `${countText(count, 'new token')} of ${file} ${have} an expiration that is already past: the network's answer has expired. Use the new token, and ask ${whom} for a card that is valid`,
  ];
}

type NewExpiration = Pick<ResultRow, 'new_token' | 'new_expiration_year' | 'new_expiration_month'>;

/** Returns the new expiration of a row, with a year and a month of two digits each; undefined without both. */
export function newExpiration(row: Omit<NewExpiration, 'new_token'>): Expiration | undefined {
  const year = twoDigitYear(row.new_expiration_year);
  const month = twoDigitMonth(row.new_expiration_month);
  return year === undefined || month === undefined ? undefined : { year, month };
}

/** Returns the month of a new expiration, in months since the year 0. */
function newMonth(row: NewExpiration): number | undefined {
  const expiration = newExpiration(row);
  return expiration && (2000 + Number(expiration.year)) * 12 + Number(expiration.month) - 1;
}

function monthOf(time: number): number {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Describes the action for a code: the operator's choice if it differs from the default. */
export function actionFor(code: string, actions: Actions): string {
  const { group, action } = explainResultCode(code);
  const chosen = actions.get(code);
  return chosen === undefined || chosen === group ? action : `${asClause(table.action[chosen].means)} (your choice)`;
}

/** The number of rows with a code, and the action for it. */
export interface CodeCount extends ResultCode {
  readonly code: string;
  readonly count: number;
}

/** The counts of a result file, which contains no rows without an update. */
export interface ResultSummary {
  readonly rows: number;
  readonly updated: number;
  readonly warned: number;
  readonly errors: number;
  /** Rows with a code of an unknown prefix. */
  readonly unknown: number;
  readonly groups: GroupCounts;
  /** The codes in the order of the interface, then unknown codes by name. */
  readonly codes: readonly CodeCount[];
  /** Columns that are not in the documented interface; empty for a file without rows. */
  readonly extra_columns: readonly string[];
  readonly updates: Updates;
}

/** The name for all codes after the first thousand. No real result file has that many, but memory stays bounded. */
const OTHER_CODES = '(other codes)';

const MAX_CODES = 1_000;

/** Counts the rows of a result file by code and class, with constant memory. Throws the errors of `readResults`. */
export async function summarizeResults(
  source: AsyncIterable<Uint8Array>,
  actions: Actions = new Map(),
): Promise<ResultSummary> {
  const counts = new Map<string, number>();
  const groups = noRows();
  let extra_columns: readonly string[] = [];
  const updates = noUpdates();
  for await (const rows of readResults(source)) {
    for (const each of rows) {
      const { result_code, new_token, extra, row } = each;
      if (row === 1) extra_columns = Object.keys(extra);
      groups[groupOf(result_code, new_token !== '', actions)] += 1;
      noteUpdate(updates, each.token, each);
      const code = counts.size < MAX_CODES || counts.has(result_code) ? result_code : OTHER_CODES;
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
  }
  const order = [...RESULT_CODES.keys(), ...[...counts.keys()].toSorted()];
  const codes = [...counts]
    .map(([code, count]): CodeCount => Object.assign({ code, count }, explainResultCode(code)))
    .toSorted((a, b) => order.indexOf(a.code) - order.indexOf(b.code));
  const total = (...groups: readonly ResultClass[]): number =>
    codes.reduce((sum, code) => (groups.includes(code.class) ? sum + code.count : sum), 0);
  return {
    rows: total('updated', 'warned', 'error', 'unknown'),
    updated: total('updated'),
    warned: total('warned'),
    errors: total('error'),
    unknown: total('unknown'),
    groups,
    codes,
    extra_columns,
    updates,
  };
}

/** The kept columns of an export, by token. */
export interface Kept {
  readonly names: readonly string[];
  cellsOf(token: string): readonly string[];
}

const NOTHING_KEPT: Kept = { names: [], cellsOf: () => [] };

interface SplitRules {
  readonly actions: Actions;
  readonly excelSafe?: boolean;
  readonly kept?: Kept | undefined;
  /** Called with each row before any row of its batch is yielded. */
  readonly check?: ((row: ResultRow) => void) | undefined;
}

/**
 * Yields the rows of a result file with their groups, in batches, in their order and with all columns. Every row has
 * the same header: the documented columns, the other columns of the file, then the kept columns. Lines include their
 * line ends.
 */
export async function* splitResults(
  source: AsyncIterable<Uint8Array>,
  { actions, excelSafe = false, kept = NOTHING_KEPT, check }: SplitRules,
): AsyncGenerator<readonly { group: RowGroup; header: string; line: string }[], void> {
  let names: readonly string[] | undefined;
  for await (const rows of readResults(source)) {
    names ??= [...RESULT_COLUMNS, ...Object.keys(rows[0]?.extra ?? {}), ...kept.names];
    const columns = names;
    const lineOf = csvRowFormat(columns, excelSafe);
    const header = lineOf(columns);
    if (check) for (const row of rows) check(row);
    yield rows.map((row) => ({
      group: groupOf(row.result_code, row.new_token !== '', actions),
      header,
      line: lineOf([
        ...RESULT_COLUMNS.map((name) => row[name]),
        ...Object.values(row.extra),
        ...kept.cellsOf(row.token),
      ]),
    }));
  }
}
