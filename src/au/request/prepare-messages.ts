import { SvcError } from '../../base/errors.ts';
import type { Sealed } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { problemLine } from '../../cli/output/error-report.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { explainAttachedDigits, STANDARD_INPUT } from './open-request-file.ts';
import { shownNames } from './prepare-columns.ts';
import type { PreparedNames } from './prepare-files.ts';
import type { ProblemGroup } from './prepare-problems.ts';
import type { ChangeKind } from './prepare-row.ts';
import type { Prepared } from './prepare.ts';

/** Describes the changes: first the columns, then each kind of change with its first lines. */
export function explainPrepared(
  { notices }: Context,
  prepared: Prepared,
  { sha256 }: Sealed,
  files: PreparedNames,
): void {
  const { delimiter, encoding, hasByteOrderMark, columns, kept, leftOut, changes, attachedDigits, comparedTo, rows } =
    prepared;
  if (attachedDigits.count > 0) notices.warn(explainAttachedDigits(attachedDigits));
  if (prepared.problemCount > 0) {
    notices.warn(`${countText(prepared.problemCount, 'row')} left out, see ${files.rejects}:`);
    for (const problem of prepared.problems) notices.note(`  ${problemLine(problem)}`);
  }
  if (sha256 === prepared.sha256)
    return notices.success(`${countText(rows, 'row')}: a valid request file already, nothing to change`);
  notices.success(`${countText(rows, 'row')} prepared`);
  if (encoding !== 'utf-8') notices.note(`  converted from ${ENCODINGS[encoding]} to UTF-8`);
  if (hasByteOrderMark) notices.note('  byte order mark removed');
  if (delimiter !== ',') notices.note(`  columns were separated by ${SEPARATORS[delimiter]}`);
  const renamed = Object.entries(columns).filter(([column, name]) => column !== name);
  if (renamed.length > 0)
    notices.note(`  ${renamed.map(([column, name]) => `${column} is ${shownNames([name])}`).join(', ')}`);
  if (kept.length > 0) notices.note(`  columns kept in ${files.keep}: ${shownNames(kept)}`);
  if (leftOut.length > 0) notices.note(`  columns left out: ${shownNames(leftOut)}`);
  if ((columns.expiration ?? columns.expiration_year ?? columns.expiration_month) === undefined)
    notices.note(`  ${WITHOUT_EXPIRATION}; columns seen: ${shownNames([...Object.values(columns), ...leftOut])}`);
  for (const { kind, count, lines } of changes) {
    const places = [...lines.map(formatNumber), ...(count > lines.length ? ['…'] : [])].join(', ');
    notices.note(`  ${CHANGED[kind]}: ${countText(count, 'row')} (${count === 1 ? 'line' : 'lines'} ${places})`);
  }
  if (comparedTo !== undefined)
    notices.warn(`the search for repeated tokens covered only the lines up to ${formatNumber(comparedTo)}`);
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
  repeated_tokens: 'rows with a token from above dropped',
  excluded_tokens: 'rows on the list of exclusions left out',
};

/** Returns the error for an export with problems. `rejects` is the file with the refused rows, if there is one. */
export function refusedExport(prepared: Prepared, typed: string, rejects?: string): SvcError {
  const { problems, problemCount, isUnusable } = prepared;
  const file = typed === '-' ? STANDARD_INPUT : typed;
  const written = rejects === undefined ? 'Nothing was written.' : `Only ${rejects} was written.`;
  const orAllow = rejects === undefined || isUnusable ? '' : ', or allow more of them with --max-rejects, such as 1%';
  return new SvcError('refused_input', `${file} is refused: ${countText(problemCount, 'problem')}`, {
    hint: [written, `Fix these rows of the export, then run the command again${orAllow}.`, ...advice(problems)].join(
      ' ',
    ),
    facts: { file, problems, problem_count: problemCount, rejects_file: rejects },
  });
}

/** Returns advice on the accepted forms of dates, and on the option that decides how ambiguous dates are read. */
function advice(problems: readonly ProblemGroup[]): string[] {
  const orders = [...new Set(problems.flatMap((problem) => problem.orders ?? []))];
  const options = orders.map((order) => `--date-order ${order}`).join(' or ');
  const isDate = problems.some(({ rule }) => rule === 'date');
  return [
    ...(orders.length > 0 ? [`If the dates are right, say how to read them: ${options}.`] : []),
    ...(isDate ? [`Accepted are ${ACCEPTED_DATES}.`] : []),
  ];
}

const ACCEPTED_DATES =
  '05/27, 5/2027, 0527, 2027-05, 2027-05-31, 31/05/2027, May-27, 31-May-2027, and with --date-order serial 46538';
