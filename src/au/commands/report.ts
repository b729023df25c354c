import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { argument, flag, reading, value, writing } from '../../cli/app/parameter.ts';
import { isDrawn, recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { actionParameter } from '../results/action-option.ts';
import { keepParameter } from '../results/kept-columns.ts';
import { makeReport, requireReconciled } from '../results/make-report.ts';
import { dominanceWarning, drawReport, reportView, totalRows } from '../results/report-view.ts';
import { GROUPS } from '../result-codes.ts';

const parameters = {
  results: reading(argument('<results>', 'a result file', text), ['.csv']),
  request: reading(value('--request <file>', 'the request file of these results', text), ['.csv']),
  splitInto: value(
    '--split-into <dir>',
    `write a file for each thing to do that has rows: ${GROUPS.map((group) => `${group}.csv`).join(', ')}`,
    text,
  ),
  keep: keepParameter,
  html: writing(value('--html <file>', 'write the report as one page with charts', text)),
  action: actionParameter,
  force: flag('--force', 'replace files that exist'),
} as const;

export const report = defineCommand({
  description:
    'Works offline, on files of any size. Unknown codes and columns are kept and shown. With --request, each row must match a row of the request.',
  examples: [
    ['svc au report results.csv', 'counts, shares and next steps as bars'],
    ['svc au report results.csv --request tokens.csv', 'whether each row is accounted for'],
    ['svc au report results.csv --split-into todo', 'a file for each thing to do'],
    [
      'svc au report results.csv --split-into todo --keep tokens.keep.csv',
      'with the columns that svc au prepare --keep wrote',
    ],
    ['svc au report results.csv --html report.html', 'one page to print or to pass on'],
  ],
  exitCodes: [3, 5, [12, 'a row of the results matches no row of the request'], 13],
  paged: true,
  fields: reportView.fields,
  parameters,
  async run(context, input) {
    const print = await recordPrinter(context, reportView);
    if (input.keep !== undefined && input.splitInto === undefined)
      throw new SvcError('usage', '--keep needs --split-into', { hint: 'Its columns go into the files of the split.' });
    const report = await makeReport(context, input);
    if (isDrawn(context)) {
      const { palette, unicode, plain, out } = context;
      const columns = out.isTerminal ? out.width : Infinity;
      await out.write(drawReport(report, { palette, unicode, plain, columns }));
    } else {
      const warning = dominanceWarning(report.codes, totalRows(report));
      if (warning !== undefined) context.notices.warn(warning);
      await print(report);
    }
    // Last, so that the counts are shown even if rows do not match the request.
    requireReconciled(report);
  },
});
