import { isSvcError, SvcError } from '../../base/errors.ts';
import { Draft, type Sealed } from '../../base/files/draft.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { argument, choice, flag, repeated, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { requireFile, resolvePath } from '../../cli/app/typed-path.ts';
import { nameValue, text } from '../../cli/app/value-parsers.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { recognizeFile } from '../request/file-kind.ts';
import { copyInput, explainAttachedDigits, readWithProgress, STANDARD_INPUT } from '../request/open-request-file.ts';
import { type ColumnChoice, PREPARED_COLUMNS, shownNames } from '../request/prepare-columns.ts';
import { DATE_ORDERS } from '../request/prepare-date.ts';
import type { ProblemGroup } from '../request/prepare-problems.ts';
import type { ChangeKind } from '../request/prepare-row.ts';
import { type Prepared, type PrepareOptions, prepareRequest } from '../request/prepare.ts';
import { wrongRequest } from '../request/wrong-file.ts';
import { copyOut, openSpool } from '../results/deliver.ts';

const preparedView: View<ReturnType<typeof preparedFile>> = {
  name: 'prepared request',
  fields: ['file', 'rows', 'bytes', 'sha256', 'changes', 'changes.*', 'columns_left_out'],
  columns: simpleColumns({ file: 'text', rows: 'number', bytes: 'number', sha256: 'id' }),
};

export const prepare = defineCommand({
  description:
    'Reads CSV with commas, semicolons or tabs, from a database or a spreadsheet, and writes the four columns of a request file; other columns are left out. Columns with well-known names are found, others are named with --map; expiration is a column with month and year in one. Repeated tokens are dropped: the first row stays. Works offline. A card number anywhere in the export is refused, and nothing is written then.',
  examples: [
    ['svc au prepare export.csv --out tokens.csv', 'then: svc au submit tokens.csv'],
    ['svc au prepare export.csv --map token=card_id --map expiration=valid_to --out tokens.csv', 'name the columns'],
    ['svc au prepare export.csv | svc au check -', 'see whether it is valid, without a file'],
  ],
  exitCodes: [13],
  fields: preparedView.fields,
  parameters: {
    export: argument('<export|->', 'a CSV file, or - for standard input', text),
    map: repeated(
      '--map <column=name>',
      `the column of the export that is one of ${PREPARED_COLUMNS.join(', ')}; for example token=card_id`,
      columnChoice,
    ),
    dateOrder: choice(
      '--date-order <order>',
      'how to read expirations such as 05/06 (month and year, or year and month), 05/06/2027 (day and month) and 46538 (a day of a spreadsheet)',
      DATE_ORDERS,
    ),
    out: value('--out <file|->', 'where to write; by default standard output', text),
    force: flag('--force', 'replace a file that exists'),
  },
  async run(context, { export: typed, map, dateOrder, out = '-', force }) {
    const print = await recordPrinter(context, preparedView);
    if (out === '-' && ((context.globals.output ?? 'csv') !== 'csv' || context.query))
      throw new SvcError('usage', 'without --out the output is CSV', { hint: 'Add --out, or omit --output and --jq.' });
    // Nothing of an export that is refused goes to a pipe.
    const target = out === '-' ? await openSpool(context) : resolvePath(context, out);
    if (out !== '-') await requireFile(target, force);
    const draft = await Draft.begin(target);
    try {
      const prepared = await prepareFile(context, typed, draft, { columns: map, dateOrder });
      const sealed = await draft.finish(force);
      if (out === '-') await copyOut(context, target, out);
      explain(context, prepared, sealed);
      if (out === '-') return;
      await print(preparedFile(out, prepared, sealed));
      noteNext(context, 'to submit it', ['au', 'submit', out]);
    } finally {
      await draft.discard();
    }
  },
});

function columnChoice(typed: string): ColumnChoice {
  const { name: column, value: name } = nameValue(typed);
  const known = PREPARED_COLUMNS.find((each) => each === column);
  if (known !== undefined && name !== '') return { column: known, name };
  throw new SvcError('usage', `must be one of ${PREPARED_COLUMNS.join(', ')}, =, and the name of a column`);
}

/** @throws SvcError `refused_input` with every problem found */
async function prepareFile(context: Context, typed: string, draft: Draft, how: PrepareOptions): Promise<Prepared> {
  const file = typed === '-' ? await copyInput(context) : resolvePath(context, typed);
  const write = (lines: string): Promise<void> => draft.write(lines);
  return readWithProgress(context, 'prepare', file, async (pieces, shown) => {
    const prepared = await prepareRequest(pieces, write, { ...how, ...shown });
    if (prepared.problemCount > 0) throw refusedExport(prepared, typed);
    return prepared;
  }).catch(async (error: unknown) => {
    throw (await asWrongFile(error, typed, file)) ?? withOption(error, typed);
  });
}

/** The failure for a file that is no export at all; undefined for any other failure. */
async function asWrongFile(error: unknown, typed: string, file: string): Promise<SvcError | undefined> {
  if (!isSvcError(error, 'refused_input') || error.facts?.['rule'] !== 'wrong_file') return undefined;
  const kind = await recognizeFile(file);
  return kind === undefined || kind === 'request' ? undefined : wrongRequest(typed, kind, 'an export of tokens');
}

function refusedExport({ problems, problemCount }: Prepared, typed: string): SvcError {
  const file = typed === '-' ? STANDARD_INPUT : typed;
  return new SvcError('refused_input', `${file} is refused: ${countText(problemCount, 'problem')}`, {
    hint: ['Nothing was written. Fix these rows of the export, then run the command again.', ...advice(problems)].join(
      ' ',
    ),
    facts: { file, problems, problem_count: problemCount },
  });
}

/** The option that decides how ambiguous dates are read, and the forms of dates that are accepted. */
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

/** How to name the column that is not clear. */
function withOption(error: unknown, typed: string): unknown {
  const column = isSvcError(error, 'refused_input') ? error.facts?.['needs'] : undefined;
  if (!isSvcError(error) || typeof column !== 'string') return error;
  return new SvcError(error.code, `${typed === '-' ? STANDARD_INPUT : typed}: ${error.message}`, {
    hint: 'Nothing was written. Name the column:',
    next: ['au', 'prepare', typed, '--map', `${column}=NAME`],
    facts: error.facts,
  });
}

/** A request, how many rows were changed by what was changed, and how many columns of the export it lacks. */
function preparedFile(file: string, prepared: Prepared, { bytes, sha256 }: Sealed) {
  return {
    file,
    rows: prepared.rows,
    bytes,
    sha256,
    changes: Object.fromEntries(prepared.changes.map(({ kind, count }) => [kind, count])),
    columns_left_out: prepared.leftOut.length,
  };
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
};

/** Says what was changed, the columns first, then by kind with the first lines. */
function explain({ notices }: Context, prepared: Prepared, { sha256 }: Sealed): void {
  const { delimiter, encoding, hasByteOrderMark, columns, leftOut, changes, attachedDigits, comparedTo, rows } =
    prepared;
  if (attachedDigits.count > 0) notices.warn(explainAttachedDigits(attachedDigits));
  if (sha256 === prepared.sha256)
    return notices.success(`${countText(rows, 'row')}: a valid request file already, nothing to change`);
  notices.success(`${countText(rows, 'row')} prepared`);
  if (encoding !== 'utf-8') notices.note(`  converted from ${ENCODINGS[encoding]} to UTF-8`);
  if (hasByteOrderMark) notices.note('  byte order mark removed');
  if (delimiter !== ',') notices.note(`  columns were separated by ${SEPARATORS[delimiter]}`);
  const renamed = Object.entries(columns).filter(([column, name]) => column !== name);
  if (renamed.length > 0)
    notices.note(`  ${renamed.map(([column, name]) => `${column} is ${shownNames([name])}`).join(', ')}`);
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
