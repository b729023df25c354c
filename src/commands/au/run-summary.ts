import { createHash } from 'node:crypto';
import path from 'node:path';
import { needsFile } from '../../account-updater/advance.ts';
import { invalidateResults } from '../../account-updater/collect.ts';
import { withResumeHint } from '../../account-updater/events.ts';
import type { Destination } from '../../account-updater/merge.ts';
import type { WakeUp } from '../../account-updater/poll.ts';
import { reconcile } from '../../account-updater/reconcile.ts';
import { type RunRecord, statusOf } from '../../account-updater/record.ts';
import { actionFor, type Actions } from '../../account-updater/result-codes.ts';
import { countResults } from '../../account-updater/results.ts';
import type { RunDirectory } from '../../account-updater/run-directory.ts';
import { unfinishedError, waitForRun, wordsOf } from '../../account-updater/run-wait.ts';
import type { Context } from '../../app/command.ts';
import { isForPeople } from '../../app/print.ts';
import { isSvcError, SvcError } from '../../errors.ts';
import { fileSource } from '../../transfer/source.ts';
import { deliverResults, requireDestination } from './deliver-results.ts';
import { actionsOf } from './options.ts';
import { showRun } from './progress.ts';
import {
  drawResults,
  type PartRow,
  type Results,
  type RunRow,
  type ShownStatus,
  type Submission,
} from './view.ts';

/** A run as it is shown, without the numbers of its results. */
export function submissionOf(record: RunRecord): Submission {
  const { id, input, parts } = record;
  const jobs = jobsOf(record);
  return {
    run: id,
    status: shownStatus(record),
    file: input.name,
    rows: input.rows,
    job: parts.length === 1 ? (jobs[0] ?? null) : null,
    jobs,
  };
}

/** The status of a run as commands show it. */
function shownStatus(record: RunRecord): ShownStatus {
  const status = statusOf(record);
  if (status !== 'open') return status;
  return record.parts.some(({ state }) => state === 'unknown') ? 'unknown' : 'pending';
}

function jobsOf({ parts }: Pick<RunRecord, 'parts'>): string[] {
  return parts.flatMap(({ job }) => job ?? []);
}

/** Shows a run whose results are written: for programs as data, for people as a picture. Then checks --fail-on. */
export async function showResults(
  context: Context,
  print: (submission: Submission) => Promise<void>,
  record: RunRecord,
  failOn?: 'err' | 'wrn',
): Promise<void> {
  const results = await countedResults(record, actionsOf(context, []));
  const done = { ...submissionOf(record), results };
  if (isForPeople(context) && context.globals.fields === undefined) {
    await print({ ...done, results: { file: results.file } });
    const { palette, unicode, plain, out } = context;
    const columns = out.isTerminal ? out.width : Infinity;
    await out.write(drawResults(done.rows, results, { palette, unicode, plain, columns }));
  } else await print(done);
  checkThreshold(results, failOn);
}

/** The results of a run in numbers; `actions` are the operator's own for result codes. */
export async function countedResults({ results, input }: RunRecord, actions: Actions): Promise<Results> {
  if (!results) throw new SvcError('bug', 'results were to be shown before they were written');
  const { updated, warned, errors, unknown, unchanged, codes } = await countResults(results.file, input.rows);
  const rows = codes.map(({ code, class: kind, count }) => ({
    code,
    class: kind,
    count,
    action: actionFor(code, actions),
  }));
  return {
    ...results,
    file: shownPath(results.file),
    updated,
    warned,
    errors,
    unknown,
    unchanged,
    codes: rows,
  };
}

// As it would be typed here, where that is shorter.
function shownPath(file: string): string {
  const here = path.relative('', file);
  return here.startsWith('..') ? file : here;
}

function checkThreshold({ file, errors, warned, unknown }: Results, failOn: 'err' | 'wrn' | undefined): void {
  const met = failOn === 'wrn' ? errors + warned + unknown : failOn === 'err' ? errors : 0;
  if (met === 0) return;
  throw new SvcError('threshold', `${met} rows met --fail-on ${failOn}`, {
    hint: `The results are in ${file}; the list above says what each result code asks for.`,
    facts: { errors, warned, unknown, results: file },
  });
}

/** Waits for a run whose parts are all uploaded, brings its results and writes them into one file. `nudge` shortens the wait. */
export async function finishRun(
  context: Context,
  run: RunDirectory,
  destination: Destination,
  nudge?: WakeUp,
): Promise<void> {
  const { record } = run;
  await requireDestination(context, destination, run);
  if (needsFile(record)) throw unfinishedError(run);
  await invalidateResults(run);
  if (statusOf(record) !== 'completed') {
    const client = await context.client();
    const waiting = waitForRun(client, run, { onEvent: showRun(context, record), nudge });
    await withResumeHint(`svc au wait ${run.name}`, record.id, waiting);
  }
  await deliverResults(context, run, destination);
  await warnOfUnrequested(context, record);
}

/** A run in one line. */
export function runRow(record: RunRecord): RunRow {
  const { id, created_at, cycle, input, parts } = record;
  return {
    run: id,
    status: shownStatus(record),
    created_at,
    cycle: cycle ?? null,
    file: input.name,
    rows: input.rows,
    jobs: jobsOf(record),
    job_count: parts.length,
    progress: wordsOf(record),
  };
}

/** A run's parts, a line each. */
export function partRows({ parts }: RunRecord): PartRow[] {
  return parts.map(({ number, rows, state, seen, job, errors }) => ({
    part: number,
    rows,
    state,
    job_status: seen ?? null,
    job: job ?? null,
    errors: errors ?? [],
  }));
}

/**
 * Warns of results whose tokens were not requested, as long as the request file is still there and the same. What came
 * through a pipe cannot be compared.
 */
export async function warnOfUnrequested(
  { notices }: Pick<Context, 'notices'>,
  { input, results }: Pick<RunRecord, 'input' | 'results'>,
): Promise<void> {
  if (results === undefined || input.path === undefined) return;
  const request = await fileSource(input.path).catch(() => undefined);
  if (request === undefined) return;
  let hash = createHash('sha256');
  const hashed = {
    async *open() {
      hash = createHash('sha256');
      for await (const piece of request.open()) {
        hash.update(piece);
        yield piece;
      }
    },
  };
  const compared = await reconcile(hashed, await fileSource(results.file)).catch((error: unknown) => {
    // Bytes that the operator vouched for need not be a table, nor a request file that changed meanwhile.
    if (isSvcError(error, 'checksum_mismatch', 'conflict', 'refused_input', 'local')) return undefined;
    throw error;
  });
  if (hash.digest('hex') !== input.sha256) return;
  const { notRequested = 0, duplicates = 0, mismatches = [] } = compared ?? {};
  const count = notRequested + duplicates;
  if (count === 0) return;
  const rows = mismatches.slice(0, 3).map(({ row }) => row);
  notices.warn(
    `${count} of the results have a token that was not requested, or not as often: row ${rows.join(', ')}${count > rows.length ? ' …' : ''}; compare with 'svc au report ${results.file} --request ${input.path}', and contact support with the job id`,
  );
}
