import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { argument, extending, flag, reading, value, writing } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { actionParameter, actionsOf } from '../results/action-option.ts';
import { parseThreshold, type Threshold } from '../results/fail-on.ts';
import { keepParameter } from '../results/kept-columns.ts';
import { requireNameToRecord } from '../request/open-request-file.ts';
import { copyOut, openSpool } from '../request/spool.ts';
import { nextRequestView, writeNextRequest } from '../next/write-next-request.ts';

/** The largest usual share of rows that need fixing. Each of these rows is billed again. */
const USUAL_TO_FIX = parseThreshold('err=20%');

export const next = defineCommand({
  description:
    'New tokens replace old ones, with their new expirations; rows of closed accounts and of invalid card numbers are left out; all others stay. Works offline.',
  details:
    'Where the results are in another order than the request, it may have at most a million rows. To take a token back, remove its line from the file of --exclusions.',
  examples: [
    [
      'svc au next tokens.csv results.csv --out next.csv --excluded excluded.csv',
      'with the reason for each row left out',
    ],
    ['svc au next tokens.csv results.csv --exclusions closed.csv', 'what was left out once stays out in later cycles'],
    ['svc au next tokens.csv results.csv --action WRN_OPT_OUT=exclude', 'cardholders that opted out are left out too'],
    ['svc au next tokens.csv results.csv --out - | svc au submit -', 'straight into the next job'],
  ],
  exitCodes: [3, 5, [10, 'more rows than --fail-on allows need fixing'], 12, 13],
  fields: nextRequestView.fields,
  parameters: {
    request: reading(argument('<request>', 'the request file of the last cycle', text), ['.csv']),
    results: reading(argument('<results>', 'its results', text), ['.csv']),
    out: writing(value('--out <file|->', 'where to write, or - for stdout (default: <request>.next.csv)', text)),
    excluded: writing(value('--excluded <file>', 'write the rows left out to this CSV file, with reasons', text)),
    exclusions: extending(
      value(
        '--exclusions <file>',
        'leave out the tokens in this CSV file too, and add those that are left out now',
        text,
      ),
    ),
    keep: keepParameter,
    action: actionParameter,
    failOn: value(
      '--fail-on <err=share>',
      'write nothing and exit with 10 when more of the next rows need fixing (default: err=20%)',
      parseFixShare,
    ),
    force: flag('--force', 'replace files that exist'),
  },
  async run(context, { action, failOn: mostToFix = USUAL_TO_FIX, ...typed }) {
    const { request, results, out, excluded, exclusions, keep, force } = typed;
    const target = out ?? `${request.replace(/\.csv$/i, '')}.next.csv`;
    if (excluded === '-') throw new SvcError('usage', '--excluded takes a file', { hint: 'Give a file name.' });
    if (exclusions === '-') throw new SvcError('usage', '--exclusions takes a file', { hint: 'Give a file name.' });
    requireNameToRecord(target);
    const isCsv = (context.globals.output ?? 'csv') === 'csv' && !context.query;
    if (target === '-' && !isCsv)
      throw new SvcError('usage', 'with --out - the output is CSV', { hint: 'Omit --output and --jq.' });
    if (target === '-' && keep !== undefined)
      throw new SvcError('usage', '--keep needs a file for --out', {
        hint: 'The kept columns go into a file beside it.',
      });
    const print = await recordPrinter(context, nextRequestView);
    const actions = actionsOf(context, action);
    // A pipe must receive nothing of a refused request, so the request is first written to a private file.
    const file = target === '-' ? await openSpool(context) : target;
    const files = { request, results, out: file, excluded, exclusions, keep };
    const rules = { cycle: undefined, actions, mostToFix, force };
    const nextRequest = await writeNextRequest(context, { ...files, ...rules });
    await (target === '-' ? copyOut(context, file, target) : print(nextRequest));
  },
});

function parseFixShare(typed: string): Threshold {
  const threshold = parseThreshold(typed);
  if (threshold.class === 'err') return threshold;
  throw new SvcError('usage', 'must be err, or err with a share such as err=50%');
}
