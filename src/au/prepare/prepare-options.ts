// The options that say how to read an export, parsed and as words of a command line.

import { SvcError } from '../../base/errors.ts';
import { didYouMean } from '../../base/security/typed-word.ts';
import { option } from '../../cli/app/hint.ts';
import {
  assignmentsOf,
  flag,
  optionWords,
  type Parameter,
  rare,
  repeated,
  suggesting,
  type Suggestion,
  value,
} from '../../cli/app/parameter.ts';
import { nameValue, text } from '../../cli/app/value-parsers.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { ownMember } from '../../schema/own-member.ts';
import { splitCells } from '../csv-rows.ts';
import { acceptParameter, type Check } from '../request/checks.ts';
import { markOf } from '../request/marks.ts';
import type { ReadingOptions } from './how-to-read.ts';
import { type ColumnChoice, isSameName, isTokenName, PREPARED_COLUMNS, replacesColumn } from './prepare-columns.ts';
import { DATE_ORDERS, dateOrders, ORDER_NAMES } from './date-orders.ts';
import { zoneFormat } from './zoned-time.ts';

/** The options that say how to read an export. */
export const exportParameters = {
  columns: suggesting(
    mapSuggestions,
    repeated(
      '--map <column=name>',
      `which column is which, such as token=card_id; one of ${PREPARED_COLUMNS.join(', ')}`,
      columnChoice,
    ),
  ),
  columnNames: rare(
    value(
      '--columns <names>',
      'the names of all columns of an export without a header, such as token,month,year,merchant; - is not sent',
      namesIn,
    ),
  ),
  noQuotes: rare(flag('--no-quotes', 'take quotes for text, in formats that quote no cell (psql -A, mariadb --batch)')),
  dateOrder: rare(
    suggesting(
      () => DATE_ORDERS.map((order) => [order, ORDER_NAMES[order]] as const),
      repeated(
        '--date-order <orders>',
        `how to read 05/06, 05/06/2027 or 46538 (a spreadsheet date): ${DATE_ORDERS.join(', ')}; or several, as dmy,serial`,
        orderNames,
      ),
    ),
  ),
  noExpiration: rare(flag('--no-expiration', 'send no expiration where none is known as a whole')),
  noMerchant: rare(flag('--no-merchant', 'send no merchant where no column is known as one')),
  dateZone: rare(
    value('--date-zone <zone>', 'the calendar of times with a zone, such as Europe/Berlin or utc', zoneName),
  ),
  empty: rare(repeated('--empty <word>', 'a word that stands for no merchant, such as NA', emptyWord)),
  noEmpty: rare(flag('--no-empty', 'words such as NA in place of a merchant are names')),
  accept: rare(acceptParameter),
  keep: repeated(
    '--keep <column>',
    'also write this column to <out>.keep.csv; au report and au next join it to the results by token',
    text,
  ),
  maxRejects: value(
    '--max-rejects <share|rows>',
    'leave refused rows out, up to this many, such as 1% or 20 (default: 0)',
    parseLimit,
  ),
} as const;

/**
 * Returns those of the typed options that say how to read an export.
 * @throws SvcError `usage` for a column that is named, and also said not to exist; for columns none of which is the token
 */
export function readingOptions(typed: ReadingOptions): ReadingOptions {
  const { columns = [], noExpiration, noMerchant } = typed;
  const columnNames = typed.columnNames && namesInOrder(typed.columnNames, typed);
  if (noExpiration) refuseNamed(columns, 'expiration', '--no-expiration');
  if (noMerchant) refuseNamed(columns, 'merchant_id', '--no-merchant');
  return Object.fromEntries(READING.map(([key]) => [key, { ...typed, columnNames }[key]]));
}

/** The short words for columns in `--columns`, beside the names that a header may have. */
const SHORT: Readonly<Record<string, string>> = {
  month: 'expiration_month',
  year: 'expiration_year',
  merchant: 'merchant_id',
};

/** Returns the typed names of columns in place of a header. Those that `--map` or `--keep` names are no short words. */
function namesInOrder(typed: readonly string[], { columns = [], keep = [] }: ReadingOptions): readonly string[] {
  const tokenName = columns.find(({ column }) => column === 'token')?.name;
  if (!typed.some((name) => isTokenName(name, tokenName)))
    throw new SvcError('usage', '--columns must be names in the order of the columns, one of them token', {
      hint: didYouMean(typed[0] ?? '', ['token']),
    });
  const own = [...columns.map(({ name }) => name), ...keep];
  return typed.map((name) => (own.some((each) => isSameName(each, name)) ? name : (ownMember(SHORT, name) ?? name)));
}

function namesIn(typed: string): readonly string[] {
  const split = splitCells(typed, { isLenient: true });
  if (split.fault === undefined) return split.cells.map((name) => name.trim());
  throw new SvcError('usage', 'must be names with commas between them; a name with a comma stands in quotes');
}

/** Suggests each column of a request with each column of the typed export. */
async function mapSuggestions([file]: readonly string[]): Promise<Suggestion[]> {
  const { headerNames } = await import('./header-names.ts');
  const names = file === undefined ? [] : headerNames(file).map((name): Suggestion => [name, '']);
  return PREPARED_COLUMNS.flatMap((column) => assignmentsOf(column, 'then the name of a column', names));
}

const { maxRejects: _, ...readingParameters } = exportParameters;

/** The options that say how to read an export, each with its word. */
const READING = Object.entries(readingParameters).map(
  ([key, parameter]) =>
    [key as keyof ReadingOptions, optionWords(parameter).at(-1) ?? '', parameter as Parameter<unknown>] as const,
);

/** Returns the options that say how to read an export, as words of a command line. */
export function exportWords(how: ReadingOptions): string[] {
  const columns = how.columns?.map(({ column, name }) => `${column}=${name}`);
  const typed = { ...how, columns, columnNames: how.columnNames && csvRow(how.columnNames).trimEnd() };
  return READING.flatMap(([key, word]) => {
    const { [key]: said } = typed;
    if (typeof said === 'boolean') return said ? [word] : [];
    return [said ?? []].flat().flatMap((each) => option(word, each));
  });
}

/** Returns the options that apply to every export of the same form, without what the operator accepted in one file. */
export function formWords(how: ReadingOptions): string[] {
  return exportWords({ ...how, accept: how.accept?.filter((check) => ABOUT_FORMAT.has(check)) });
}

/** Returns the options that accept findings in one file only, as words of a command line. */
export function acceptWords({ accept = [] }: Pick<ReadingOptions, 'accept'>): string[] {
  return option(
    '--accept',
    accept.filter((check) => !ABOUT_FORMAT.has(check)),
  );
}

/** Parses the words of `exportWords`, as an earlier command recorded them. */
export function readExportWords(words: readonly string[]): ReadingOptions {
  const typed = READING.map(([key, word, parameter]) => {
    if (parameter.kind === 'flag') return [key, words.includes(word)];
    const values = words.flatMap((each, at) => {
      if (words[at - 1] === word) return [each];
      return each.startsWith(`${word}=`) ? [each.slice(word.length + 1)] : [];
    });
    const read = values.map((value) => parameter.parse(value));
    return [key, parameter.kind === 'repeated' ? read : read[0]];
  });
  return Object.fromEntries(typed) as ReadingOptions;
}

/** The checks of the export's format. Accepting them once is enough for each later month. */
const ABOUT_FORMAT: ReadonlySet<Check> = new Set<Check>(['quotes', 'repeats']);

/** Adds options that this command lacks from an earlier command for an export of the same form. */
export function withEarlierOptions(typed: ReadingOptions, earlier: ReadingOptions): ReadingOptions {
  const { columns: given = [], noExpiration, noMerchant } = typed;
  const names = (beginning: string): boolean => given.some(({ column }) => column.startsWith(beginning));
  const isReplaced = ({ column }: ColumnChoice): boolean =>
    (noExpiration === true && column.startsWith('exp')) ||
    (noMerchant === true && column === 'merchant_id') ||
    given.some((choice) => choice.column !== column && replacesColumn(choice.column, column));
  const choices = [...(earlier.columns ?? []).filter((choice) => !isReplaced(choice)), ...given];
  // The order of the earlier choices stays, so that the same choices give the same options.
  const columns = new Map(choices.map((choice) => [choice.column, choice]));
  const accept = (earlier.accept ?? []).filter(
    (check) => ABOUT_FORMAT.has(check) && !(check === 'repeats' && names('merchant')),
  );
  const said = Object.entries(typed).filter(([, option]) =>
    Array.isArray(option) ? option.length > 0 : option !== undefined && option !== false,
  );
  return {
    ...earlier,
    ...(typed.noEmpty === true && { empty: [] }),
    ...((typed.empty ?? []).length > 0 && { noEmpty: false }),
    ...Object.fromEntries(said),
    columns: [...columns.values()],
    noExpiration: noExpiration === true || (earlier.noExpiration === true && !names('exp')),
    noMerchant: noMerchant === true || (earlier.noMerchant === true && !names('merchant')),
    accept: [...new Set([...accept, ...(typed.accept ?? [])])],
  };
}

function refuseNamed(columns: readonly ColumnChoice[], beginning: string, absent: string): void {
  const named = columns.find(({ column }) => column.startsWith(beginning));
  if (named === undefined) return;
  const typed = `--map ${named.column}=${named.name}`;
  throw new SvcError('usage', `${typed} contradicts ${absent}`, { hint: 'Leave one of them out.' });
}

/** The largest number of rows that may be left out, or their largest share of all rows, and the limit as typed. */
export type RejectLimit = Readonly<({ share: number } | { rows: number }) & { words: string }>;

function parseLimit(typed: string): RejectLimit {
  const [, number, percent] = /^(\d{1,9}(?:\.\d{1,6})?)(%)?$/.exec(typed.trim()) ?? [];
  const limit = Number(number);
  if (percent !== undefined && limit <= 100) return { share: limit / 100, words: typed.trim() };
  if (percent === undefined && Number.isInteger(limit)) return { rows: limit, words: typed.trim() };
  throw new SvcError('usage', 'must be a share such as 1%, or a number of rows');
}

function orderNames(typed: string): string {
  if (dateOrders([typed]).length === typed.split(',').length) return typed;
  throw new SvcError('usage', `must be one of ${DATE_ORDERS.join(', ')}, or several of them with commas`);
}

function zoneName(typed: string): string {
  try {
    return zoneFormat(typed).resolvedOptions().timeZone;
  } catch {
    throw new SvcError('usage', 'must be a time zone, such as Europe/Berlin or utc');
  }
}

function emptyWord(typed: string): string {
  if (markOf(typed) === 'word') return typed;
  throw new SvcError('usage', 'must be a word for nothing, such as NULL, NA, None or -');
}

function columnChoice(typed: string): ColumnChoice {
  const { name: column, value: name } = nameValue(typed);
  const preparedColumn = PREPARED_COLUMNS.find((each) => each === column);
  if (preparedColumn !== undefined && name !== '') return { column: preparedColumn, name };
  const isReversed = PREPARED_COLUMNS.some((each) => each === name);
  throw new SvcError('usage', `must be <column>=<name>, and the column one of ${PREPARED_COLUMNS.join(', ')}`, {
    hint: isReversed
      ? `The name in the export comes last, as in --map ${name}="Card Ref".`
      : didYouMean(column, PREPARED_COLUMNS),
  });
}
