import { drawReport, reportView } from '../../account-updater/report-view.ts';
import { defineCommand } from '../../app/command.ts';
import { argument, flag, text, value } from '../../app/parameter.ts';
import { isForPeople, recordPrinter } from '../../app/print.ts';
import { actionParameter, actionsOf } from './options.ts';

/** `svc au report` */
export const report = defineCommand({
  description:
    'Works offline, on files of any size. Codes and columns that are not known here are kept and shown. With --request, each row must answer a row of the request, else the exit code is 12.',
  examples: [
    ['svc au report results.csv', 'counts, shares and next steps as bars'],
    ['svc au report results.csv --request tokens.csv', 'is each row accounted for?'],
    ['svc au report results.csv --split-into todo', 'a file for each thing to do'],
    ['svc au report results.csv --html report.html', 'one page to print or to pass on'],
  ],
  exitCodes: [12, 13],
  paged: true,
  fields: reportView.fields,
  parameters: {
    results: argument('<results>', 'a result file', text),
    request: value('--request <file>', 'the request file that the results answer', text),
    splitInto: value(
      '--split-into <dir>',
      'write update.csv, contact.csv, exclude.csv, fix.csv, keep.csv and unknown.csv, those that have rows',
      text,
    ),
    html: value('--html <file>', 'write the report as one page with charts', text),
    action: actionParameter,
    force: flag('--force', 'replace files that exist'),
  },
  async run(context, { action, ...input }) {
    const { makeReport, checkReconciled } = await import('./report-results.ts');
    const isPicture = isForPeople(context) && context.globals.fields === undefined;
    const print = await recordPrinter(context, reportView);
    const made = await makeReport(context, { ...input, actions: actionsOf(context, action) });
    if (isPicture) {
      const { palette, unicode, plain, out } = context;
      const columns = out.isTerminal ? out.width : Infinity;
      await out.write(drawReport(made, { palette, unicode, plain, columns }));
    } else await print(made);
    checkReconciled(made);
  },
});
