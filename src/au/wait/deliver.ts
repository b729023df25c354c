import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext, warnOf } from '../../cli/app/hint.ts';
import { copyOut } from '../request/spool-output.ts';
import { actionsOf } from '../results/action-option.ts';
import { invalidateResults } from '../results/download.ts';
import { checkDestination, type Destination, keepResults, keptResultsOf, writeResults } from '../results/merge.ts';
import { warningOf } from '../results/report-view.ts';
import { countedResults } from '../results/submission.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { apply, type ResultsFile } from '../run/part.ts';
import { areCompared, needsFile, partsByJob, type RunRecord, rowsIn, statusOf } from '../run/record.ts';
import { repairCopy } from '../run/request-copy.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { unfinishedError } from '../run/run-errors.ts';
import { resumable } from '../run/verdict.ts';
import { showRun } from '../send/show-progress.ts';
import { deliverFixFile } from './fix-file.ts';
import { pollForResults, waitForRun } from './wait.ts';
import { waitingWords } from './wait-options.ts';

interface FinishOptions {
  /** Whether to wait for jobs whose results cannot be downloaded now, instead of polling them once. */
  readonly wait: boolean;
  /** The command that continues an interrupted wait. */
  readonly again?: readonly string[] | undefined;
}

/**
 * Polls or waits for a fully uploaded run, downloads its results and writes them into one file. Without `out`, they are kept
 * with the run if the recorded file cannot be written.
 */
export async function finishRun(
  context: Context,
  run: RunDirectory,
  { out, force }: Pick<Destination, 'force'> & { readonly out: string | undefined },
  { wait, again = ['au', 'resume', run.name, '--wait'] }: FinishOptions,
): Promise<void> {
  const { record } = run;
  if (out !== undefined) await requireDestination(context, { out, force }, run);
  if (needsFile(record)) throw unfinishedError(run);
  await repairCopy(context, run);
  await invalidateResults(run);
  const ledger = new CommandLedger(context);
  await refetchOutdated(context, run, ledger);
  if (statusOf(record) !== 'completed') {
    const client = await context.client();
    const how = { onEvent: showRun(context, record), ledger, again: waitingWords(again) };
    await resumable(again, { run: record.id }, wait ? waitForRun(client, run, how) : pollForResults(client, run, how));
  }
  if (out === undefined) await deliverAsRecorded(context, run, force);
  else await deliverResults(context, run, { out, force });
  noteUncompared(context, record);
  await deliverFixFile(context, run);
}

/** Marks results for another download if other results of their job were read after them, on any machine. */
export async function refetchOutdated(context: Context, run: RunDirectory, ledger: CommandLedger): Promise<void> {
  const { parts, tenant_id: tenant } = run.record;
  for (const part of parts) {
    const { job = '', state, results } = part;
    if (state !== 'downloaded' || results.proof === 'operator') continue;
    try {
      if (!(await ledger.isOutdated(tenant, job, results.sha256))) continue;
    } catch (error) {
      // What was read before is delivered while the ledger of other machines does not respond.
      if (!isSvcError(error, 'network', 'server')) throw error;
      return warnOf(context, `whether other results of ${run.name} were read later is not known`, error);
    }
    context.notices.warn(
      `other results of job ${job} were read after those that ${run.name} keeps: they are downloaded again`,
    );
    apply(part, { kind: 'wanted again' });
    run.save();
  }
}

/**
 * Writes the results to the recorded file. If the file exists or its directory is gone, keeps them with the run,
 * because nobody can confirm another file.
 */
export async function deliverAsRecorded(context: Context, run: RunDirectory, force = false): Promise<ResultsFile> {
  const { out } = run.record;
  if (out === undefined) return deliverResults(context, run, { out: keptResultsOf(run), force: true });
  try {
    await checkDestination(context, run, { out, force });
    return await deliverResults(context, run, { out, force });
  } catch (error) {
    if (!isSvcError(error, 'usage', 'local')) throw error;
    context.notices.warn(`${run.record.id}: ${error.message}; its results are kept in ${run.path}`);
    noteNext(context, 'to write them to another file', ['au', 'download', run.name, '--out', '<file>']);
    return deliverResults(context, run, { out: keptResultsOf(run), force: true });
  }
}

/** Checks the destination of the results before any request. `run` may have written the file that exists there. */
export async function requireDestination(context: Context, to: Destination, run?: RunDirectory): Promise<void> {
  if (to.out !== '-') return checkDestination(context, run, to);
  const { globals, query } = context;
  if ((globals.output ?? 'csv') === 'csv' && !query && globals.fields === undefined) return;
  throw new SvcError('usage', 'with --out - the output is the result file', {
    hint: 'Omit --output, --fields and --jq.',
  });
}

/** Writes the results of a run to their destination: a file, a pipe, a device, or standard output. */
export async function deliverResults(context: Context, run: RunDirectory, to: Destination): Promise<ResultsFile> {
  const { record } = run;
  const isFile = to.out !== '-';
  const before = record.results;
  const kept = keptResultsOf(run);
  const results = isFile ? await writeResults(run, to) : await keepResults(run);
  await copyOut(context, results.file, to.out);
  // A pipe may have failed to take results that the run keeps. Another copy of a file needs no ledger.
  if ([before?.file ?? kept, results.file].includes(kept))
    await enterDelivery(context, record.tenant_id, wholeJobs(record));
  return results;
}

/** Returns the jobs of which a run has the results of all rows. A file may have only some rows of another run's job. */
function wholeJobs({ parts }: RunRecord): string[] {
  const ofJobs = partsByJob(parts.filter(({ state }) => state === 'downloaded'));
  return ofJobs.flatMap((own) => {
    const [{ job, joined }] = own;
    const isWhole = joined === undefined || rowsIn(own) >= joined.rows;
    return isWhole && job !== undefined ? [job] : [];
  });
}

/**
 * Records in the ledger that the results of some jobs were delivered, so that no machine shows these jobs as open. Because
 * they were delivered, a ledger that does not take it changes no exit code.
 */
export async function enterDelivery(
  context: Context,
  tenant: string | undefined,
  jobs: readonly string[],
): Promise<void> {
  try {
    const ledger = new CommandLedger(context);
    for (const job of jobs) await ledger.markDelivered(tenant, job);
  } catch (error) {
    if (!isSvcError(error) || isSvcError(error, 'hangup', 'interrupted', 'terminated')) throw error;
    warnOf(context, 'the results were delivered, but the ledger still has their jobs as open', error);
  }
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

/** Explains why results could not be compared with the request. */
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
