// 'svc au resume <cycle>': continues one cycle and writes its results.

import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { countText } from '../../cli/output/number.ts';
import { fieldPaths, type View } from '../../cli/output/view.ts';
import { standingClaims } from '../ledger/claims.ts';
import { lostRows } from '../ledger/rows-without-job.ts';
import { type NamedCycle, namedCycle } from './named-cycle.ts';
import { requireDestination } from '../results/merge.ts';
import {
  checkThreshold,
  countCycle,
  type Counted,
  printResults,
  RESULT_FIELDS,
  type Results,
} from '../results/submission.ts';
import {
  advanceCycle,
  type AdvancedCycle,
  requireResultsFile,
  resultsOfCycle,
  withoutJobError,
} from './advance-cycle.ts';
import { openComparedLedger } from './compare-jobs.ts';
import { toneOf } from '../job/job-view.ts';
import { outlast } from '../job/wait.ts';
import { optionWords, type ResumeOptions } from './options.ts';

/** A cycle as `au resume` prints it, with its results once all jobs are completed. */
export interface ResumedCycle extends Omit<AdvancedCycle, 'results' | 'reason' | 'isUnderWay'> {
  readonly cycle: string;
  readonly results?: Results | Pick<Results, 'file'>;
}

export const resumedCycleView: View<ResumedCycle> = {
  name: 'cycle',
  fields: fieldPaths(`cycle status rows jobs progress ${RESULT_FIELDS}`),
  columns: [
    { path: 'cycle', kind: 'text' },
    { path: 'status', kind: 'status', paint: toneOf },
    { path: 'rows', kind: 'number' },
    { path: 'progress', kind: 'text' },
  ],
};

/** Returns how far a cycle is whose jobs were not polled in this command. */
export function unpolled({ entries }: Pick<NamedCycle, 'entries'>): Omit<ResumedCycle, 'cycle'> {
  const claims = standingClaims(entries);
  return {
    status: 'not polled',
    rows: claims.reduce((sum, { rows }) => sum + rows, 0),
    jobs: claims.map(({ job }) => job),
    progress: '',
  };
}

/**
 * Continues a cycle of any machine, and writes the results of its jobs into one file once every job is completed.
 * @throws SvcError the reason why the results of some rows are missing
 */
export async function resumeCycle(context: Context, typed: string, input: ResumeOptions): Promise<void> {
  const print = await recordPrinter(context, resumedCycleView);
  if (input.out !== undefined) await requireDestination({ out: input.out, force: input.force });
  const client = await context.client();
  const waiting = ['au', 'resume', typed, ...optionWords(input)];
  const ledger = openComparedLedger(context, waiting, { onlyReads: input.dryRun });
  const find = () => namedCycle(context, client, ledger, typed);
  const named = await outlast(context, input.wait, find);
  // Other machines may be stopped until this machine puts back its lost entries, even if the cycle has no open jobs.
  const opened = await ledger.open(named.tenant);
  if (!opened.isReadOnly) await opened.restore();
  const out = input.out ?? resultsOfCycle(named);
  await requireResultsFile(context, named, { out, force: input.force });
  if (input.dryRun) {
    const claims = standingClaims(named.entries);
    const lost = await withoutJobError(context, named.name, await lostRows(named));
    if (lost !== undefined) warnOf(context, named.name, lost);
    const writes = claims.length > 0 ? ` and write ${out}` : '';
    context.notices.note(`dry run: it would poll ${countText(claims.length, 'job')}${writes}`);
    return print({ cycle: named.name, ...unpolled(named) });
  }
  const again = ['au', 'resume', named.name, ...optionWords(input)];
  const advanced = await advanceCycle(context, client, named, { ...input, out, again });
  const { results, reason, status, rows, jobs, progress } = advanced;
  const row = { cycle: named.name, status, rows, jobs, progress };
  const counted = results && (await countCycle(context, named, results, { rows: results.rowsSent }));
  if (status === 'completed' && jobs.length === 0)
    context.notices.note(`nothing is left to do: the rows of cycle ${named.name} were freed, or left out of it`);
  if (counted === undefined) await print(row);
  else {
    await printResults(context, print, row, counted);
    reportResults(context, `cycle ${named.name}`, advanced, counted, input.failOn);
  }
  if (reason) throw reason;
}

/** Notes where the results of a cycle are. @throws SvcError the reason why some are missing, or `threshold` for `--fail-on` */
export function reportResults(
  { notices }: Context,
  what: string,
  { status, reason }: Pick<AdvancedCycle, 'status' | 'reason'>,
  counted: Counted,
  failOn: ResumeOptions['failOn'],
): void {
  const { file } = counted.results;
  if (status === 'completed') notices.success(`${what} completed: results in ${file}`);
  else notices.note(`the results of the completed jobs of ${what} are in ${file}`);
  // Missing results are worse than results with errors.
  if (reason) throw reason;
  checkThreshold(counted, failOn);
}
