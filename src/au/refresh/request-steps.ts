import { type ErrorCode, isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { isDrawn } from '../../cli/app/print.ts';
import { countText } from '../../cli/output/time.ts';
import { copyRequestFile } from '../request/open-request-file.ts';
import { actionsOf } from '../results/action-option.ts';
import { finishRun } from '../results/deliver.ts';
import { makeReport, requireReconciled } from '../results/make-report.ts';
import { checkThreshold, countedResults, drawResults, noteOddities, type Results } from '../results/submission.ts';
import { requireFewToFix, writeNextRequest } from '../results/write-next-request.ts';
import { advanceRun } from '../run/advance-run.ts';
import { describeRun, summaryTitle } from '../run/describe-run.ts';
import { RunFinder } from '../run/find-run.ts';
import { isOpen, type RunRecord } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { filesOfRun } from '../run/run-files.ts';
import { shownStatus } from '../run/run-view.ts';
import { decideSubmission, uploadSubmitted } from '../run/submit-file.ts';
import { holdRun } from '../run/verdict.ts';
import type { RefreshDirectory, Refreshed, RefreshFiles } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { announceStep, noteStep } from './step.ts';

/** How far a request of a cycle is. Members that are not known yet are null. */
export interface RefreshRow {
  readonly cycle: string;
  readonly status: string;
  /** The number of submitted rows. */
  readonly rows: number;
  readonly run: string | null;
  readonly request: string;
  readonly results: string | null;
  readonly updated: number | null;
  readonly warned: number | null;
  readonly errors: number | null;
  readonly unchanged: number | null;
  readonly report: string | null;
  readonly next: string | null;
  readonly next_rows: number | null;
  readonly excluded: number | null;
  readonly exclusions: string | null;
}

export type PrintRow = (row: RefreshRow) => Promise<void>;

/** Takes one request of a cycle from the request file to the next one. */
export class RequestSteps {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  readonly #input: RefreshInput;
  readonly #known: Refreshed;
  readonly #files: RefreshFiles;
  readonly #onlyNew: boolean;

  constructor(context: Context, directory: RefreshDirectory, place: number, input: RefreshInput) {
    const known = directory.requests[place];
    if (known === undefined) throw new SvcError('bug', 'a request was to be submitted before it was prepared');
    this.#context = context;
    this.#directory = directory;
    this.#input = input;
    this.#known = known;
    this.#files = directory.filesOf(place);
    this.#onlyNew = isOnlyNew(directory, place, input);
  }

  async finish(print: PrintRow): Promise<void> {
    const { cycle, summarize } = this.#input;
    let run: RunDirectory | undefined;
    const work = async (): Promise<void> => {
      const record = await this.#submit((begun) => (run = begun), print);
      if (record) await this.#conclude(record, print);
    };
    await summarize(work, (error) =>
      run === undefined
        ? { title: summaryTitle('nothing was submitted'), facts: [['cycle', cycle]] }
        : describeRun(this.#context, run, error),
    );
  }

  /** Submits the request and gets its results. Returns undefined if nothing is new or the operator declined. */
  async #submit(onRun: (run: RunDirectory) => void, print: PrintRow): Promise<RunRecord | undefined> {
    const { wait, cycle } = this.#input;
    const { request, results: out } = this.#files;
    announceStep(this.#context, 'submit', [
      'au',
      'submit',
      request,
      '--cycle',
      cycle,
      ...(this.#onlyNew ? ['--only-new'] : []),
      '--out',
      out,
      ...(this.#input.noUnrecordedJobs ? ['--no-unrecorded-jobs'] : []),
      ...option('--other-job', this.#input.otherJob),
    ]);
    const file = await copyRequestFile(this.#context, request, undefined);
    const finder = finderOf(this.#context, file, { ...this.#input, onlyNew: this.#onlyNew });
    const submitting = { file: request, out, wait, force: false, cycle, dryRun: false };
    const decided = await this.#offeringOnlyNew(decideSubmission(this.#context, finder, submitting));
    if (decided.kind === 'nothing new') {
      await print(this.#row('nothing_new'));
      return undefined;
    }
    if (decided.kind !== 'send') {
      this.#context.notices.note('nothing was submitted');
      return undefined;
    }
    const { run, release } = await finder.findOrBegin(decided.choice);
    onRun(run);
    const holding = holdRun(this.#context, run, async () => {
      finder.update(run, out);
      release();
      this.#known.run = run.name;
      this.#directory.save();
      await uploadSubmitted(this.#context, run, { pollOnce: !wait });
      await this.#wait(run);
    });
    try {
      await holding.finally(release);
    } catch (error) {
      if (!isSvcError(error, ...RESUMABLE)) throw error;
      // While another process works on the run, this command has read nothing of its jobs.
      const isPolled = error.code === 'pending' && error.facts?.['held_by'] === undefined;
      if (isPolled) await print(this.#row('pending', run.record));
      throw this.#resumable(error);
    }
    if (decided.choice.run !== undefined) await finder.reportLeftOut(run);
    return run.record;
  }

  async #wait(run: RunDirectory): Promise<void> {
    const { results: out } = this.#files;
    const wasOpen = isOpen(run.record);
    const isToPoll = wasOpen && !this.#input.wait;
    if (wasOpen) announceStep(this.#context, 'wait', isToPoll ? ['au', 'sync'] : ['au', 'wait', run.name]);
    if (isToPoll) return advanceRun(this.#context, run);
    await finishRun(this.#context, run, { out, force: false });
    if (!wasOpen) noteStep(this.#context, 'wait', `done before: the results are in ${out}`);
    await noteOddities(this.#context, run.record, await this.#count(run.record));
  }

  /** Writes the report and the next request, once each, and ends with the first threshold that was met. */
  async #conclude(record: RunRecord, print: PrintRow): Promise<void> {
    const { failOn } = this.#input;
    const results = await this.#count(record);
    if (isDrawn(this.#context)) await drawResults(this.#context, record.input.rows, results);
    await this.#report(record, results);
    const failure = met(() => checkThreshold(results, record.input.rows, failOn));
    if (!failure) await this.#next(record, results);
    await print(this.#row(shownStatus(record), record, results));
    if (failure) throw failure;
    const { next } = this.#known;
    if (next) requireFewToFix({ file: this.#files.next, ...next }, results.file, failOn);
  }

  async #report(record: RunRecord, results: Results): Promise<void> {
    const { report: page } = this.#files;
    const known = this.#known;
    if (known.report_of === results.sha256 && this.#directory.has(page))
      return noteStep(this.#context, 'report', `done before: ${page}`);
    const name = known.run ?? record.id;
    announceStep(this.#context, 'report', ['au', 'report', '--run', name, '--html', page]);
    this.#directory.claim(known, page);
    const { action } = this.#input;
    const files = await filesOfRun(this.#context, name);
    const made = await makeReport(this.#context, {
      ...files,
      html: page,
      splitInto: undefined,
      keep: undefined,
      action,
      force: true,
    });
    requireReconciled(made);
    known.report_of = results.sha256;
    this.#directory.save();
  }

  async #next(record: RunRecord, results: Results): Promise<void> {
    const { next: out, keep: kept } = this.#files;
    const { exclusions } = this.#directory;
    const known = this.#known;
    if (known.next?.results_sha256 === results.sha256 && this.#directory.has(out))
      return noteStep(this.#context, 'next', `done before: ${countText(known.next.rows, 'row')} in ${out}`);
    const name = known.run ?? record.id;
    const keep = this.#directory.has(kept) ? kept : undefined;
    announceStep(this.#context, 'next', [
      'au',
      'next',
      '--run',
      name,
      '--exclusions',
      exclusions,
      ...option('--keep', keep),
      ...option('--out', out),
    ]);
    this.#directory.claim(known, out);
    const files = await filesOfRun(this.#context, name);
    const made = await writeNextRequest(this.#context, {
      ...files,
      out,
      excluded: undefined,
      exclusions,
      keep,
      cycle: this.#input.cycle,
      actions: actionsOf(this.#context, this.#input.action),
      force: true,
    });
    known.next = {
      results_sha256: results.sha256,
      rows: made.rows,
      fix: made.groups.fix,
      excluded: made.groups.exclude + made.excluded_before,
    };
    this.#directory.save();
  }

  #count(record: RunRecord): Promise<Results> {
    return countedResults(record, actionsOf(this.#context, this.#input.action));
  }

  #row(status: string, record?: RunRecord, results?: Results): RefreshRow {
    const { run, next } = this.#known;
    const { request, report, next: nextRequest } = this.#files;
    const isReported = results !== undefined && this.#known.report_of === results.sha256;
    const made = results !== undefined && next?.results_sha256 === results.sha256 ? next : undefined;
    return {
      cycle: this.#input.cycle,
      status,
      rows: record?.input.rows ?? 0,
      run: run ?? null,
      request,
      results: results?.file ?? null,
      updated: results?.updated ?? null,
      warned: results?.warned ?? null,
      errors: results?.errors ?? null,
      unchanged: results?.unchanged ?? null,
      report: isReported ? report : null,
      next: made === undefined ? null : nextRequest,
      next_rows: made?.rows ?? null,
      excluded: made?.excluded ?? null,
      exclusions: this.#directory.has(this.#directory.exclusions) ? this.#directory.exclusions : null,
    };
  }

  /** Adds the command that goes on with the refresh to an error that leaves it unfinished. */
  #resumable({ code, message, hint, facts, retryable }: SvcError): SvcError {
    const isPending = code === 'pending';
    return new SvcError(code, message, {
      hint: hint ?? (isPending ? 'Run the same command again later; au sync gets the results meanwhile:' : undefined),
      next: this.#input.again,
      alternatives: isPending ? [['au', 'sync']] : [],
      retryable,
      facts,
    });
  }

  /** Adds this command with `--only-new` to the error about rows that another run of the cycle has. */
  async #offeringOnlyNew<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!isSvcError(error, 'conflict') || !error.commands.some((words) => words.includes('--only-new'))) throw error;
      const { message, hint, facts, commands } = error;
      const alternatives = commands.filter((words) => !words.includes('--only-new'));
      throw new SvcError('conflict', message, {
        hint,
        next: [...this.#input.again, '--only-new'],
        alternatives,
        facts,
      });
    }
  }
}

/** Errors that leave a refresh which the same command goes on with. */
const RESUMABLE: readonly ErrorCode[] = ['pending', 'timeout', 'interrupted', 'terminated', 'hangup'];

/** Returns the error of a check, or undefined if it passed. */
function met(check: () => void): SvcError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (isSvcError(error, 'threshold')) return error;
    throw error;
  }
}

/** Tells whether only rows that no other run of the cycle has are submitted. Changed exports share most of their rows. */
export function isOnlyNew({ requests }: RefreshDirectory, place: number, { onlyNew }: RefreshInput): boolean {
  return onlyNew || requests.some(({ run }, index) => index !== place && run !== undefined);
}

/** Returns the finder of the run of a request file. */
export function finderOf(
  context: Context,
  file: ConstructorParameters<typeof RunFinder>[2],
  { cycle, onlyNew, noUnrecordedJobs, otherJob }: RefreshInput,
  dryRun = false,
): RunFinder {
  const others = { again: false, also: false, adopt: undefined, runDir: undefined, tenant: undefined };
  return new RunFinder(context, { ...others, cycle, onlyNew, noUnrecordedJobs, otherJob, dryRun }, file);
}
