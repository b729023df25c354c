import { SvcError } from '../../base/errors.ts';
import type { SealedFile } from '../../base/files/draft.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { noteNext, option } from '../../cli/app/hint.ts';
import { argument, flag, reading, value, writing } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { prepareExport } from '../prepare/prepare-export.ts';
import type { PreparedNames } from '../prepare/prepare-files.ts';
import { CHECKS } from '../request/checks.ts';
import { requireNameToRecord } from '../request/open-request-file.ts';
import { doubtsOf, OVERVIEW_FIELDS, overviewMembers } from '../request/overview.ts';
import { exportParameters, exportWords, readingOptions } from '../prepare/prepare-options.ts';
import { droppedRows, type Prepared } from '../prepare/prepare.ts';
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
    'dropped',
    'dropped.*',
    ...OVERVIEW_FIELDS,
    'columns_left_out',
    'rejected',
    'rejects_file',
    'keep_file',
  ],
  columns: simpleColumns({ file: 'text', rows: 'number', bytes: 'number', sha256: 'id' }),
};

export const prepare = defineCommand({
  description:
    'Turns a CSV export (UTF-8 or UTF-16; commas, semicolons or tabs) into a request file with its four columns. Columns with well-known names are recognized; name others with --map. Nothing is written if a row cannot be read, unless --max-rejects allows it, or if there is a card number anywhere. Works offline.',
  details:
    'Other columns are left out. Map a column with both month and year as expiration. Where no column is the merchant_id and another looks like it, the command asks, or ends with 13 without a terminal: --map merchant_id=NAME or --no-merchant answers. Rows that repeat a token and merchant are one row, with the latest expiration; repeated headers and a last row with a total are left out. Rows that are not UTF-8 are read as Windows-1252. Rows that cannot be read are listed in groups of the same shape.',
  examples: [
    ['svc au prepare export.csv --out tokens.csv', 'then: svc au submit tokens.csv'],
    ['svc au prepare export.csv --map token=card_id --map expiration=valid_to --out tokens.csv', 'name the columns'],
    [
      'svc au prepare export.csv --rejects rejected.csv --max-rejects 1% --out tokens.csv',
      'leave out a few refused rows, and write them to another file',
    ],
    ['svc au prepare export.csv | svc au check -', 'check the request without writing a file'],
  ],
  onlyPrints: ({ out }) => out === undefined,
  exitCodes: [[3, 'the list of exclusions does not exist'], 13],
  fields: preparedView.fields,
  parameters: {
    export: reading(argument('<export|->', 'a CSV file, or - for standard input', text), ['.csv']),
    ...exportParameters,
    exclusions: reading(
      value('--exclusions <file|none>', 'leave out the tokens in this CSV file, which au next extends', text),
      ['.csv'],
    ),
    rejects: writing(
      value('--rejects <file>', 'write refused rows to this CSV file, each with its line and reason', text),
    ),
    out: writing(value('--out <file|->', 'where to write (default: standard output)', text)),
    force: flag('--force', 'replace files that exist'),
  },
  async run(context, { export: typed, exclusions, rejects, maxRejects, out = '-', force, ...reading }) {
    const print = await recordPrinter(context, preparedView);
    if (out === '-' && ((context.globals.output ?? 'csv') !== 'csv' || context.query))
      throw new SvcError('usage', 'without --out the output is CSV', { hint: 'Add --out, or omit --output and --jq.' });
    if (maxRejects !== undefined && rejects === undefined)
      throw new SvcError('usage', '--max-rejects needs --rejects', { hint: 'Name a file for the rows left out.' });
    if (reading.keep.length > 0 && out === '-')
      throw new SvcError('usage', '--keep needs --out', {
        hint: 'The file of kept columns is named after the request file.',
      });
    requireNameToRecord(out);
    const names = { request: out, rejects, keep: reading.keep.length === 0 ? undefined : keepFileOf(out) };
    const how = readingOptions(reading);
    const words = [
      'au',
      'prepare',
      typed,
      ...exportWords(how),
      ...option('--exclusions', exclusions),
      ...option('--rejects', rejects),
      ...option('--max-rejects', maxRejects?.words),
      ...option('--out', out === '-' ? undefined : out),
      ...(force ? ['--force'] : []),
    ];
    const { prepared, request } = await prepareExport(context, typed, {
      names,
      how,
      exclusions: exclusions === 'none' ? undefined : exclusions,
      maxRejects,
      force,
      words,
    });
    if (out === '-') return;
    await print(preparedFile(names, prepared, request));
    const { overview } = prepared;
    const accepted = new Set([...overview.accepted, ...doubtsOf(overview).map(({ check }) => check)]);
    const checks = CHECKS.filter((check) => accepted.has(check));
    noteNext(context, 'to submit it', ['au', 'submit', out, ...option('--accept', checks)]);
  },
});

/** Returns the record to print: the request file, the rows changed by kind of change, and how much was left out. */
function preparedFile(names: PreparedNames, prepared: Prepared, { bytes, sha256 }: SealedFile) {
  return {
    file: names.request,
    rows: prepared.rows,
    bytes,
    sha256,
    changes: Object.fromEntries(prepared.changes.map(({ kind, count }) => [kind, count])),
    dropped: droppedRows(prepared),
    ...overviewMembers(prepared.overview),
    columns_left_out: prepared.leftOut.length,
    rejected: prepared.problemCount,
    rejects_file: names.rejects ?? null,
    keep_file: names.keep ?? null,
  };
}
