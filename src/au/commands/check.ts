import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { reading, rest } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch, recordPrinter } from '../../cli/app/print.ts';
import { problemsOf } from '../../cli/output/error-report.ts';
import { acceptParameter } from '../request/checks.ts';
import { implausibleFile } from '../request/implausible-file.ts';
import {
  type CheckedFile,
  checkedFileRow,
  checkedFileView,
  checkFile,
  explainCheck,
  noteOverview,
  refusalOf,
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
    const checked: CheckedFile[] = [];
    // All files are checked before the first refusal ends the command.
    for (const file of files) checked.push(await checkFile(context, file));
    const refusals = checked.map((file, at) =>
      file.check.ok
        ? implausibleFile(file.check, {
            name: file.name,
            words: ['au', 'check', files[at] ?? '', ...option('--accept', accept)],
            accept,
          })
        : refusalOf(file),
    );
    for (const { name, check: found } of checked.filter((_, at) => refusals[at] === undefined))
      noteOverview(context, isSingle ? undefined : name, found);
    const rows = checked
      .filter((_, at) => refusals[at] === undefined)
      .map((file) => checkedFileRow(file.name, file.check, file.check, file.jobs));
    if (!isSingle) await printList(oneBatch(rows));
    else for (const row of rows) await printOne(row);
    requireAllOk(checked, refusals);
    context.notices.success(isSingle ? 'the file is valid' : 'all files are valid');
  },
});

function requireAllOk(checked: readonly CheckedFile[], refusals: readonly (SvcError | undefined)[]): void {
  const refused = checked.flatMap((file, at) => {
    const error = refusals[at];
    return error === undefined ? [] : [{ ...file, error }];
  });
  const [first] = refused;
  if (!first) return;
  if (checked.length === 1) throw first.error;
  const problems = refused.flatMap(({ name, check: found, error }) =>
    (found.ok ? problemsOf(error) : explainCheck(found)).map((line) => `${name}: ${line}`),
  );
  const files = refused.map(({ name, error }) => ({
    file: name,
    problems: error.facts?.['problems'],
    problem_count: error.facts?.['problem_count'],
  }));
  throw new SvcError('refused_input', `${refused.length} of ${checked.length} files refused`, {
    hint: 'Fix these lines, then check the files again.',
    facts: { files, problems },
  });
}
