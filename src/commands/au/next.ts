import { actionParameter, actionsOf } from '../../cli/action.ts';
import { defineCommand } from '../../cli/command.ts';
import { argument, flag, value } from '../../cli/parameter.ts';
import { recordPrinter } from '../../cli/print.ts';
import { text } from '../../cli/values.ts';
import { SvcError } from '../../errors.ts';
import { nextRequestView, nextRequestWords } from '../../views/next.ts';

/** `svc au next` */
export const next = defineCommand({
  name: 'next',
  summary: 'the request file of the next cycle, from the last one and its results',
  description:
    'New tokens take the place of old ones, with the expirations that came with them; rows of closed accounts and of invalid card numbers are dropped, all others stay as they were. Works offline; results in the order of the request need no memory, others at most a million rows of it.',
  examples: [
    [
      'svc au next tokens.csv results.csv --out next.csv --dropped dropped.csv',
      'with the reason for each row dropped',
    ],
    ['svc au next tokens.csv results.csv --action WRN_OPT_OUT=exclude', 'cardholders that opted out go too'],
    ['svc au next tokens.csv results.csv --out - | svc au submit -', 'straight into the next job'],
  ],
  exitCodes: [12, 13],
  fields: nextRequestView.fields,
  parameters: {
    request: argument('<request>', 'the request file of the last cycle', text),
    results: argument('<results>', 'its results', text),
    out: value(
      '--out <file|->',
      'where to write, or - for standard output; by default <request> with .next.csv at its end',
      text,
    ),
    dropped: value('--dropped <file>', 'a CSV file for the dropped rows, with the reason for each', text),
    action: actionParameter,
    force: flag('--force', 'replace files that exist'),
  },
  async run(context, { request, results, out, dropped, action, force }) {
    const { makeNextRequest } = await import('../../cli/next-request.ts');
    const target = out ?? `${request.replace(/\.csv$/i, '')}.next.csv`;
    if (dropped === '-') throw new SvcError('usage', '--dropped takes a file', { hint: 'Give a file name.' });
    const isCsv = (context.globals.output ?? 'csv') === 'csv' && !context.query;
    if (target === '-' && !isCsv)
      throw new SvcError('usage', 'with --out - the output is CSV', { hint: 'Leave --output and --jq out.' });
    const print = await recordPrinter(context, nextRequestView);
    const actions = actionsOf(context, action);
    const made = await makeNextRequest(context, { request, results, out: target, dropped, actions, force });
    context.notices.note(nextRequestWords(made));
    if (target !== '-') await print(made);
  },
});
