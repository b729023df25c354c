// 'svc au resume' without an argument: continues every cycle with open jobs.

import { resumable } from '../job/resumable.ts';
import { type Outcome, exitCodeOf, outcomeOf } from '../job/verdict.ts';
import { outlast } from '../job/wait.ts';
import {
  type AdvancedCycle,
  advanceCycle,
  requireResultsFile,
  resultsOfCycle,
  withoutJobError,
} from './advance-cycle.ts';
import { type NamedCycle, noteNothingOpen, openCycles } from './named-cycle.ts';
import { type ResumeOptions, optionWords } from './options.ts';
import { type ResumedCycle, reportResults, resumedCycleView, unpolled } from './resume-cycle.ts';
import { deliveryOf, openJobs, standingClaims } from '../ledger/claims.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { lostRows } from '../ledger/rows-without-job.ts';
import { countCycle } from '../results/submission.ts';
import { type SvcError, isSvcError } from '../../base/errors.ts';
import { shownPath } from '../../base/files/names.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext, warnOf } from '../../cli/app/hint.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { countText } from '../../cli/output/number.ts';
import type { View } from '../../cli/output/view.ts';

/** A resumed cycle with the outcome of this command for it. */
type OpenCycleRow = ResumedCycle & { readonly outcome: Outcome | null };

export const openCycleView: View<OpenCycleRow> = {
  name: resumedCycleView.name,
  fields: [...resumedCycleView.fields, 'outcome'],
  columns: [...resumedCycleView.columns, { path: 'outcome', kind: 'text', priority: 2 }],
};

/**
 * Continues every cycle that has jobs whose results nobody received: finishes uploads, polls each job once, with `--wait`
 * until it is completed, and writes the results that are ready. Resolves to the exit code of the worst outcome.
 */
export async function resumeAll(context: Context, input: ResumeOptions): Promise<number | undefined> {
  const print = await listPrinter(context, openCycleView);
  const open = outlast(context, input.wait, () => openCycles(context, { onlyReads: input.dryRun }));
  const again = ['au', 'resume', ...optionWords(input), ...(input.dryRun ? ['--dry-run'] : [])];
  const { cycles, hasJobs } = await resumable(again, {}, open);
  if (cycles.length === 0) noteNothingOpen(context, new CommandLedger(context, { onlyReads: true }).place, hasJobs);
  if (input.dryRun) {
    for (const cycle of cycles) {
      const lost = await withoutJobError(context, cycle.name, await lostRows(cycle));
      if (lost) warnOf(context, cycle.name, lost);
      const jobs = openJobs(cycle.entries).length;
      if (jobs === 0) continue;
      context.notices.note(`${cycle.name}: would poll ${countText(jobs, 'job')} and write ${resultsOfCycle(cycle)}`);
    }
    context.notices.note('dry run: nothing was sent');
    await print(oneBatch(cycles.map((cycle) => openCycleRow(cycle, undefined, null))));
    return 0;
  }
  const resumed = new Map<NamedCycle, ResumedOpenCycle>();
  // All uploads finish before the first wait.
  for (const cycle of cycles) resumed.set(cycle, await resumeOpenCycle(context, cycle, { ...input, wait: false }));
  for (const [cycle, { row, isUnderWay }] of input.wait ? [...resumed] : []) {
    // After the time limit, the remaining cycles keep the outcome of their first poll.
    if (context.signal.aborted) break;
    if (isUnderWay || CHANGED_BY_WAITING.has(row.outcome ?? 'done'))
      resumed.set(cycle, await resumeOpenCycle(context, cycle, input));
  }
  const rows = [...resumed.values()].map(({ row }) => row);
  await print(oneBatch(rows));
  const outcomes = rows.map(({ outcome }) => outcome ?? 'done');
  if (outcomes.includes('pending') || [...resumed.values()].some(({ isUnderWay }) => isUnderWay))
    noteNext(context, 'to wait for the jobs that are under way', [
      'au',
      'resume',
      ...optionWords({ ...input, wait: true }),
    ]);
  return exitCodeOf(outcomes);
}

/** Outcomes of one poll that may change during a wait. */
const CHANGED_BY_WAITING: ReadonlySet<Outcome> = new Set([
  'pending',
  'outcome_unknown',
  'checksum_mismatch',
  'truncated',
  'network',
  'server',
  'rate_limited',
  'bad_response',
]);

interface ResumedOpenCycle {
  readonly row: OpenCycleRow;
  /** Whether a job of the cycle is under way, beside those that failed. */
  readonly isUnderWay: boolean;
}

/** Continues one cycle. A failure becomes its outcome and does not stop the other cycles. */
async function resumeOpenCycle(
  context: Context,
  cycle: NamedCycle,
  options: ResumeOptions,
  out = resultsOfCycle(cycle),
): Promise<ResumedOpenCycle> {
  const { name } = cycle;
  const { wait, failOn, force, ...input } = options;
  if (context.signal.aborted) {
    context.notices.warn(`${name}: not polled, since the time limit was reached`);
    return { row: openCycleRow(cycle, undefined, 'timeout'), isUnderWay: false };
  }
  const again = ['au', 'resume', ...optionWords({ ...input, wait, failOn, force })];
  let advanced: AdvancedCycle | undefined;
  try {
    const lost = await withoutJobError(context, cycle.name, await lostRows(cycle));
    if (lost && openJobs(cycle.entries).length === 0) {
      const { rows, jobs, progress } = unpolled(cycle);
      advanced = { status: 'not completed', rows, jobs, progress, isUnderWay: false };
      throw lost;
    }
    // Without a wait, the jobs are polled first: one that failed matters more than the file.
    if (wait) await requireResultsFile(context, cycle, { out, force });
    const advancing = advanceCycle(context, await context.client(), cycle, { wait, out, force, again });
    advanced = await resumable(again, { cycle: name }, advancing);
    const { results } = advanced;
    const counted = results && (await countCycle(context, cycle, results, { rows: results.rowsSent }));
    if (counted) reportResults(context, name, advanced, counted, failOn);
    if (advanced.reason) throw advanced.reason;
    return { row: openCycleRow(cycle, advanced, 'done'), isUnderWay: false };
  } catch (error) {
    if (!isSvcError(error) || !mayContinue(context)) throw error;
    // Files submitted in different folders may have the same name, and so may their results. Results of a cycle that had some
    // before may be its own, which are out of date.
    const other = `${name}.results.csv`;
    const isFirst = standingClaims(cycle.entries).every(({ job }) => deliveryOf(cycle.entries, job) === undefined);
    if (error.code === 'usage' && isFirst && out !== other) return resumeOpenCycle(context, cycle, options, other);
    // A pending cycle needs no warning, because the table shows it.
    if (error.code !== 'pending') warnOf(context, name, suggestOtherFile(error, name));
    return { row: openCycleRow(cycle, advanced, outcomeOf(error)), isUnderWay: advanced?.isUnderWay ?? false };
  }
}

/** Adds the command that writes the results of a cycle to another file. */
function suggestOtherFile(error: SvcError, name: string): SvcError {
  if (error.code !== 'usage') return error;
  return error.with({
    next: ['au', 'resume', name, '--out', '<file>'],
    alternatives: [['au', 'resume', name, '--force']],
  });
}

function openCycleRow(cycle: NamedCycle, advanced: AdvancedCycle | undefined, outcome: Outcome | null): OpenCycleRow {
  const { status, rows, jobs, progress } = advanced ?? unpolled(cycle);
  const results = advanced?.results && { results: { file: shownPath(advanced.results.file) } };
  return { cycle: cycle.name, status, rows, jobs, progress, ...results, outcome };
}

/** Tells whether to continue after an error. An interrupt ends the command; the time limit still lets it print its table. */
function mayContinue({ signal }: Context): boolean {
  return !signal.aborted || isSvcError(signal.reason, 'timeout');
}
