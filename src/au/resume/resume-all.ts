import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext, warnOf } from '../../cli/app/hint.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import type { Summarize } from '../../cli/app/summary.ts';
import { countText } from '../../cli/output/time.ts';
import type { View } from '../../cli/output/view.ts';
import type { Threshold } from '../results/fail-on.ts';
import { advanceRun } from '../wait/advance-run.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { UNKNOWN } from '../ledger/cycle-view.ts';
import { describeRun } from '../wait/describe-run.ts';
import { openRunSummary } from '../run/own-requests.ts';
import { laterRun } from '../run/find-run.ts';
import { isForgotten } from '../run/part.ts';
import { isOpen, isUntouched, needsFile, type RunRecord } from '../run/record.ts';
import { isOfProfile, recordedRuns } from '../run/recorded-runs.ts';
import type { FoundRuns, RunDirectory } from '../run/run-directory.ts';
import { runRow, runView } from '../run/run-view.ts';
import { exitCodeOf, holdRun, type Outcome, outcomeOf } from '../run/verdict.ts';
import { optionWords } from '../wait/wait-options.ts';
import { cyclesOfOthers } from './cycles-of-others.ts';
import type { ResumeInput } from './resume-parameters.ts';

/** Returns a recorded run with its outcome in this command. */
function resumedRun(record: RunRecord, outcome: Outcome | undefined) {
  return { ...runRow(record), outcome: outcome ?? null };
}

export const resumedRunView: View<ReturnType<typeof resumedRun>> = {
  name: runView.name,
  fields: [...runView.fields, 'outcome'],
  columns: [...runView.columns, { path: 'outcome', kind: 'text', priority: 2 }],
};

/**
 * Goes on with every run of this profile that is open: uploads what is left, polls each job once, with `--wait` until it is
 * completed, and writes the results. Resolves to the exit code of the worst that happened.
 */
export async function resumeAll(context: Context, input: ResumeInput): Promise<number | undefined> {
  const { failOn, dryRun, wait } = input;
  const print = await listPrinter(context, resumedRunView);
  const summarize = await openRunSummary(context, input.summary);
  const { runs, unreadable, left, elsewhere } = await dueRuns(context);
  for (const { run, later } of left) noteLeft(context, run, later);
  if (dryRun) showPlan(context, runs);
  else if (runs.length === 0 && unreadable.length === 0) noteNoneOpen(context, elsewhere);
  if (!dryRun) await new CommandLedger(context).enterRuns();
  const again = ['au', 'resume', ...optionWords(input)];
  const round = { failOn, summarize, wait, again };
  const outcomes = dryRun ? new Map<string, Outcome>() : await resumeRuns(context, runs, round);
  const shown = [...runs, ...left.map(({ run }) => run)];
  await print(oneBatch(shown.map(({ record }) => resumedRun(record, outcomes.get(record.id)))));
  // A run whose record is unreadable may still be open.
  const ofUnreadable = unreadable.map(() => 'unreadable' as const);
  if (dryRun) return exitCodeOf(ofUnreadable);
  return exitCodeOf([
    ...outcomes.values(),
    ...ofUnreadable,
    ...(context.signal.aborted ? [] : await outcomesOfOthers(context)),
  ]);
}

/**
 * Names the cycles with jobs without a run on this machine whose results nobody received. Returns an outcome for each, or one for
 * the failure to read them, which must not hide what became of this machine's runs.
 */
async function outcomesOfOthers(context: Context): Promise<Outcome[]> {
  try {
    const cycles = await cyclesOfOthers(context, 'anywhere');
    for (const { cycle } of cycles)
      noteNext(context, `cycle ${cycle} has jobs without a run here whose results nobody received; to get them`, [
        'au',
        'resume',
        cycle,
        '--wait',
      ]);
    return cycles.map(({ status }) => OUTCOMES_OF_OTHERS.get(status) ?? 'pending');
  } catch (error) {
    if (!isSvcError(error) || !mayGoOn(context)) throw error;
    warnOf(context, 'the other jobs of the ledger', error);
    return [outcomeOf(error)];
  }
}

/** What the worst status of a cycle's jobs means for the exit code, if not that they are pending. */
const OUTCOMES_OF_OTHERS: ReadonlyMap<string, Outcome> = new Map([
  ['failed', 'job_failed'],
  [UNKNOWN, 'outcome_unknown'],
]);

interface DueRuns extends FoundRuns {
  /** Runs that sent nothing, each with a later run of the same file. Uploading one could bill the same rows twice. */
  readonly left: readonly { readonly run: RunDirectory; readonly later: string }[];
  /** Runs that are due, but with another profile or address. */
  readonly elsewhere: readonly RunDirectory[];
}

/** Returns the runs of this profile that are due, and those that are not gone on with. */
export async function dueRuns(context: Context): Promise<DueRuns> {
  const { runs, unreadable } = await recordedRuns(context);
  const due = runs.filter(({ record }) => isDue(record));
  const isHere = ({ record }: RunDirectory): boolean => isOfProfile(context, record);
  const left: { readonly run: RunDirectory; readonly later: string }[] = [];
  for (const run of due.filter(isHere)) {
    const later = isUntouched(run.record) ? await laterRun(context, run) : undefined;
    if (later) left.push({ run, later: later.id });
  }
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

function isDue(record: RunRecord): boolean {
  return record.abandoned_at === undefined && isOpen(record);
}

function showPlan({ notices }: Context, runs: readonly RunDirectory[]): void {
  for (const { record } of runs) {
    const step = needsFile(record) ? 'upload the rest of it' : 'poll its jobs and download the results that are ready';
    notices.note(`${record.id}: would ${step}`);
  }
  notices.note('dry run: nothing was sent');
}

/** The options for every run. */
export interface Round {
  readonly failOn: Threshold | undefined;
  readonly summarize: Summarize;
  readonly wait: boolean;
  /** Whether it is a failure that the service no longer has the results of a job. Default: `wait`. */
  readonly wantsResults?: boolean | undefined;
  /** The command that continues an interrupted wait. */
  readonly again: readonly string[];
}

/** Outcomes of one poll of a run that a wait for its jobs can change. */
const MAY_CHANGE: ReadonlySet<Outcome> = new Set([
  'outcome_unknown',
  'job_failed',
  'checksum_mismatch',
  'truncated',
  'network',
  'server',
  'rate_limited',
  'bad_response',
]);

/** Tells whether to wait for a run after one poll: a job is under way, or may be, because one missing read proves nothing. */
function isWorthWaiting({ parts }: RunRecord, outcome: Outcome | undefined): boolean {
  if (outcome === undefined || outcome === 'pending') return outcome === 'pending';
  return MAY_CHANGE.has(outcome) && parts.some((part) => part.state === 'uploaded' && !isForgotten(part));
}

/**
 * Advances every run once, so that each upload begins before the first wait. With `wait`, then waits for one after the
 * other. Continues with the others if another process uses a run or a run fails.
 */
export async function resumeRuns(
  context: Context,
  runs: readonly RunDirectory[],
  round: Round,
): Promise<Map<string, Outcome>> {
  const once = { ...round, wait: false, wantsResults: round.wait };
  const { outcomes, polled } = await advanceAll(context, runs, once);
  const waiting = round.wait ? polled.filter(({ record }) => isWorthWaiting(record, outcomes.get(record.id))) : [];
  for (const run of waiting) {
    // A run that was polled stays pending when the time limit is reached.
    if (context.signal.aborted) break;
    outcomes.set(run.record.id, await runOnce(context, run, round));
  }
  return outcomes;
}

/** Advances every run once. Those that the time limit left out are not among `polled`. */
async function advanceAll(context: Context, runs: readonly RunDirectory[], round: Round) {
  const outcomes = new Map<string, Outcome>();
  const polled: RunDirectory[] = [];
  for (const run of runs) {
    const { id } = run.record;
    if (context.signal.aborted) {
      context.notices.warn(`${id}: not polled, since the time limit was reached`);
      outcomes.set(id, 'timeout');
      continue;
    }
    outcomes.set(id, await runOnce(context, run, round));
    polled.push(run);
  }
  return { outcomes, polled };
}

async function runOnce(context: Context, run: RunDirectory, round: Round): Promise<Outcome> {
  const { summarize, failOn, wait, wantsResults, again } = round;
  const how = { failOn, wait, wantsResults, again };
  try {
    const work = (): Promise<void> => holdRun(context, run, () => advanceRun(context, run, how));
    await summarize(work, (error) => describeRun(context, run, error));
  } catch (error) {
    if (!isSvcError(error) || !mayGoOn(context)) throw error;
    // A pending run needs no warning, because the table shows it, unless two jobs have its rows.
    if (error.code !== 'pending' || error.facts?.['jobs'] !== undefined) warnOf(context, run.record.id, error);
    return outcomeOf(error);
  }
  return 'done';
}

/**
 * Tells whether to continue after an error. After the time limit, known facts are still shown. An interrupt ends the
 * command at once.
 */
function mayGoOn({ signal }: Context): boolean {
  return !signal.aborted || isSvcError(signal.reason, 'timeout');
}
