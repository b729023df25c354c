import { isSvcError, SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { reading, rest } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch, recordPrinter } from '../../cli/app/print.ts';
import { problemsOf } from '../../cli/output/error-report.ts';
import { acceptParameter } from '../request/checks.ts';
import { implausibleFile } from '../request/implausible-file.ts';
import {
  checkedFileRow,
  checkedFileView,
  countJobs,
  noteOverview,
  openFileToSend,
  type RequestFile,
  STANDARD_INPUT,
} from '../request/open-request-file.ts';

export const check = defineCommand({
  description:
    'A request file is UTF-8 text with the header token,expiration_year,expiration_month,merchant_id. Every problem is reported with its line. A card number anywhere is refused and never shown.',
  examples: [
    ['svc au check tokens.csv', 'before it is submitted'],
    ['svc au check requests/*.csv', 'several, each with all its problems'],
    ['cat tokens.csv | svc au check -', 'from a pipe'],
  ],
  exitCodes: [13],
  fields: checkedFileView.fields,
  parameters: {
    files: reading(rest('<file...>', 'request files, or - for standard input'), ['.csv']),
    accept: acceptParameter,
  },
  async run(context, { files, accept }) {
    const isSingle = files.length === 1;
    const printOne = await recordPrinter(context, checkedFileView);
    const printList = await listPrinter(context, checkedFileView);
    const valid: RequestFile[] = [];
    const refusals: Refusal[] = [];
    // All files are checked before the first refusal ends the command.
    for (const typed of files) {
      try {
        const file = await openFileToSend(context, typed);
        const words = ['au', 'check', typed, ...option('--accept', accept)];
        const refused = implausibleFile(file.submitted, { name: file.name, words, accept });
        if (refused) throw refused;
        valid.push(file);
      } catch (error) {
        if (!isSvcError(error, 'refused_input', 'local')) throw error;
        refusals.push({ typed, error });
      }
    }
    for (const { name, submitted } of valid) noteOverview(context, isSingle ? undefined : name, submitted);
    const rows = [];
    for (const file of valid)
      rows.push(checkedFileRow(file.name, file.submitted, file.submitted, await countJobs(context, file)));
    if (!isSingle) await printList(oneBatch(rows));
    else for (const row of rows) await printOne(row);
    const [refused] = refusals;
    if (refused) throw isSingle ? refused.error : refusedFiles(files.length, refusals);
    context.notices.success(isSingle ? 'the file is valid' : 'all files are valid');
  },
});

interface Refusal {
  readonly typed: string;
  readonly error: SvcError;
}

function refusedFiles(count: number, refusals: readonly Refusal[]): SvcError {
  const isAnyUnread = refusals.some(({ error }) => error.code === 'local');
  return new SvcError(isAnyUnread ? 'local' : 'refused_input', `${refusals.length} of ${count} files refused`, {
    hint: 'Fix what is named, then check the files again.',
    facts: {
      files: refusals.map(({ typed, error: { facts: { file = typed, problems, problem_count } = {} } }) => ({
        file,
        problems,
        problem_count,
      })),
      problems: refusals.flatMap(linesOf),
    },
  });
}

/** Describes the problems of a file, each with its name. */
function linesOf({ typed, error }: Refusal): readonly string[] {
  const problems = problemsOf(error);
  const name = typed === '-' ? STANDARD_INPUT : typed;
  return problems.length === 0 ? [error.message] : problems.map((line) => `${name}: ${line}`);
}
