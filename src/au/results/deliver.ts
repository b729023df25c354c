import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { inspectTarget } from '../../base/files/path.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext, option } from '../../cli/app/hint.ts';
import { isDrawn } from '../../cli/app/print.ts';
import { wrapWords } from '../../cli/output/text.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import { copyInto, fileSource } from '../../client/transfer/source.ts';
import type { RunOptions, WakeUp } from '../run/job.ts';
import { areCompared, needsFile, type ResultsFile, type RunRecord, statusOf } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { actionsOf, jobsOf, resumable, shownStatus, toneOf, warningOf } from '../run/run-view.ts';
import { showRun } from '../run/show-progress.ts';
import { unfinishedError, waitForRun } from '../run/wait.ts';
import { countResults, invalidateResults } from './download.ts';
import type { Threshold } from './fail-on.ts';
import { checkDestination, type Destination, keepResults, writeResults } from './merge.ts';
import { actionFor, type Actions, type CodeCount, type ResultSummary } from './result-codes.ts';
import { createSpool } from './spool.ts';

interface FinishOptions extends Pick<RunOptions, 'requestFile'> {
  readonly wakeUp?: WakeUp | undefined;
  readonly exec?: string | undefined;
}

/** Waits for a run whose parts are all uploaded, downloads its results and writes them into one file. */
export async function finishRun(
  context: Context,
  run: RunDirectory,
  destination: Destination,
  { wakeUp, exec, requestFile }: FinishOptions = {},
): Promise<void> {
  const { record } = run;
  await requireDestination(context, destination, run);
  if (needsFile(record)) throw unfinishedError(run);
  await invalidateResults(run, { requestFile });
  if (statusOf(record) !== 'completed') {
    const client = await context.client();
    const waiting = waitForRun(client, run, { onEvent: showRun(context, record), wakeUp, requestFile });
    const again = ['au', 'wait', run.name, ...option('--exec', exec)];
    await resumable(again, record.id, waiting).catch((error: unknown) => {
      if (!isSvcError(error, 'pending')) throw error;
      throw new SvcError(error.code, error.message, { hint: error.hint, next: again, facts: error.facts });
    });
  }
  if (exec !== undefined && record.results === undefined) record.exec = 'due';
  else if (exec !== undefined && record.exec === undefined)
    context.notices.note('--exec has nothing to do: the results were written before');
  await deliverResults(context, run, destination);
  noteUncompared(context, record);
}

/** Checks where the results are to go, before any request. `run` may have written the file that is there. */
export async function requireDestination(context: Context, to: Destination, run?: RunDirectory): Promise<void> {
  if (to.out !== '-') return checkDestination(run?.record, to);
  const { globals, query } = context;
  if ((globals.output ?? 'csv') === 'csv' && !query && globals.fields === undefined) return;
  throw new SvcError('usage', 'with --out - the output is the result file', {
    hint: 'Omit --output, --fields and --jq.',
  });
}

/** Writes the results of a run where they are to go: a file, a pipe, a device, or standard output. */
export async function deliverResults(context: Context, run: RunDirectory, to: Destination): Promise<ResultsFile> {
  const isFile = to.out !== '-';
  const results = isFile ? await writeResults(run, to) : await keepResults(run);
  await copyOut(context, results.file, to.out);
  return results;
}

/** A private file for what goes to standard output, a pipe or a device: nothing is passed on before it is proven or checked. */
export async function openSpool(context: Context): Promise<string> {
  const spooled = await createSpool(context.system);
  context.onClose(() => spooled.remove());
  return spooled.path;
}

/** Copies a finished file to a pipe, a device or standard output; a target that is a file is left as it is. */
export async function copyOut(context: Context, file: string, out: string): Promise<void> {
  if (out === '-') {
    for await (const piece of (await fileSource(file)).open()) await context.out.writeBytes(piece);
    return;
  }
  const target = await inspectTarget(out, true);
  if (target.kind !== 'file') await copyInto(target, file, context);
}

/** Says why results were not compared with the tokens of their request, where that was not possible. */
export function noteUncompared(context: Context, record: RunRecord): void {
  const { input, parts, results } = record;
  if (results === undefined || areCompared(record)) return;
  const isAccepted = parts.some((part) => part.results?.proof === 'operator');
  const isGone = input.path === undefined ? 'it came through a pipe' : `${input.path} is gone or has changed`;
  const why = isAccepted ? 'they were accepted unproven' : isGone;
  context.notices.note(`the results of ${record.id} were not compared with the tokens of the request: ${why}`);
  if (isAccepted) return;
  noteNext(context, 'to compare them with a copy of it', ['au', 'report', results.file, '--request', '<file>']);
}

/** A request file that was submitted, and its results where they were waited for. */
export type Submission = Omit<ReturnType<typeof submissionOf>, 'status'> & {
  readonly status: string;
  /** Jobs of this key that no record named when the upload began. */
  readonly unrecorded_jobs?: readonly string[];
  readonly results?: Results | Pick<Results, 'file'>;
};

/** The results of a run in numbers. */
export interface Results
  extends Readonly<ResultsFile>, Omit<ResultSummary, 'rows' | 'groups' | 'codes' | 'extraColumns'> {
  /** Rows that came back without any result, because nothing about them changed. */
  readonly unchanged: number;
  /** Whether the token of each row was found in the request, no less often. */
  readonly compared: boolean;
  readonly codes: readonly Pick<CodeCount, 'code' | 'class' | 'count' | 'action'>[];
}

export const submissionView: View<Submission> = {
  name: 'submission',
  fields: fieldPaths(`
    run status file rows job jobs unrecorded_jobs results.file results.bytes results.sha256 results.compared
    results.updated results.warned
    results.errors results.unknown results.unchanged results.codes
  `),
  columns: [
    { path: 'run', kind: 'id' },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'rows', kind: 'number' },
    { path: 'file', kind: 'text', priority: 2 },
    { path: 'job', kind: 'id', priority: 1, repeats: ({ job }) => job === null },
    { path: 'jobs', kind: 'text', priority: 1, repeats: ({ job }) => job !== null },
  ],
};

/** A run as it is shown, without the numbers of its results; with its job, where it has just one. */
export function submissionOf(record: RunRecord) {
  const { id, input, parts, unrecorded_jobs: unrecorded } = record;
  const jobs = jobsOf(record);
  return {
    run: id,
    status: shownStatus(record),
    file: input.name,
    rows: input.rows,
    job: parts.length === 1 ? (jobs[0] ?? null) : null,
    jobs,
    ...(unrecorded && { unrecorded_jobs: unrecorded }),
  };
}

/** Shows a run whose results are written: for programs as data, for people as a chart. Then checks `--fail-on`. */
export async function showResults(
  context: Context,
  print: (submission: Submission) => Promise<void>,
  record: RunRecord,
  failOn?: Threshold,
): Promise<void> {
  const results = await countedResults(record, actionsOf(context, []));
  const warning = warningOf(context, record, results.codes);
  if (warning !== undefined) context.notices.warn(warning);
  const done = { ...submissionOf(record), results };
  if (isDrawn(context)) {
    await print({ ...done, results: { file: results.file } });
    await drawResults(context, done.rows, results);
  } else await print(done);
  checkThreshold(results, record.input.rows, failOn);
}

/** The results of a run in numbers; `actions` are the operator's own for result codes. */
export async function countedResults(record: RunRecord, actions: Actions): Promise<Results> {
  const { results, input } = record;
  if (!results) throw new SvcError('bug', 'results were to be shown before they were written');
  const { updated, warned, errors, unknown, unchanged, codes } = await countResults(results.file, input.rows);
  const here = path.relative('', results.file);
  return {
    ...results,
    // As it would be typed here, where that is shorter.
    file: here.startsWith('..') ? results.file : here,
    compared: areCompared(record),
    updated,
    warned,
    errors,
    unknown,
    unchanged,
    codes: codes.map(({ code, class: group, count }) => ({
      code,
      class: group,
      count,
      action: actionFor(code, actions),
    })),
  };
}

/** What to look at first in results that are written; undefined where they cannot be counted. */
export async function firstWarning(context: Context, record: RunRecord): Promise<string | undefined> {
  try {
    const { codes } = await countedResults(record, actionsOf(context, []));
    return warningOf(context, record, codes);
  } catch (error) {
    // Bytes that the operator vouched for need not be a table.
    if (isSvcError(error, 'checksum_mismatch')) return undefined;
    throw error;
  }
}

/** @throws SvcError `threshold` when a larger share of the rows than `--fail-on` allows ended in its class */
export function checkThreshold({ file, errors, warned, unknown }: Results, rows: number, failOn?: Threshold): void {
  if (failOn === undefined) return;
  const met = failOn.class === 'wrn' ? errors + warned + unknown : errors;
  if (met <= rows * failOn.share) return;
  throw new SvcError('threshold', `${countText(met, 'row')} met --fail-on ${failOn.words}`, {
    hint: `The results are in ${file}; the list above has the action for each result code.`,
    next: ['au', 'report', file],
    facts: { errors, warned, unknown, results: file },
  });
}

/** The results as a chart: one bar a result code, and its action. */
async function drawResults(
  { palette, unicode, plain, out }: Context,
  rows: number,
  { updated, warned, errors, unknown, unchanged, codes }: Results,
): Promise<void> {
  const { codeLines } = await import('./report-view.ts');
  const columns = out.isTerminal ? out.width : Infinity;
  const unknownWords = unknown > 0 ? `, ${formatNumber(unknown)} with unknown codes` : '';
  const total = `${countText(rows, 'row')}: ${formatNumber(updated)} updated, ${countText(warned, 'warning')}, ${countText(errors, 'error')}, ${formatNumber(unchanged)} unchanged${unknownWords}`;
  const title = wrapWords(total, columns).map((line) => palette.strong(line));
  const lines = codeLines(codes, { palette, unicode, plain, columns });
  await out.write(['', ...title, '', ...lines, ''].join('\n'));
}
