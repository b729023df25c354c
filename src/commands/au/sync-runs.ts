import { createInterface } from 'node:readline';
import { needsFile, pollOnce, uploadParts } from '../../account-updater/advance.ts';
import { hasUnchecked, invalidateResults, RefusedResults } from '../../account-updater/collect.ts';
import type { RunOptions } from '../../account-updater/events.ts';
import { keepResults } from '../../account-updater/merge.ts';
import { hasUnknown, unknownError } from '../../account-updater/poll-parts.ts';
import { type RunRecord, statusOf } from '../../account-updater/record.ts';
import type { FoundRuns, RunDirectory } from '../../account-updater/run-directory.ts';
import { reopenFile } from '../../account-updater/spool.ts';
import type { Client } from '../../api/client.ts';
import type { Context } from '../../app/command.ts';
import { EXIT_CODES, isSvcError, SvcError } from '../../errors.ts';
import { startCommand } from '../../security/child-environment.ts';
import { deliverResults } from './deliver-results.ts';
import { actionsOf } from './options.ts';
import { showRun } from './progress.ts';
import { countedResults, runRow, warnOfUnrequested } from './run-summary.ts';
import { recordedRuns, serviceOf } from './runs.ts';

/** What a round over the open runs came to. */
export interface Synced {
  readonly records: readonly RunRecord[];
  /**
   * 0 when nothing is open any more, 1 when the command of --exec failed, 3 when a record cannot be read, 9 when it is
   * unknown whether the service has a file, 10 when a run failed, 12 when results were refused, 11 when a run is open.
   */
  readonly code: number;
}

/** Advances every open run of this profile once. One that another process holds, or that fails, stops no other. */
export async function syncRuns(context: Context, exec: string | undefined): Promise<Synced> {
  const { runs, unreadable } = dueRuns(context, exec);
  if (runs.length === 0) context.notices.note('no open runs of this profile');
  let isRefused = false;
  for (const run of runs) {
    try {
      await run.hold(context.system, () => advance(context, run, exec));
    } catch (error) {
      if (!isSvcError(error) || context.signal.aborted) throw error;
      isRefused ||= error instanceof RefusedResults;
      context.notices.warn(`${run.record.id}: ${error.message}. ${error.hint ?? ''}`.trimEnd());
    }
  }
  const records = runs.map(({ record }) => record);
  const code = codeFor(records, exec, unreadable.length > 0);
  return { records, code: isRefused && code === EXIT_CODES.pending ? EXIT_CODES.checksum_mismatch : code };
}

/** What a round would do with each run that is due: nothing is done, and nobody is asked. */
export function planSync(context: Context, exec: string | undefined): readonly RunRecord[] {
  const records = dueRuns(context, exec).runs.map(({ record }) => record);
  for (const record of records) {
    const step = needsFile(record)
      ? 'upload what is left of it'
      : 'look at its jobs, and bring what is ready';
    const other = hasUnchecked(record)
      ? 'check the results that an earlier version took'
      : 'run the command of --exec again';
    context.notices.note(`${record.id}: would ${isOpen(record) ? step : other}`);
  }
  context.notices.note('dry run: nothing was sent');
  return records;
}

function dueRuns(context: Context, exec: string | undefined): FoundRuns {
  const here = serviceOf(context);
  const profile = context.settings.profile.value;
  const { runs, unreadable } = recordedRuns(context);
  const isOurs = ({ record }: RunDirectory): boolean =>
    record.base_url === here && record.profile === profile && isDue(record, exec);
  return { runs: runs.filter(isOurs), unreadable };
}

function codeFor(records: readonly RunRecord[], exec: string | undefined, someUnreadable: boolean): number {
  if (records.some((record) => statusOf(record) === 'failed')) return EXIT_CODES.job_failed;
  if (records.some((record) => isOpen(record) && hasUnknown(record))) return EXIT_CODES.outcome_unknown;
  // Nobody can say that a run whose record cannot be read is not open.
  if (someUnreadable) return EXIT_CODES.config;
  if (records.some(isOpen)) return EXIT_CODES.pending;
  return records.some((record) => isDue(record, exec)) ? EXIT_CODES.local : 0;
}

function isOpen(record: RunRecord): boolean {
  if (record.abandoned_at !== undefined) return false;
  return statusOf(record) === 'open' || (statusOf(record) === 'completed' && record.results === undefined);
}

/** A run is also due while its results are unchecked, or the command to run for it has not gone well. */
function isDue(record: RunRecord, exec: string | undefined): boolean {
  if (record.abandoned_at !== undefined) return false;
  return isOpen(record) || hasUnchecked(record) || (exec !== undefined && record.exec === 'due');
}

async function advance(context: Context, run: RunDirectory, exec: string | undefined): Promise<void> {
  await invalidateResults(run);
  // Another round may have ended it meanwhile.
  if (isOpen(run.record)) await goOn(context, run, exec !== undefined);
  if (exec === undefined || run.record.exec !== 'due' || run.record.results === undefined) return;
  await runForRun(context, exec, run.record, await completedRun(context, run.record));
  delete run.record.exec;
  run.save();
}

async function goOn(context: Context, run: RunDirectory, tellsCommand: boolean): Promise<void> {
  const { record } = run;
  const client = await context.client();
  const onEvent = showRun(context, record);
  // Results of other parts can be had, and may not be there for ever, when the file of one part cannot.
  const stuck = needsFile(record) ? await failureOf(uploadRest(client, run, onEvent)) : undefined;
  await pollOnce(client, run, { onEvent });
  if (hasUnknown(record)) throw unknownError(run);
  if (stuck !== undefined) throw stuck;
  if (statusOf(record) !== 'completed') return;
  if (tellsCommand) record.exec = 'due';
  const { file } = await deliver(context, run);
  await warnOfUnrequested(context, record);
  context.notices.success(`${record.id} is complete: ${file}`);
}

async function uploadRest(client: Client, run: RunDirectory, onEvent: RunOptions['onEvent']): Promise<void> {
  const path = await reopenFile(run);
  await uploadParts(client, run, path, { onEvent, pollOnce: true });
}

/** What the operator has to fix before the run can go on; all other failures end this round. */
async function failureOf(work: Promise<void>): Promise<SvcError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (isSvcError(error, 'local', 'checksum_mismatch', 'conflict', 'outcome_unknown')) return error;
    throw error;
  }
}

/** Nobody is there to name another place: where the one asked for is taken or gone, the results stay with the run. */
async function deliver(context: Context, run: RunDirectory): Promise<{ readonly file: string }> {
  const { out } = run.record;
  if (out === undefined) return keepResults(run);
  try {
    return await deliverResults(context, run, { out, force: false });
  } catch (error) {
    if (!isSvcError(error, 'usage', 'local')) throw error;
    context.notices.warn(`${run.record.id}: ${error.message}; its results are kept in ${run.path}`);
    return keepResults(run);
  }
}

/** The run as `svc au status` shows it, with the counts of its results where they are a table. */
async function completedRun(context: Context, record: RunRecord): Promise<object> {
  const counts = countedResults(record, actionsOf(context, [])).catch((error: unknown) => {
    // Bytes that the operator vouched for need not be a table.
    if (isSvcError(error, 'checksum_mismatch')) return { file: record.results?.file };
    throw error;
  });
  return { ...runRow(record), results: await counts };
}

/**
 * Runs the operator's own command for a completed run, given on standard input. What the
 * command writes goes to stderr, since stdout is for the data of this one.
 * @throws SvcError `local` when it did not go well
 */
async function runForRun(
  { system, signal, notices }: Context,
  command: string,
  record: RunRecord,
  completed: object,
): Promise<void> {
  const added = { SVC_RUN_ID: record.id, SVC_RESULTS: record.results?.file ?? '' };
  const child = startCommand(command, { env: system.env, cwd: system.cwd, added, signal });
  // A command need not read its input.
  child.stdin.on('error', () => undefined).end(`${JSON.stringify(completed)}\n`);
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => notices.note(line));
  const ending = await new Promise<string | undefined>((resolve) => {
    child.on('error', () => resolve('could not be started'));
    child.on('close', (code, by) =>
      resolve(code === 0 ? undefined : `ended with ${code ?? by ?? 'a signal'}`),
    );
  });
  signal.throwIfAborted();
  if (ending === undefined) return;
  throw new SvcError('local', `the command of --exec ${ending}`, {
    hint: "The results are written. Fix the command: the next 'svc au sync' runs it again for this run.",
  });
}
