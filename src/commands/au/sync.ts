import { keepResults } from '../../account-updater/merge.ts';
import { requireKnownOutcome } from '../../account-updater/poll-parts.ts';
import { hasUnknown, isUntouched, needsFile, type RunRecord, statusOf } from '../../account-updater/record.ts';
import { hasUnchecked, invalidateResults, pollRun, RefusedResults } from '../../account-updater/results.ts';
import type { FoundRuns, RunDirectory } from '../../account-updater/run-directory.ts';
import { laterRun } from '../../account-updater/run-index.ts';
import { uploadParts } from '../../account-updater/upload-parts.ts';
import { type Context, defineCommand } from '../../app/command.ts';
import { noteNext, warnOf } from '../../app/hint.ts';
import { flag } from '../../app/parameter.ts';
import { listPrinter, once } from '../../app/print.ts';
import { openSummary, type Summarize, summaryParameter } from '../../app/summary.ts';
import { EXIT_CODES, isSvcError, SvcError } from '../../errors.ts';
import { countText } from '../../output/time.ts';
import { hashFile } from '../../transfer/source.ts';
import { failOnParameter, type Threshold } from './fail-on.ts';
import { showRun } from './progress.ts';
import { checkThreshold, countedResults, deliverResults, firstWarning, noteUncompared } from './results.ts';
import { actionsOf, everyRecord, knownRunsRoot, recordedRuns, runRow, runView, serviceOf } from './runs.ts';
import { describeRun, execParameter, runExec } from './wait.ts';

export const sync = defineCommand({
  description:
    'Polls all open runs of this profile, uploads what is left, downloads and writes the results of those that are done. Exits with 0 when none is left open, with 9 when it is unknown whether the service has a file, with 12 when downloaded results could not be verified, else with 11. Where the result file exists already or its directory is gone, the results are kept with the run. Several may run at the same time.',
  examples: [
    ['svc au sync', 'from cron, say every half hour'],
    ["svc au sync --exec 'mail-results'", 'run a command for each completed run, given as JSON on standard input'],
  ],
  permissions: ['account-updater:job:create', 'account-updater:job:read'],
  exitCodes: [1, 3, 9, 10, 11, 12],
  changes: true,
  worksElsewhere: true,
  fields: runView.fields,
  parameters: {
    dryRun: flag('--dry-run', 'show what would be done with each run, and do nothing'),
    exec: execParameter,
    failOn: failOnParameter,
    summary: summaryParameter,
  },
  async run(context, { exec, failOn, dryRun, summary }) {
    const print = await listPrinter(context, runView);
    const summarize = await openSummary(context, summary);
    const { runs, unreadable, left, elsewhere } = dueRuns(context, exec);
    for (const { run, later } of left) noteLeft(context, run, later);
    if (dryRun) showPlan(context, runs);
    else if (runs.length === 0) noteNoneOpen(context, elsewhere);
    const { isRefused, isOver } = dryRun ? NOTHING : await advanceAll(context, runs, summarize, { exec, failOn });
    await print(once([...runs, ...left.map(({ run }) => run)].map(({ record }) => runRow(record))));
    if (dryRun) return undefined;
    const code = codeFor(runs, exec, unreadable.length > 0);
    if (isRefused && code === EXIT_CODES.pending) return EXIT_CODES.checksum_mismatch;
    return isOver && (code === 0 || code === EXIT_CODES.pending) ? EXIT_CODES.threshold : code;
  },
});

interface DueRuns extends FoundRuns {
  /** Runs that sent nothing, each with the later run of its file: uploading one could bill the same rows twice. */
  readonly left: readonly { readonly run: RunDirectory; readonly later: string }[];
  /** Runs that are due with another profile or at another address. */
  readonly elsewhere: readonly RunDirectory[];
}

function dueRuns(context: Context, exec: string | undefined): DueRuns {
  const here = serviceOf(context);
  const profile = context.settings.profile.value;
  const root = knownRunsRoot(context);
  const { runs, unreadable } = recordedRuns(context);
  const due = runs.filter(({ record }) => isDue(record, exec));
  const isHere = ({ record }: RunDirectory): boolean => record.base_url === here && record.profile === profile;
  const left = due.filter(isHere).flatMap((run) => {
    const later = root !== undefined && isUntouched(run.record) ? laterRun(root, run) : undefined;
    return later ? [{ run, later: later.id }] : [];
  });
  return {
    runs: due.filter((run) => isHere(run) && left.every((each) => each.run !== run)),
    unreadable,
    left,
    elsewhere: due.filter((run) => !isHere(run)),
  };
}

function noteLeft(context: Context, { record, name }: RunDirectory, later: string): void {
  const what = `${record.id} was not sent, and is not sent now: ${later} of the same file was begun after it`;
  noteNext(context, `${what}. If it is no longer needed`, ['au', 'abandon', name]);
}

function noteNoneOpen(context: Context, elsewhere: readonly RunDirectory[]): void {
  const profile = context.settings.profile.value;
  const others = new Map<string, number>();
  for (const { record } of elsewhere) {
    const place = record.profile === profile ? `${profile} at ${record.base_url}` : record.profile;
    others.set(place, (others.get(place) ?? 0) + 1);
  }
  const counted = [...others].map(([place, count]) => `${countText(count, 'open run')} of profile ${place}`);
  context.notices.note(['no open runs of this profile', ...counted].join('; '));
}

function isOpen(record: RunRecord): boolean {
  if (record.abandoned_at !== undefined) return false;
  return statusOf(record) === 'open' || (statusOf(record) === 'completed' && record.results === undefined);
}

/** A run is also due while its results are unchecked, or the command to run for it has not succeeded. */
function isDue(record: RunRecord, exec: string | undefined): boolean {
  if (record.abandoned_at !== undefined) return false;
  return isOpen(record) || hasUnchecked(record) || (exec !== undefined && record.exec === 'due');
}

function showPlan({ notices }: Context, runs: readonly RunDirectory[]): void {
  for (const { record } of runs) {
    const step = needsFile(record) ? 'upload the rest of it' : 'poll its jobs and download the results that are ready';
    const other = hasUnchecked(record)
      ? 'check the results that an earlier version accepted'
      : 'run the command of --exec again';
    notices.note(`${record.id}: would ${isOpen(record) ? step : other}`);
  }
  notices.note('dry run: nothing was sent');
}

function codeFor(runs: readonly RunDirectory[], exec: string | undefined, someUnreadable: boolean): number {
  const records = runs.map(({ record }) => record);
  if (records.some((record) => statusOf(record) === 'failed')) return EXIT_CODES.job_failed;
  if (records.some((record) => isOpen(record) && hasUnknown(record))) return EXIT_CODES.outcome_unknown;
  // A run whose record cannot be read may be open.
  if (someUnreadable) return EXIT_CODES.config;
  if (records.some(isOpen)) return EXIT_CODES.pending;
  return records.some((record) => isDue(record, exec)) ? EXIT_CODES.local : 0;
}

interface AdvanceOptions {
  readonly exec: string | undefined;
  readonly failOn: Threshold | undefined;
}

/** Whether results of a run were refused, and whether those of one are over the threshold of `--fail-on`. */
const NOTHING = { isRefused: false, isOver: false };

/** Advances every run once; one that is held or fails stops no other. */
async function advanceAll(
  context: Context,
  runs: readonly RunDirectory[],
  summarize: Summarize,
  options: AdvanceOptions,
): Promise<typeof NOTHING> {
  let { isRefused, isOver } = NOTHING;
  for (const run of runs) {
    try {
      const work = (): Promise<void> => run.hold(context.system, () => advance(context, run, options));
      await summarize(work, () => describeRun(context, run));
    } catch (error) {
      if (!isSvcError(error) || context.signal.aborted) throw error;
      isRefused ||= error instanceof RefusedResults;
      isOver ||= isSvcError(error, 'threshold');
      warnOf(context, run.record.id, error);
    }
  }
  return { isRefused, isOver };
}

async function advance(context: Context, run: RunDirectory, { exec, failOn }: AdvanceOptions): Promise<void> {
  await invalidateResults(run);
  const { record } = run;
  const wasOpen = isOpen(record);
  // Another round may have ended it meanwhile.
  if (wasOpen) await resume(context, run, exec !== undefined);
  const failure = exec === undefined ? undefined : await runExec(context, run, exec);
  if (failure) throw failure;
  if (!wasOpen || record.results === undefined || failOn === undefined) return;
  checkThreshold(await countedResults(record, actionsOf(context, [])), record.input.rows, failOn);
}

async function resume(context: Context, run: RunDirectory, hasExec: boolean): Promise<void> {
  const { record } = run;
  const client = await context.client();
  const onEvent = showRun(context, record);
  let stuck: SvcError | undefined;
  if (needsFile(record)) {
    try {
      const how = { onEvent, pollOnce: true, others: everyRecord(context) };
      await uploadParts(client, run, await reopenedFile(run), how);
    } catch (error) {
      // What the operator has to fix. Results of other parts can be had, and may not be there for ever.
      if (!isSvcError(error, 'local', 'checksum_mismatch', 'conflict', 'outcome_unknown')) throw error;
      stuck = error;
    }
  }
  await pollRun(client, run, { onEvent });
  requireKnownOutcome(run);
  if (stuck !== undefined) throw stuck;
  if (statusOf(record) !== 'completed') return;
  if (hasExec) record.exec = 'due';
  const { file } = await deliver(context, run);
  noteUncompared(context, record);
  const warning = await firstWarning(context, record);
  if (warning !== undefined) context.notices.warn(warning);
  context.notices.success(`${record.id} is completed: ${file}`);
}

/** The input of a run, unchanged. @throws SvcError `checksum_mismatch` when it is not, `conflict` when it was a pipe */
async function reopenedFile({ record, name, submitWords }: RunDirectory): Promise<string> {
  const { id, input } = record;
  if (input.path === undefined) {
    throw new SvcError('conflict', `run ${id} has parts to upload, and its input came through a pipe`, {
      hint: 'Pipe the same file into the first of these commands to resume it, or abandon the run.',
      next: submitWords,
      alternatives: [['au', 'abandon', name]],
    });
  }
  const hint = 'Restore the file, or submit it under its new name, or abandon the run:';
  const next = ['au', 'abandon', name];
  const sha256 = await hashFile(input.path).catch((error: unknown) => {
    if (!isSvcError(error)) throw error;
    throw new SvcError(error.code, error.message, { hint, next, facts: error.facts, cause: error });
  });
  if (sha256 === input.sha256) return input.path;
  throw new SvcError('checksum_mismatch', `${input.path} has changed since run ${id} was started`, {
    hint,
    next,
    facts: { run: id },
  });
}

/** Where the output file exists or its directory is gone, the results stay with the run: there is nobody to ask. */
async function deliver(context: Context, run: RunDirectory): Promise<{ readonly file: string }> {
  const { out } = run.record;
  if (out === undefined) return keepResults(run);
  try {
    return await deliverResults(context, run, { out, force: false });
  } catch (error) {
    if (!isSvcError(error, 'usage', 'local')) throw error;
    context.notices.warn(`${run.record.id}: ${error.message}; its results are kept in ${run.path}`);
    noteNext(context, 'to write them to another file', ['au', 'download', run.name, '--out', '<file>']);
    return keepResults(run);
  }
}
