import { defineCommand } from '../../app/command.ts';
import { argument, flag, text, value } from '../../app/parameter.ts';
import { recordPrinter } from '../../app/print.ts';
import { SvcError } from '../../errors.ts';
import { formatNumber } from '../../output/time.ts';
import type { View } from '../../output/view.ts';
import { actionParameter, actionsOf } from './options.ts';

/** How a next request is shown. */
const nextRequestView: View<NextRequest> = {
  name: 'next request',
  fields: [
    'file',
    'rows',
    'replaced',
    'kept',
    'to_fix',
    'dropped',
    'dropped_by_code',
    'dropped_by_code.*',
    'dropped_file',
  ],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'rows', kind: 'number' },
    { path: 'replaced', kind: 'number' },
    { path: 'kept', kind: 'number' },
    { path: 'to_fix', kind: 'number' },
    { path: 'dropped', kind: 'number' },
  ],
};

/** `svc au next` */
export const next = defineCommand({
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
    const { makeNextRequest } = await import('./next-request.ts');
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

/** What a next request file came to. */
export interface NextRequest {
  readonly file: string;
  readonly rows: number;
  /** Rows with a new token in place of the old one. */
  readonly replaced: number;
  /** Rows as they were. */
  readonly kept: number;
  /** Of those kept, rows that the service rejected: they need fixing before they are sent. */
  readonly to_fix: number;
  readonly dropped: number;
  readonly dropped_by_code: Readonly<Record<string, number>>;
  /** The file that lists the dropped rows; null where none was asked for. */
  readonly dropped_file: string | null;
}

/** The counts in a sentence, for stderr. */
function nextRequestWords(next: NextRequest): string {
  const { rows, replaced, kept, to_fix: toFix, dropped } = next;
  const by = Object.entries(next.dropped_by_code).map(([code, count]) => `${code} ${formatNumber(count)}`);
  const fixes = toFix > 0 ? ` (${formatNumber(toFix)} need fixing)` : '';
  const why = by.length > 0 ? ` (${by.join(', ')})` : '';
  return `${formatNumber(rows)} rows: ${formatNumber(replaced)} replaced, ${formatNumber(kept)} kept${fixes}; ${formatNumber(dropped)} dropped${why}`;
}
