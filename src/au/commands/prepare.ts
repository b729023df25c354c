import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Sealed } from '../../base/files/draft.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { argument, choice, flag, repeated, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { resolvePath } from '../../cli/app/typed-path.ts';
import { nameValue, text } from '../../cli/app/value-parsers.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { recognizeFile } from '../request/file-kind.ts';
import { copyInput, readWithProgress, STANDARD_INPUT } from '../request/open-request-file.ts';
import { type ColumnChoice, PREPARED_COLUMNS } from '../request/prepare-columns.ts';
import { DATE_ORDERS } from '../request/prepare-date.ts';
import { PreparedFiles, type PreparedNames } from '../request/prepare-files.ts';
import { explainPrepared, refusedExport } from '../request/prepare-messages.ts';
import { type Prepared, type PrepareOptions, prepareRequest } from '../request/prepare.ts';
import { wrongRequest } from '../request/wrong-file.ts';
import { copyOut } from '../results/deliver.ts';
import { keepFileOf } from '../results/kept-columns.ts';

const preparedView: View<ReturnType<typeof preparedFile>> = {
  name: 'prepared request',
  fields: [
    'file',
    'rows',
    'bytes',
    'sha256',
    'changes',
    'changes.*',
    'columns_left_out',
    'rejected',
    'rejects_file',
    'keep_file',
  ],
  columns: simpleColumns({ file: 'text', rows: 'number', bytes: 'number', sha256: 'id' }),
};

export const prepare = defineCommand({
  description:
    'Turns a CSV export in UTF-8 or UTF-16 from a database or a spreadsheet, separated by commas, semicolons or tabs, into a request file with its four columns; other columns are left out. Columns with well-known names are recognized; name others with --map, and use expiration for a column with both month and year. If a token is repeated, only its first row is kept. Works offline. Rows that cannot be read are refused and listed in groups of the same shape, and nothing is written unless --max-rejects allows them. A card number anywhere refuses the whole export, and is never written.',
  examples: [
    ['svc au prepare export.csv --out tokens.csv', 'then: svc au submit tokens.csv'],
    ['svc au prepare export.csv --map token=card_id --map expiration=valid_to --out tokens.csv', 'name the columns'],
    [
      'svc au prepare export.csv --rejects rejected.csv --max-rejects 1% --out tokens.csv',
      'leave out a few refused rows, and write them to another file',
    ],
    ['svc au prepare export.csv | svc au check -', 'check the request without writing a file'],
  ],
  exitCodes: [13],
  fields: preparedView.fields,
  parameters: {
    export: argument('<export|->', 'a CSV file, or - for standard input', text),
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
    rejects: value('--rejects <file>', 'write refused rows to this CSV file, each with its line and the reason', text),
    maxRejects: value(
      '--max-rejects <share|rows>',
      'leave out refused rows if there are at most this many, such as 1% or 20 (default: 0)',
      parseLimit,
    ),
    out: value('--out <file|->', 'where to write; by default standard output', text),
    force: flag('--force', 'replace files that exist'),
  },
  async run(context, { export: typed, map, dateOrder, keep, rejects, maxRejects, out = '-', force }) {
    const print = await recordPrinter(context, preparedView);
    if (out === '-' && ((context.globals.output ?? 'csv') !== 'csv' || context.query))
      throw new SvcError('usage', 'without --out the output is CSV', { hint: 'Add --out, or omit --output and --jq.' });
    if (maxRejects !== undefined && rejects === undefined)
      throw new SvcError('usage', '--max-rejects needs --rejects', { hint: 'Name a file for the rows left out.' });
    if (keep.length > 0 && out === '-')
      throw new SvcError('usage', '--keep needs --out', {
        hint: 'The file of kept columns is named after the request file.',
      });
    const names = { request: out, rejects, keep: keep.length === 0 ? undefined : keepFileOf(out) };
    const files = await PreparedFiles.begin(context, typed, names, force);
    try {
      const how = { columns: map, dateOrder, keep };
      const prepared = await prepareFile(context, typed, files, { how, maxRejects });
      const sealed = await files.finish();
      if (out === '-') await copyOut(context, files.path('request'), out);
      explainPrepared(context, prepared, sealed, names);
      if (out === '-') return;
      await print(preparedFile(files.names, prepared, sealed));
      noteNext(context, 'to submit it', ['au', 'submit', out]);
    } finally {
      await files.discard();
    }
  },
});

/** The largest number of rows that may be left out, or their largest share of all rows. */
type Limit = Readonly<{ share: number } | { rows: number }>;

function parseLimit(typed: string): Limit {
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

interface Preparation {
  readonly how: PrepareOptions;
  readonly maxRejects: Limit | undefined;
}

/** Writes the files of a request. @throws SvcError `refused_input` with every problem found */
async function prepareFile(
  context: Context,
  typed: string,
  files: PreparedFiles,
  { how, maxRejects = { rows: 0 } }: Preparation,
): Promise<Prepared> {
  const file = typed === '-' ? await copyInput(context) : resolvePath(context, typed);
  return readWithProgress(context, 'prepare', file, async (pieces, shown) => {
    const prepared = await prepareRequest(pieces, files.outputs(), { ...how, ...shown });
    if (!isWithinLimit(prepared, maxRejects)) {
      await files.finishOnly('rejects');
      throw refusedExport(prepared, typed, files.names.rejects);
    }
    return prepared;
  }).catch(async (error: unknown) => {
    throw (await wrongFileError(error, typed, file)) ?? suggestMap(error, typed);
  });
}

/** Returns whether the limit allows the request to be written without the refused rows. */
function isWithinLimit({ rows, problemCount, isUnusable, changes }: Prepared, limit: Limit): boolean {
  if (problemCount === 0) return true;
  if (isUnusable || rows === 0) return false;
  const repeated = changes.find(({ kind }) => kind === 'repeated_tokens')?.count ?? 0;
  return problemCount <= ('share' in limit ? limit.share * (rows + repeated + problemCount) : limit.rows);
}

/** Returns the error for a file of another known kind, such as a result file; undefined for any other failure. */
async function wrongFileError(error: unknown, typed: string, file: string): Promise<SvcError | undefined> {
  if (!isSvcError(error, 'refused_input') || error.facts?.['rule'] !== 'wrong_file') return undefined;
  const kind = await recognizeFile(file);
  return kind === undefined || kind === 'request' ? undefined : wrongRequest(typed, kind, 'an export of tokens');
}

/** Adds the --map option to an error about a column that could not be identified. Returns other errors unchanged. */
function suggestMap(error: unknown, typed: string): unknown {
  const column = isSvcError(error, 'refused_input') ? error.facts?.['needs'] : undefined;
  if (!isSvcError(error) || typeof column !== 'string') return error;
  return new SvcError(error.code, `${typed === '-' ? STANDARD_INPUT : typed}: ${error.message}`, {
    hint: 'Nothing was written. Name the column:',
    next: ['au', 'prepare', typed, '--map', `${column}=NAME`],
    facts: error.facts,
  });
}

/** Returns the record to print: the request file, the rows changed by kind of change, and how much was left out. */
function preparedFile(names: PreparedNames, prepared: Prepared, { bytes, sha256 }: Sealed) {
  return {
    file: names.request,
    rows: prepared.rows,
    bytes,
    sha256,
    changes: Object.fromEntries(prepared.changes.map(({ kind, count }) => [kind, count])),
    columns_left_out: prepared.leftOut.length,
    rejected: prepared.problemCount,
    rejects_file: names.rejects ?? null,
    keep_file: names.keep ?? null,
  };
}
