import { SvcError } from '../../base/errors.ts';
import { choice, repeated, value } from '../../cli/app/parameter.ts';
import { nameValue, text } from '../../cli/app/value-parsers.ts';
import { type ColumnChoice, PREPARED_COLUMNS } from './prepare-columns.ts';
import { DATE_ORDERS } from './prepare-date.ts';

/** The options that say how to read an export. */
export const exportParameters = {
  map: repeated(
    '--map <column=name>',
    `use a column of the export as one of ${PREPARED_COLUMNS.join(', ')}; for example token=card_id`,
    columnChoice,
  ),
  dateOrder: choice(
    '--date-order <order>',
    'how to read ambiguous expirations: 05/06 (month and year, or year and month), 05/06/2027 (order of day and month) or 46538 (date of a spreadsheet)',
    DATE_ORDERS,
  ),
  keep: repeated(
    '--keep <column>',
    'a column of the export to write to <out>.keep.csv, which au report and au next join to results by token',
    text,
  ),
  maxRejects: value(
    '--max-rejects <share|rows>',
    'leave out refused rows if there are at most this many, such as 1% or 20 (default: 0)',
    parseLimit,
  ),
} as const;

/** The largest number of rows that may be left out, or their largest share of all rows. */
export type RejectLimit = Readonly<{ share: number } | { rows: number }>;

function parseLimit(typed: string): RejectLimit {
  const [, number, percent] = /^(\d{1,9}(?:\.\d{1,6})?)(%)?$/.exec(typed.trim()) ?? [];
  const limit = Number(number);
  if (percent !== undefined && limit <= 100) return { share: limit / 100 };
  if (percent === undefined && Number.isInteger(limit)) return { rows: limit };
  throw new SvcError('usage', 'must be a share such as 1%, or a number of rows');
}

function columnChoice(typed: string): ColumnChoice {
  const { name: column, value: name } = nameValue(typed);
  const known = PREPARED_COLUMNS.find((each) => each === column);
  if (known !== undefined && name !== '') return { column: known, name };
  throw new SvcError('usage', `must be <column>=<name>, and the column one of ${PREPARED_COLUMNS.join(', ')}`);
}
