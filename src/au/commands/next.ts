import { SvcError } from '../../base/errors.ts';
import { Draft } from '../../base/files/draft.ts';
import { isSamePath } from '../../base/files/names.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { flag, optionalArgument, value } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { requireFile, resolvePath } from '../../cli/app/typed-path.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { csvRow, csvRows } from '../../cli/output/csv.ts';
import { countText, fixedPercent, formatNumber } from '../../cli/output/time.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { REQUEST_COLUMNS } from '../../schema/account-updater-files.ts';
import { Exclusions } from '../request/exclusions.ts';
import { indexResults, nextRequest, type NextRow, resultsInOrder } from '../request/next-request.ts';
import { openRequestFile } from '../request/open-request-file.ts';
import { REQUEST_HEADER } from '../request/request-file.ts';
import { cellsOf } from '../request/request-lines.ts';
import { requireRequestAndResults } from '../request/wrong-file.ts';
import { actionParameter, actionsOf } from '../results/action-option.ts';
import { parseThreshold, type Threshold } from '../results/fail-on.ts';
import { keepFileOf, keepParameter, KEPT_COLUMNS, type KeptColumns, openKept } from '../results/kept-columns.ts';
import { reconcile } from '../results/reconcile.ts';
import { shownCode } from '../results/report-view.ts';
import { type Actions, explainResultCode, GROUPS, namedCounts, noRows } from '../results/result-codes.ts';
import { filesOfRun, runParameter } from '../run/run-files.ts';

/** The next request, with counts of the last request's rows by action. The counts match those of `au report`. */
type NextRequest = Awaited<ReturnType<typeof makeNextRequest>>;

const nextRequestView: View<NextRequest> = {
  name: 'next request',
  fields: [
    'file',
    'rows',
    ...GROUPS.map((group) => `groups.${group}`),
    ...fieldPaths('unchanged excluded_before excluded_by_code excluded_by_code.* excluded_file keep_file'),
  ],
  columns: [
    { path: 'file', kind: 'text' },
    { path: 'rows', kind: 'number' },
    ...GROUPS.map((group) => ({ path: `groups.${group}`, kind: 'number' }) as const),
    { path: 'unchanged', kind: 'number' },
  ],
};

/** The largest default share of rows that need fixing. Each of these rows is billed again. */
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
    ['svc au next tokens.csv results.csv --exclusions closed.csv', 'what was left out once stays out in later cycles'],
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
    exclusions: value(
      '--exclusions <file>',
      'leave out the tokens in this CSV file too, and add those that are left out now; to take one back, remove its line',
      text,
    ),
    keep: keepParameter,
    action: actionParameter,
    failOn: value(
      '--fail-on <err=share>',
      'exit with 10 when a larger share of the rows in the next request needs fixing (default: err=20%)',
      parseFixShare,
    ),
    force: flag('--force', 'replace files that exist'),
  },
  async run(context, { run, action, failOn = MOST_TO_FIX, ...typed }) {
    const { request, results, name, cycle } = await filesToRead(context, run, typed);
    const { out, excluded, exclusions, keep, force } = typed;
    const target = out ?? `${name.replace(/\.csv$/i, '')}.next.csv`;
    if (excluded === '-') throw new SvcError('usage', '--excluded takes a file', { hint: 'Give a file name.' });
    if (exclusions === '-') throw new SvcError('usage', '--exclusions takes a file', { hint: 'Give a file name.' });
    const isCsv = (context.globals.output ?? 'csv') === 'csv' && !context.query;
    if (target === '-' && !isCsv)
      throw new SvcError('usage', 'with --out - the output is CSV', { hint: 'Omit --output and --jq.' });
    if (target === '-' && keep !== undefined)
      throw new SvcError('usage', '--keep needs a file for --out', {
        hint: 'The kept columns go into a file beside it.',
      });
    const print = await recordPrinter(context, nextRequestView);
    const actions = actionsOf(context, action);
    const files = { request, results, out: target, excluded, exclusions, keep };
    const made = await makeNextRequest(context, { ...files, cycle, actions, force });
    context.notices.note(countsOf(made));
    if (target !== '-') await print(made);
    requireFewToFix(made, results, failOn);
  },
});

/** Returns the named files, or else the files of the run. `name` is the original name of the request. */
async function filesToRead(
  context: Context,
  run: string | undefined,
  { request, results }: { readonly request: string | undefined; readonly results: string | undefined },
) {
  if (run !== undefined && request === undefined) {
    const kept = await filesOfRun(context, run);
    return { ...kept, name: kept.name ?? 'tokens.csv' };
  }
  if (run === undefined && request !== undefined && results !== undefined)
    return { request, results, name: request, cycle: undefined };
  throw new SvcError('usage', run === undefined ? 'a file is missing' : 'files and --run exclude each other', {
    hint: 'Name a request file and its results, or a run with --run.',
  });
}

/** Limits the rows that need fixing in the written file. @throws SvcError `threshold` for too many */
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

/** Describes the counts in a sentence, with the codes of the excluded rows. */
function countsOf({ rows, groups, unchanged, excluded_before: before, excluded_by_code: byCode }: NextRequest): string {
  const codes = Object.entries(byCode).map(([code, count]) => `${shownCode(code)} ${formatNumber(count)}`);
  const counts = namedCounts(groups, unchanged).map(
    ({ group, name, count }) => `${name} ${formatNumber(count)}${group === 'exclude' ? ` (${codes.join(', ')})` : ''}`,
  );
  if (before > 0) counts.push(`excluded before ${formatNumber(before)}`);
  return [`${formatNumber(rows)} rows in the next request`, counts.join(', ')].filter((part) => part !== '').join(': ');
}

interface NextInput {
  /** The path as typed. */
  readonly request: string;
  readonly results: string;
  /** The output file, or - for standard output. */
  readonly out: string;
  readonly excluded: string | undefined;
  readonly exclusions: string | undefined;
  /** The file with kept columns of the export. */
  readonly keep: string | undefined;
  /** The operator's name for the cycle of the results. */
  readonly cycle: string | undefined;
  readonly actions: Actions;
  readonly force: boolean;
}

/**
 * Writes the next request and the excluded rows.
 * @throws SvcError `checksum_mismatch` for results of another request
 */
async function makeNextRequest(context: Context, input: NextInput) {
  const { force, actions } = input;
  await requireTargets(context, input);
  const exclusions =
    input.exclusions === undefined ? undefined : await Exclusions.open(resolvePath(context, input.exclusions));
  const kept = await openKept(context, input.keep);
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
    const keepFile = kept && (await begin(keepFileOf(input.out)));
    const rows = nextRequest(source.open(), answers, actions, exclusions);
    const made = { cycle: input.cycle, at: context.clock.now() };
    const exclude = (token: string, code: string): void => exclusions?.add({ token, code, ...made });
    const counts = await writeRows(rows, { out, excluded, keepFile, kept, exclude, actions, signal: context.signal });
    const list = await exclusions?.draft();
    if (list) files.unshift(list);
    await exclusions?.requireUnchanged();
    // If the disk is full, no file gets its final name.
    for (const file of files) await file.seal();
    for (const file of files) await file.finish(force || file === list);
    kept?.warnOfMissing(context);
    return {
      file: input.out,
      ...counts,
      excluded_file: input.excluded ?? null,
      keep_file: keepFile === undefined ? null : keepFileOf(input.out),
    };
  } finally {
    for (const file of files) await file.discard();
  }
}

/** Checks the output files before any input is read. @throws SvcError `usage` */
async function requireTargets(context: Context, { out, excluded, exclusions, keep, force }: NextInput): Promise<void> {
  const named = Object.entries({ out, excluded, keep: keep && keepFileOf(out), exclusions }).flatMap(([name, typed]) =>
    typed === undefined || typed === '-' ? [] : [{ name, path: resolvePath(context, typed) }],
  );
  for (const [index, { name, path }] of named.entries()) {
    const other = named.slice(index + 1).find((each) => isSamePath(path, each.path, context.system.platform));
    if (other)
      throw new SvcError('usage', `--${name} and --${other.name} name the same file`, {
        hint: 'Give each its own name.',
      });
    if (name !== 'exclusions') await requireFile(path, force);
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
  // A repeated token takes its result from any position, so that no row keeps an old token.
  const isInOrder = found.matchedBy === 'order' && check.duplicates.count === 0;
  const answers = await (isInOrder ? resultsInOrder(results.open()) : indexResults(results.open()));
  return { source, answers };
}

/** Refuses unproven results until the operator accepts them, because new billable rows would be created from them. */
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
  /** Receives the kept columns of the written rows. */
  readonly keepFile: Pick<Draft, 'write'> | undefined;
  readonly kept: KeptColumns | undefined;
  /** Adds a token to the list of exclusions. */
  readonly exclude: (token: string, code: string) => void;
  readonly actions: Actions;
  readonly signal: AbortSignal;
}

async function writeRows(
  batches: AsyncIterable<readonly NextRow[]>,
  { out, excluded, keepFile, kept, exclude, actions, signal }: Targets,
) {
  const groups = noRows();
  let unchanged = 0;
  let before = 0;
  const byCode: Record<string, number> = {};
  await out.write(`${REQUEST_HEADER}\n`);
  await excluded?.write(csvRow(['row', ...REQUEST_COLUMNS, 'result_code', 'reason', ...(kept?.names ?? [])]));
  await keepFile?.write(csvRow([...KEPT_COLUMNS, ...(kept?.names ?? [])]));
  let row = 0;
  let left = 0;
  for await (const batch of batches) {
    signal.throwIfAborted();
    const lines: string[] = [];
    const keptRows: string[][] = [];
    for (const { group, line, request, code = '', excludedOn } of batch) {
      row += 1;
      const cells = kept?.cellsOf(request.token) ?? [];
      if (group === 'excluded before') {
        before += 1;
        const reason = `excluded before: line ${excludedOn} of the list of exclusions`;
        await excluded?.write(csvRow([String(row), ...cellsOf(request), code, reason, ...cells]));
      } else if (group === 'exclude') {
        groups.exclude += 1;
        byCode[code] = (byCode[code] ?? 0) + 1;
        exclude(request.token, code);
        await excluded?.write(csvRow([String(row), ...cellsOf(request), code, reasonFor(code, actions), ...cells]));
      } else {
        if (group === 'unchanged') unchanged += 1;
        else groups[group] += 1;
        lines.push(line, '\n');
        left += 1;
        if (kept) keptRows.push([String(left), tokenOf(line), ...cells]);
      }
    }
    await out.write(lines.join(''));
    if (keptRows.length > 0) await keepFile?.write(csvRows(keptRows));
  }
  return { rows: left, groups, unchanged, excluded_before: before, excluded_by_code: byCode };
}

function tokenOf(line: string): string {
  return cellsOf({ line })[0] ?? '';
}

function reasonFor(code: string, actions: Actions): string {
  const { meaning } = explainResultCode(code);
  return actions.has(code) ? `${meaning} (excluded by your choice)` : meaning;
}
