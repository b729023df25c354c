import { isSvcError, SvcError } from '../../base/errors.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext, option } from '../../cli/app/hint.ts';
import type { WakeUp } from '../../client/api/poll.ts';
import { copyInto, fileSource } from '../../client/transfer/source.ts';
import type { ResultsFile } from '../run/part.ts';
import { areCompared, needsFile, type RunRecord, statusOf } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { unfinishedError } from '../run/run-errors.ts';
import { warningOf } from '../run/run-view.ts';
import { showRun } from '../run/show-progress.ts';
import { resumable } from '../run/verdict.ts';
import { waitForRun } from '../run/wait.ts';
import { actionsOf } from './action-option.ts';
import { invalidateResults } from './download.ts';
import { checkDestination, type Destination, keepResults, writeResults } from './merge.ts';
import { createSpool } from './spool.ts';
import { countedResults } from './submission.ts';
import { applyToRun } from '../run/run.ts';

interface FinishOptions {
  readonly wakeUp?: WakeUp | undefined;
  readonly exec?: string | undefined;
}

/** Waits for a fully uploaded run, downloads its results and writes them into one file. */
export async function finishRun(
  context: Context,
  run: RunDirectory,
  destination: Destination,
  { wakeUp, exec }: FinishOptions = {},
): Promise<void> {
  const { record } = run;
  await requireDestination(context, destination, run);
  if (needsFile(record)) throw unfinishedError(run);
  await invalidateResults(run);
  if (statusOf(record) !== 'completed') {
    const client = await context.client();
    const again = ['au', 'wait', run.name, ...option('--exec', exec)];
    await resumable(again, record.id, waitForRun(client, run, { onEvent: showRun(context, record), wakeUp, again }));
  }
  if (exec !== undefined && record.results === undefined) applyToRun(record, { kind: 'exec due' });
  else if (exec !== undefined && record.exec === undefined)
    context.notices.note('--exec has nothing to do: the results were written before');
  await deliverResults(context, run, destination);
  noteUncompared(context, record);
}

/** Checks the destination of the results before any request. `run` may have written the file that exists there. */
export async function requireDestination(context: Context, to: Destination, run?: RunDirectory): Promise<void> {
  if (to.out !== '-') return checkDestination(run?.record, to);
  const { globals, query } = context;
  if ((globals.output ?? 'csv') === 'csv' && !query && globals.fields === undefined) return;
  throw new SvcError('usage', 'with --out - the output is the result file', {
    hint: 'Omit --output, --fields and --jq.',
  });
}

/** Writes the results of a run to their destination: a file, a pipe, a device, or standard output. */
export async function deliverResults(context: Context, run: RunDirectory, to: Destination): Promise<ResultsFile> {
  const isFile = to.out !== '-';
  const results = isFile ? await writeResults(run, to) : await keepResults(run);
  await copyOut(context, results.file, to.out);
  return results;
}

/**
 * Creates the name of a private file for output to a pipe, a device or standard output, which must receive only checked
 * data.
 */
export async function openSpool(context: Context): Promise<string> {
  const spooled = await createSpool(context.system);
  context.onClose(() => spooled.remove());
  return spooled.path;
}

/** Copies a finished file to a pipe, a device or standard output. Does nothing if the target is a file. */
export async function copyOut(context: Context, file: string, out: string): Promise<void> {
  if (out === '-') {
    for await (const piece of (await fileSource(file)).open()) await context.out.writeBytes(piece);
    return;
  }
  const target = await inspectTarget(out, true);
  if (target.kind !== 'file') await copyInto(target, file, context);
}

/** Notes that the results could not be compared with the tokens of their request, and why. */
export function noteUncompared(context: Context, record: RunRecord): void {
  const { parts, results } = record;
  if (results === undefined || areCompared(record)) return;
  const isAccepted = parts.some((part) => part.results?.proof === 'operator');
  const why = isAccepted ? 'they were accepted unproven' : whyNotCompared(record);
  context.notices.note(`the results of ${record.id} were not compared with the tokens of the request: ${why}`);
  if (isAccepted) return;
  noteNext(context, 'to compare them with a copy of it', ['au', 'report', results.file, '--request', '<file>']);
}

/** Explains why results could not be compared with the request. Runs of early versions have no copy of it. */
export function whyNotCompared({ input: { path: file } }: RunRecord): string {
  return file === undefined ? 'the run has no copy of its request file' : `${file} is gone or has changed`;
}

/**
 * Returns the most important warning about written results; undefined if there is none or the results cannot be
 * counted.
 */
export async function firstWarning(context: Context, record: RunRecord): Promise<string | undefined> {
  try {
    const { codes } = await countedResults(record, actionsOf(context, []));
    return warningOf(context, record, codes);
  } catch (error) {
    // Results that the operator accepted as unproven may not be a valid CSV table.
    if (isSvcError(error, 'checksum_mismatch')) return undefined;
    throw error;
  }
}
