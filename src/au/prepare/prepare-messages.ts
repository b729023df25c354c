// Explains what was read from an export, and what stopped it.

import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { problemLine } from '../../cli/output/error-report.ts';
import { countText } from '../../cli/output/number.ts';
import { CHECKS } from '../request/checks.ts';
import { overviewLines } from '../request/overview.ts';
import { explainAttachedDigits, placesOf, STANDARD_INPUT } from '../request/open-request-file.ts';
import { shownNames } from './prepare-columns.ts';
import type { DateOrder } from './date-orders.ts';
import type { PreparedNames } from './prepare-files.ts';
import type { ProblemGroup } from './prepare-problems.ts';
import type { ChangeKind } from './changes.ts';
import type { Prepared } from './prepare.ts';

/** Explains a prepared export in five lines: its columns, the file as a whole, and what was changed or left out. */
export function explainPrepared({ notices }: Context, prepared: Prepared, files: PreparedNames): void {
  const { rows, attachedDigits, halfDates, keptRepeats, merchants } = prepared;
  if (attachedDigits.count > 0) notices.warn(explainAttachedDigits(attachedDigits));
  if (halfDates.count > 0) notices.warn(explainHalfDates(halfDates));
  if (keptRepeats.count > 0) notices.warn(explainKeptRepeats(keptRepeats));
  if (merchants.doubtful.length > 0) notices.warn(explainDoubtful(merchants.doubtful));
  if (prepared.problemCount > 0) {
    const where = files.rejects === undefined ? '' : `, see ${files.rejects}`;
    notices.warn(`${countText(prepared.problemCount, 'row')} left out${where}:`);
    for (const problem of prepared.problems) notices.note(`  ${problemLine(problem)}`);
  }
  notices.success(`${countText(rows, 'row')} prepared`);
  const [columns, changes] = [columnsText(prepared, files), changesText(prepared)];
  if (columns !== '') notices.note(`  columns: ${columns}`);
  for (const line of overviewLines(prepared.overview, prepared.dates.days)) notices.note(`  ${line}`);
  if (changes !== '') notices.note(`  changes: ${changes}`);
}

/** Lists the columns that were found under other names, kept and left out. */
function columnsText({ columns, kept, leftOut }: Prepared, files: PreparedNames): string {
  const shownColumns = Object.entries(columns).filter(([column, name]) => column !== name);
  const isDated = (columns.expiration ?? columns.expiration_year ?? columns.expiration_month) !== undefined;
  return [
    ...(shownColumns.length === 0
      ? []
      : [shownColumns.map(([column, name]) => `${column} is ${shownNames([name])}`).join(', ')]),
    ...(isDated ? [] : ['none is the expiration']),
    ...(kept.length === 0 ? [] : [`kept${files.keep === undefined ? '' : ` in ${files.keep}`}: ${shownNames(kept)}`]),
    ...(leftOut.length === 0 ? [] : [`left out: ${shownNames(leftOut)}`]),
  ].join('; ');
}

/** Lists each kind of change that a reader may want to check, with the lines of its first rows. */
function changesText({ titleLines, changes }: Prepared): string {
  return [
    ...(titleLines > 0 ? [`lines above the header left out: ${titleLines}`] : []),
    ...changes.flatMap((change) => {
      const what = CHANGED[change.kind];
      return what === undefined ? [] : [`${what}: ${countText(change.count, 'row')} (${placesOf(change)})`];
    }),
  ].join('; ');
}

/** Names columns that may be a merchant id, but are too doubtful to stop the command. */
function explainDoubtful(merchants: readonly string[]): string {
  return `no merchant is sent, although the column ${shownNames(merchants)} may be the merchant: --map merchant_id=NAME sends it, --no-merchant says that it is not`;
}

function explainHalfDates(lines: Prepared['halfDates']): string {
  const has = lines.count === 1 ? 'has' : 'have';
  return `${countText(lines.count, 'row')} (${placesOf(lines)}) ${has} a year without a month, or a month without a year: the service takes the other half from the token`;
}

function explainKeptRepeats(lines: Prepared['keptRepeats']): string {
  const [repeat, have] = lines.count === 1 ? ['repeats', 'has'] : ['repeat', 'have'];
  return `${countText(lines.count, 'row')} (${placesOf(lines)}) ${repeat} the token and merchant of an earlier row and ${have} other kept columns: only those of the earlier row are kept. Match new tokens to your records by the old token, not by the kept columns`;
}

/** The changes that a reader may want to check. All others only concern the form of lines and dates. */
const CHANGED: Readonly<Partial<Record<ChangeKind, string>>> = {
  spaces: 'spaces around cells removed',
  marks: 'marks for nothing, such as NULL, left empty',
  wrapped_tokens: 'quotes, braces or an address around tokens removed',
  quoted_merchants: 'plain quotes around merchants removed',
  repeated_headers: 'rows that repeat or underline the header left out',
  total_rows: 'a last row without a token left out, such as a total',
  converted_rows: 'rows that are not UTF-8 read as Windows-1252',
  repeated_tokens: 'rows with a token and merchant from above dropped',
  later_dates: 'rows of these whose expiration was taken, because it is later',
  excluded_tokens: 'rows on the list of exclusions left out',
};

/** Returns the error for an implausible export whose rows can all be read; undefined for a plausible one. */
export function refusedAsWhole(
  { doubts, dates, words: marks }: Pick<Prepared, 'doubts' | 'dates' | 'words'>,
  { typed, words }: Pick<RefusedExport, 'typed'> & { readonly words: readonly string[] },
): SvcError | undefined {
  const file = typed === '-' ? STANDARD_INPUT : typed;
  const isZoned = dates.zone !== undefined;
  const problems = [
    ...doubts,
    ...(isZoned ? [{ check: 'zone', problem: dates.zone }] : []),
    ...marks.map(({ word, ...lines }) => ({
      check: 'empty',
      problem: `${countText(lines.count, 'row')} (${placesOf(lines)}) ${lines.count === 1 ? 'has' : 'have'} the merchant ${word}: nothing, or a name?`,
    })),
  ];
  if (problems.length === 0) return undefined;
  const accepted = [
    ...words,
    ...option(
      '--accept',
      doubts.map(({ check }) => check),
    ),
  ];
  const answered = (zone: string, isName: boolean): string[] => [
    ...accepted,
    ...(isZoned ? ['--date-zone', zone] : []),
    ...(marks.length === 0
      ? []
      : isName
        ? ['--no-empty']
        : option(
            '--empty',
            marks.map(({ word }) => word),
          )),
  ];
  return new SvcError('refused_input', `${file} is refused: ${countText(problems.length, 'problem')}`, {
    hint: 'Nothing was written. Correct the export, or say what is meant:',
    next: answered('Europe/Berlin', false),
    alternatives: [
      ...(marks.length > 0 ? [answered('Europe/Berlin', true)] : []),
      ...(isZoned ? [answered('utc', false)] : []),
    ],
    facts: { file, checks: problems.map(({ check }) => check), problems, problem_count: problems.length },
  });
}

interface RefusedExport {
  readonly typed: string;
  /** The file with the refused rows, if there is one. */
  readonly rejects?: string | undefined;
  /** The command as typed. */
  readonly words: readonly string[];
  readonly orders: readonly DateOrder[];
}

/** Returns the error for an export with problems. */
export function refusedExport(prepared: Prepared, { typed, rejects, words, orders }: RefusedExport): SvcError {
  const { problems, problemCount, isUnusable, rows } = prepared;
  const file = typed === '-' ? STANDARD_INPUT : typed;
  const written =
    rejects === undefined ? 'Nothing was written.' : `Only ${rejects} was written; the next attempt replaces it.`;
  const canBeLeftOut = !isUnusable && rows > 0;
  // Only `au prepare` has --rejects; `au refresh` names that file itself.
  const named = rejects === undefined && words[1] === 'prepare' ? ['--rejects', 'rejected.csv'] : [];
  const leavingOut = [...withoutOption(words, '--max-rejects'), ...named, '--max-rejects', String(problemCount)];
  return new SvcError('refused_input', `${file} is refused: ${countText(problemCount, 'problem')}`, {
    hint: [
      written,
      'Fix these rows of the export, then run the command again.',
      ...advice(problems, orders),
      ...(canBeLeftOut ? ['Or leave these rows out:'] : []),
    ].join(' '),
    next: canBeLeftOut ? leavingOut : undefined,
    facts: { file, problems, problem_count: problemCount, rejects_file: rejects },
  });
}

/** Returns a command without one of its options and its value. */
export function withoutOption(words: readonly string[], name: string): string[] {
  return words.filter((word, at) => word !== name && words[at - 1] !== name && !word.startsWith(`${name}=`));
}

/** Returns advice on the accepted forms of dates, and on the option that decides how ambiguous dates are read. */
function advice(problems: readonly ProblemGroup[], given: readonly DateOrder[]): string[] {
  const orders = [...new Set(problems.flatMap((problem) => problem.orders ?? []))];
  const options = orders.map((order) => `--date-order ${withOrder(given, order)}`).join(' or ');
  const isMeant = [
    ...new Set(problems.map(({ rule }) => rule).filter((rule) => CHECKS.some((check) => check === rule))),
  ];
  const isDate = problems.some(({ rule }) => rule === 'date');
  const isQuoting = problems.some(({ rule }) => rule === 'quoting');
  return [
    ...(orders.length > 0 ? [`If the dates are right, say how to read them: ${options}.`] : []),
    ...(isQuoting ? ['If this format quotes no cell, as psql -A and mariadb --batch, add --no-quotes.'] : []),
    ...(isMeant.length > 0 ? [`If they are meant so, add ${option('--accept', isMeant).join(' ')}.`] : []),
    ...(isDate ? [`Accepted are ${ACCEPTED_DATES}.`] : []),
  ];
}

/** Adds an order to the given ones. `serial` can be combined with any other order, because day numbers look different. */
function withOrder(given: readonly DateOrder[], order: DateOrder): string {
  const others = order === 'serial' ? given : given.filter((each) => each === 'serial');
  return [...others, order].join(',');
}

const ACCEPTED_DATES =
  '05/27, 5/2027, 0527, 2027-05, 2027-05-31, 31/05/2027, May-27, 31-May-2027, and with --date-order serial 46538';
