import { SvcError } from '../../base/errors.ts';
import type { Sealed } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { problemLine } from '../../cli/output/error-report.ts';
import { countText } from '../../cli/output/time.ts';
import { explainAttachedDigits, placesOf, STANDARD_INPUT } from '../request/open-request-file.ts';
import { shownNames } from './prepare-columns.ts';
import type { DateOrder, Expiration } from './prepare-date.ts';
import type { PreparedNames } from './prepare-files.ts';
import type { ProblemGroup } from './prepare-problems.ts';
import type { ChangeKind } from './prepare-row.ts';
import type { Prepared } from './prepare.ts';

/** Describes the changes: first the columns, then each kind of change with its first lines. */
export function explainPrepared(
  { notices, system }: Context,
  prepared: Prepared,
  { sha256 }: Sealed,
  files: PreparedNames,
): void {
  const { delimiter, encoding, hasByteOrderMark, columns, kept, leftOut, changes, rows, firstDate } = prepared;
  const { attachedDigits, halfDates, keptRepeats, merchants } = prepared;
  const rowKey = columns.merchant_id === undefined ? 'token' : TOKEN_AND_MERCHANT;
  if (attachedDigits.count > 0) notices.warn(explainAttachedDigits(attachedDigits));
  if (halfDates.count > 0) notices.warn(explainHalfDates(halfDates));
  if (keptRepeats && keptRepeats.count > 0) notices.warn(explainKeptRepeats(keptRepeats, rowKey));
  if (merchants.doubtful.length > 0) notices.warn(explainDoubtful(merchants.doubtful));
  if (prepared.problemCount > 0) {
    notices.warn(`${countText(prepared.problemCount, 'row')} left out, see ${files.rejects}:`);
    for (const problem of prepared.problems) notices.note(`  ${problemLine(problem)}`);
  }
  if (sha256 === prepared.sha256)
    return notices.success(`${countText(rows, 'row')}: a valid request file already, nothing to change`);
  notices.success(`${countText(rows, 'row')} prepared`);
  if (encoding !== 'utf-8') notices.note(`  converted from ${ENCODINGS[encoding]} to UTF-8`);
  if (hasByteOrderMark) notices.note('  byte order mark removed');
  if (prepared.titleLines > 0) notices.note(`  lines above the header left out: ${prepared.titleLines}`);
  if (delimiter !== ',') notices.note(`  columns were separated by ${SEPARATORS[delimiter]}`);
  const isTerminal = system.stderr.isTTY === true;
  const renamed = Object.entries(columns).filter(([column, name]) => isTerminal || column !== name);
  if (renamed.length > 0)
    notices.note(`  ${renamed.map(([column, name]) => `${column} is ${shownNames([name])}`).join(', ')}`);
  if (isTerminal && firstDate !== undefined)
    notices.note(`  first expiration: ${firstDate.read}, sent as ${dateText(firstDate.sent)}`);
  const keptIn = files.keep === undefined ? '' : ` in ${files.keep}`;
  if (kept.length > 0) notices.note(`  columns kept${keptIn}: ${shownNames(kept)}`);
  if (leftOut.length > 0) notices.note(`  columns left out: ${shownNames(leftOut)}`);
  if ((columns.expiration ?? columns.expiration_year ?? columns.expiration_month) === undefined)
    notices.note(`  ${WITHOUT_EXPIRATION}; columns seen: ${shownNames([...Object.values(columns), ...leftOut])}`);
  for (const change of changes)
    notices.note(
      `  ${CHANGED[change.kind].replace(TOKEN_AND_MERCHANT, rowKey)}: ${countText(change.count, 'row')} (${placesOf(change)})`,
    );
}

const TOKEN_AND_MERCHANT = 'token and merchant';

function dateText({ year, month }: Expiration): string {
  if (month === '') return `year ${year} without a month`;
  return year === '' ? `month ${month} without a year` : `year ${year}, month ${month}`;
}

/** Names columns that are too doubtful to stop at them: many exports have one merchant, or a reference of each payment. */
function explainDoubtful(merchants: readonly string[]): string {
  return `no merchant is sent, although the column ${shownNames(merchants)} may be the merchant: --map merchant_id=NAME sends it, --no-merchant says that it is not`;
}

function explainHalfDates(lines: Prepared['halfDates']): string {
  const has = lines.count === 1 ? 'has' : 'have';
  return `${countText(lines.count, 'row')} (${placesOf(lines)}) ${has} a year without a month, or a month without a year: the service takes the other half from the token`;
}

function explainKeptRepeats(lines: NonNullable<Prepared['keptRepeats']>, rowKey: string): string {
  const [repeat, have] = lines.count === 1 ? ['repeats', 'has'] : ['repeat', 'have'];
  return `${countText(lines.count, 'row')} (${placesOf(lines)}) ${repeat} the ${rowKey} of an earlier row and ${have} other kept columns: only those of the earlier row are kept. Match new tokens to your records by the old token, not by the kept columns`;
}

const WITHOUT_EXPIRATION = 'no expiration column: the service uses what each token stores';

const SEPARATORS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' } as const;

const ENCODINGS = { 'utf-16le': 'UTF-16 (little-endian)', 'utf-16be': 'UTF-16 (big-endian)' } as const;

const CHANGED: Readonly<Record<ChangeKind, string>> = {
  line_ends: 'CRLF line ends replaced',
  spaces: 'spaces around cells removed',
  expirations: 'expirations split into year and month',
  years: 'years shortened to 2 digits',
  months: 'months extended to 2 digits',
  blank_lines: 'blank lines dropped',
  repeated_headers: 'rows that repeat the header left out',
  total_rows: 'a last row without a token left out, such as a total',
  converted_rows: 'rows that are not UTF-8 read as Windows-1252',
  repeated_tokens: 'rows with a token and merchant from above dropped',
  later_dates: 'rows of these whose expiration was taken, because it is later',
  excluded_tokens: 'rows on the list of exclusions left out',
};

interface RefusedExport {
  readonly typed: string;
  /** The file with the refused rows, if there is one. */
  readonly rejects?: string | undefined;
  /** Whether the command itself names the file with the refused rows, so that no option does. */
  readonly ownRejects?: boolean | undefined;
  readonly orders: readonly DateOrder[];
}

/** Returns the error for an export with problems. */
export function refusedExport(prepared: Prepared, { typed, rejects, ownRejects, orders }: RefusedExport): SvcError {
  const { problems, problemCount, isUnusable, rows } = prepared;
  const file = typed === '-' ? STANDARD_INPUT : typed;
  const written =
    rejects === undefined ? 'Nothing was written.' : `Only ${rejects} was written; the next attempt replaces it.`;
  const needsName = rejects === undefined && !ownRejects;
  const allow = `${needsName ? '--rejects rejected.csv ' : ''}--max-rejects ${problemCount}`;
  return new SvcError('refused_input', `${file} is refused: ${countText(problemCount, 'problem')}`, {
    hint: [
      written,
      'Fix these rows of the export, then run the command again.',
      ...advice(problems, orders),
      ...(isUnusable || rows === 0 ? [] : [`To leave these rows out, add ${allow}`]),
    ].join(' '),
    facts: { file, problems, problem_count: problemCount, rejects_file: rejects },
  });
}

/** Returns advice on the accepted forms of dates, and on the option that decides how ambiguous dates are read. */
function advice(problems: readonly ProblemGroup[], given: readonly DateOrder[]): string[] {
  const orders = [...new Set(problems.flatMap((problem) => problem.orders ?? []))];
  const options = orders.map((order) => `--date-order ${withOrder(given, order)}`).join(' or ');
  const isDate = problems.some(({ rule }) => rule === 'date');
  const isQuoting = problems.some(({ rule }) => rule === 'quoting');
  return [
    ...(orders.length > 0 ? [`If the dates are right, say how to read them: ${options}.`] : []),
    ...(isQuoting ? ['If this format quotes no cell, as psql -A and mariadb --batch, add --no-quotes.'] : []),
    ...(isDate ? [`Accepted are ${ACCEPTED_DATES}.`] : []),
  ];
}

/** Adds an order to those given. Day numbers are told from dates, so that both can be named. */
function withOrder(given: readonly DateOrder[], order: DateOrder): string {
  const others = order === 'serial' ? given : given.filter((each) => each === 'serial');
  return [...others, order].join(',');
}

const ACCEPTED_DATES =
  '05/27, 5/2027, 0527, 2027-05, 2027-05-31, 31/05/2027, May-27, 31-May-2027, and with --date-order serial 46538';
