import { SvcError } from '../../base/errors.ts';
import { Draft } from '../../base/files/draft.ts';
import { isSamePath } from '../../base/files/names.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { flag, optionalArgument, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { requireFile, resolvePath } from '../../cli/app/typed-path.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { csvRow } from '../../cli/output/csv.ts';
import { countText, fixedPercent, formatNumber } from '../../cli/output/time.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';
import { indexResults, nextRequest, type NextRow, resultsInOrder } from '../request/next-request.ts';
import { openRequestFile } from '../request/open-request-file.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { cellsOf } from '../request/request-lines.ts';
import { requireRequestAndResults } from '../request/wrong-file.ts';
import { actionParameter, actionsOf } from '../results/action-option.ts';
import { parseThreshold, type Threshold } from '../results/fail-on.ts';
import { reconcile } from '../results/reconcile.ts';
import { shownCode } from '../results/report-view.ts';
import { type Actions, explainResultCode, GROUPS, namedCounts, noRows } from '../results/result-codes.ts';
import { filesOfRun, runParameter } from '../run/run-files.ts';

/** A request and what became of the rows of the last one, by what their results ask for: the numbers of `au report`. */
type NextRequest = Awaited<ReturnType<typeof makeNextRequest>>;

const nextRequestView: View<NextRequest> = {
  name: 'next request',
  fields: [
    'file',
    'rows',
    ...GROUPS.map((group) => `groups.${group}`),
    ...fieldPaths('unchanged excluded_by_code excluded_by_code.* excluded_file'),
  ],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'rows', kind: 'number' },
    ...GROUPS.map((group) => ({ path: `groups.${group}`, kind: 'number' }) as const),
    { path: 'unchanged', kind: 'number' },
  ],
};

/** The largest share of rows to fix in the next request: each of them is billed again. */
const MOST_TO_FIX = parseThreshold('err=20%');

function parseFixShare(typed: string): Threshold {
  const threshold = parseThreshold(typed);
  if (threshold.class === 'err') return threshold;
  throw new SvcError('usage', 'must be err, or err with a share such as err=50%');
}

export const next = defineCommand({
  description:
    'New tokens replace old ones, with the expirations that came with them; rows of closed accounts and of invalid card numbers are left out, all others stay as they were. Works offline; results in the order of the request need no memory, others at most a million rows of it.',
  examples: [
    [
      'svc au next tokens.csv results.csv --out next.csv --excluded excluded.csv',
      'with the reason for each row left out',
    ],
    ['svc au next --run run-20260105-0a1b2c3d-4e5f --out next.csv', 'of the request and the results of a run'],
    ['svc au next tokens.csv results.csv --action WRN_OPT_OUT=exclude', 'cardholders that opted out are left out too'],
    ['svc au next tokens.csv results.csv --out - | svc au submit -', 'straight into the next job'],
  ],
  exitCodes: [3, 5, 10, 12, 13],
  fields: nextRequestView.fields,
  parameters: {
    request: optionalArgument('[request]', 'the request file of the last cycle', text),
    results: optionalArgument('[results]', 'its results', text),
    run: runParameter,
    out: value(
      '--out <file|->',
      'where to write, or - for standard output; by default <request> with .next.csv at its end',
      text,
    ),
    excluded: value('--excluded <file>', 'a CSV file for the rows that are left out, with the reason for each', text),
    action: actionParameter,
    failOn: value(
      '--fail-on <err=share>',
      'exit with 10 when a larger share of the rows in the next request needs fixing (default: err=20%)',
      parseFixShare,
    ),
    force: flag('--force', 'replace files that exist'),
  },
  async run(context, { run, out, excluded, action, failOn = MOST_TO_FIX, force, ...typed }) {
    const { request, results, name } = await filesToRead(context, run, typed);
    const target = out ?? `${name.replace(/\.csv$/i, '')}.next.csv`;
    if (excluded === '-') throw new SvcError('usage', '--excluded takes a file', { hint: 'Give a file name.' });
    const isCsv = (context.globals.output ?? 'csv') === 'csv' && !context.query;
    if (target === '-' && !isCsv)
      throw new SvcError('usage', 'with --out - the output is CSV', { hint: 'Omit --output and --jq.' });
    const print = await recordPrinter(context, nextRequestView);
    const actions = actionsOf(context, action);
    const made = await makeNextRequest(context, { request, results, out: target, excluded, actions, force });
    context.notices.note(countsOf(made));
    if (target !== '-') await print(made);
    requireFewToFix(made, results, failOn);
  },
});

/** The files that are named, or else those of the run; `name` is what the request was called. */
async function filesToRead(
  context: Context,
  run: string | undefined,
  { request, results }: { readonly request: string | undefined; readonly results: string | undefined },
) {
  if (run !== undefined && request === undefined) {
    const kept = await filesOfRun(context, run);
    return { ...kept, name: kept.name ?? 'tokens.csv' };
  }
  if (run === undefined && request !== undefined && results !== undefined) return { request, results, name: request };
  throw new SvcError('usage', run === undefined ? 'a file is missing' : 'files and --run exclude each other', {
    hint: 'Name a request file and its results, or a run with --run.',
  });
}

/** @throws SvcError `threshold` when too many rows of the file, which is written, need fixing */
function requireFewToFix({ file, rows, groups }: NextRequest, results: string, { share }: Threshold): void {
  if (groups.fix <= rows * share) return;
  const name = file === '-' ? 'the next request' : file;
  const percent = fixedPercent(groups.fix / rows);
  throw new SvcError(
    'threshold',
    `${formatNumber(groups.fix)} of ${countText(rows, 'row')} of ${name} (${percent}) need fixing before they are submitted again`,
    {
      hint: 'Each row is billed again. See which rows, or allow a larger share with --fail-on, such as err=50%:',
      next: ['au', 'report', results],
      facts: { fix: groups.fix, rows },
    },
  );
}

/** The counts in a sentence, with the codes of what is left out. */
function countsOf({ rows, groups, unchanged, excluded_by_code: byCode }: NextRequest): string {
  const codes = Object.entries(byCode).map(([code, count]) => `${shownCode(code)} ${formatNumber(count)}`);
  const counts = namedCounts(groups, unchanged).map(
    ({ group, name, count }) => `${name} ${formatNumber(count)}${group === 'exclude' ? ` (${codes.join(', ')})` : ''}`,
  );
  return [`${formatNumber(rows)} rows in the next request`, counts.join(', ')].filter((part) => part !== '').join(': ');
}

interface NextInput {
  /** Paths as typed. */
  readonly request: string;
  readonly results: string;
  /** A file, or - for standard output. */
  readonly out: string;
  readonly excluded: string | undefined;
  readonly actions: Actions;
  readonly force: boolean;
}

/** Writes the next request and what was excluded. @throws SvcError `checksum_mismatch` for results of another one */
async function makeNextRequest(context: Context, input: NextInput) {
  const { force, actions } = input;
  const targets = [input.out, input.excluded].filter((name) => name !== undefined && name !== '-');
  const [first, second] = targets.map((target) => resolvePath(context, target ?? ''));
  if (first !== undefined && second !== undefined && isSamePath(first, second, context.system.platform))
    throw new SvcError('usage', '--out and --excluded name the same file', { hint: 'Give each its own name.' });
  for (const target of [first, second]) if (target !== undefined) await requireFile(target, force);
  const { source, answers } = await matchedResults(context, input);
  const files: Draft[] = [];
  const begin = async (name: string): Promise<Draft> => {
    const file = await Draft.begin(resolvePath(context, name));
    files.push(file);
    return file;
  };
  try {
    const out = input.out === '-' ? context.out : await begin(input.out);
    const excluded = input.excluded === undefined ? undefined : await begin(input.excluded);
    const rows = nextRequest(source.open(), answers, actions);
    const counts = await writeRows(rows, { out, excluded, actions, signal: context.signal });
    // On a full disk neither file gets its name.
    for (const file of files) await file.seal();
    for (const file of files) await file.finish(force);
    return { file: input.out, ...counts, excluded_file: input.excluded ?? null };
  } finally {
    for (const file of files) await file.discard();
  }
}

async function matchedResults(context: Context, { request, results: name }: NextInput) {
  await requireRequestAndResults(context, {
    request,
    results: name,
    words: (ofRequest, ofResults) => ['au', 'next', ofRequest, ofResults],
  });
  requireProven(name);
  const { source, check } = await openRequestFile(context, resolvePath(context, request));
  const results = await fileSource(resolvePath(context, name));
  const found = await reconcile(source, results);
  const unmatched = found.notRequested + found.duplicates;
  if (unmatched > 0) {
    throw new SvcError(
      'checksum_mismatch',
      `no row of ${request} matches ${countText(unmatched, 'row')} of ${name}: nothing was written`,
      {
        hint: 'Check that the two files belong together:',
        next: ['au', 'report', name, '--request', request],
        facts: { not_requested: found.notRequested, duplicates: found.duplicates },
      },
    );
  }
  // A token that is requested twice takes its result wherever that stands, so that no row keeps an old token.
  const isInOrder = found.matchedBy === 'order' && check.duplicates.count === 0;
  const answers = await (isInOrder ? resultsInOrder(results.open()) : indexResults(results.open()));
  return { source, answers };
}

/** Results that were refused are accepted by the operator before rows are made of them that are paid for. */
function requireProven(results: string): void {
  if (!results.endsWith('.unproven')) return;
  throw new SvcError('refused_input', `${results} is kept because it is not proven whole`, {
    hint: 'To compare it with its request, use svc au report. If it is right, accept it:',
    next: ['au', 'download', '<run>', '--accept-unproven'],
    facts: { file: results, file_kind: 'unproven' },
  });
}

interface Targets {
  readonly out: Pick<Draft, 'write'>;
  readonly excluded: Pick<Draft, 'write'> | undefined;
  readonly actions: Actions;
  readonly signal: AbortSignal;
}

async function writeRows(batches: AsyncIterable<readonly NextRow[]>, { out, excluded, actions, signal }: Targets) {
  const groups = noRows();
  let unchanged = 0;
  const byCode: Record<string, number> = {};
  await out.write(`${REQUEST_HEADER}\n`);
  await excluded?.write(csvRow(['row', ...REQUEST_COLUMNS, 'result_code', 'reason']));
  let row = 0;
  for await (const batch of batches) {
    signal.throwIfAborted();
    const lines: string[] = [];
    for (const { group, line, request, code = '' } of batch) {
      row += 1;
      if (group === 'unchanged') unchanged += 1;
      else groups[group] += 1;
      if (group !== 'exclude') lines.push(line, '\n');
      else {
        byCode[code] = (byCode[code] ?? 0) + 1;
        await excluded?.write(csvRow([String(row), ...cellsOf(request), code, reasonFor(code, actions)]));
      }
    }
    await out.write(lines.join(''));
  }
  return { rows: row - groups.exclude, groups, unchanged, excluded_by_code: byCode };
}

function reasonFor(code: string, actions: Actions): string {
  const { meaning } = explainResultCode(code);
  return actions.has(code) ? `${meaning} (excluded by your choice)` : meaning;
}
