import { type ErrorCode, isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { isDrawn } from '../../cli/app/print.ts';
import { countText } from '../../cli/output/time.ts';
import { copyRequestFile } from '../request/open-request-file.ts';
import { actionsOf } from '../results/action-option.ts';
import { finishRun } from '../wait/deliver.ts';
import { makeReport, requireReconciled } from '../results/make-report.ts';
import { warningOf } from '../results/report-view.ts';
import { checkThreshold, countedResults, drawResults, noteOddities, type Results } from '../results/submission.ts';
import { writeNextRequest } from '../next/write-next-request.ts';
import { advanceRun } from '../wait/advance-run.ts';
import { describeRun, summaryTitle } from '../wait/describe-run.ts';
import { isOpen, type RunRecord } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { filesOfRun } from '../run/run-files.ts';
import { shownStatus } from '../run/run-view.ts';
import { FileSubmission, type Submitting } from '../send/submit-file.ts';
import { requireJoinedFiles } from '../send/upload-run.ts';
import { holdRun } from '../run/verdict.ts';
import { applyTodo } from './apply-todo.ts';
import { countExclusions, exclusionsFor } from './exclusion-list.ts';
import type { RefreshDirectory, Refreshed, RefreshFiles } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { openRequests } from './open-cycles.ts';
import { noteTenant, requireTenant } from './refresh-tenant.ts';
import { announceStep, noteStep } from './step.ts';
import { type Todo, writeTodo } from './todo.ts';

/** How far a request of a cycle is. Members that are not known yet are null. */
export interface RefreshRow {
  readonly cycle: string;
  readonly status: string;
  /** The number of submitted rows. */
  readonly rows: number;
  /** Rows of a changed export that are not sent without `--add`; null if the export is unchanged. */
  readonly new_rows: number | null;
  readonly run: string | null;
  readonly request: string;
  readonly results: string | null;
  readonly updated: number | null;
  readonly warned: number | null;
  readonly errors: number | null;
  readonly unchanged: number | null;
  readonly report: string | null;
  /** The number of new tokens of the whole cycle, and the file that has them. */
  readonly new_tokens: number | null;
  readonly replace: string | null;
  /** When the command of `--exec` succeeded with the file as it was then; null if it never did. */
  readonly applied_at: string | null;
  readonly next: string | null;
  readonly next_rows: number | null;
  readonly excluded: number | null;
  readonly exclusions: string | null;
}

/** What a request came to, where it has results. */
interface Delivered {
  readonly record?: RunRecord;
  readonly results?: Results;
  readonly failure?: SvcError | undefined;
}

export type PrintRow = (row: RefreshRow) => Promise<void>;

/** Takes one request of a cycle from the request file to the next one. */
export class RequestSteps {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  readonly #input: RefreshInput;
  readonly #known: Refreshed;
  readonly #files: RefreshFiles;
  readonly #newRows: number | undefined;

  constructor(context: Context, directory: RefreshDirectory, place: number, input: RefreshInput, newRows?: number) {
    const known = directory.requests[place];
    if (known === undefined) throw new SvcError('bug', 'a request was to be submitted before it was prepared');
    this.#context = context;
    this.#directory = directory;
    this.#input = input;
    this.#known = known;
    this.#files = directory.filesOf(place);
    this.#newRows = newRows;
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
      '--out',
      out,
      ...(this.#input.begin ? ['--begin'] : []),
      ...(this.#input.onlyRecorded ? ['--only-recorded'] : []),
    ]);
    const file = await copyRequestFile(this.#context, request);
    const checkTenant = (tenant: string): Promise<void> =>
      requireTenant(this.#context, this.#directory, tenant, this.#input.again);
    const force = await this.#hasWritten(out);
    const submitting = { ...submissionOf(request, this.#input, { out, wait, force }), checkTenant };
    const decided = await this.#offeringBegin(new FileSubmission(this.#context, file, submitting).decide());
    if (decided.kind === 'nothing new') {
      await this.#deliver(print, 'nothing_new');
      return undefined;
    }
    if (decided.kind !== 'send') {
      this.#context.notices.note('nothing was submitted');
      return undefined;
    }
    const { run, submission } = decided;
    onRun(run);
    try {
      await holdRun(this.#context, run, async () => {
        noteTenant(this.#directory, run.record.tenant_id);
        submission.take(run, out);
        this.#known.run = run.name;
        this.#directory.save();
        await submission.upload(run, { pollOnce: !wait });
        await this.#wait(run);
      });
    } catch (error) {
      if (!isSvcError(error, ...RESUMABLE)) throw error;
      // While another process works on the run, this command has read nothing of its jobs.
      const isPolled = error.code === 'pending' && error.facts?.['held_by'] === undefined;
      if (isPolled) await print(this.#row('pending', run.record));
      throw this.#resumable(error);
    }
    return run.record;
  }

  async #wait(run: RunDirectory): Promise<void> {
    const { results: out } = this.#files;
    const wasOpen = isOpen(run.record);
    const isToPoll = wasOpen && !this.#input.wait;
    if (wasOpen) announceStep(this.#context, 'wait', ['au', 'resume', run.name, ...(isToPoll ? [] : ['--wait'])]);
    if (isToPoll) return advanceRun(this.#context, run);
    await requireJoinedFiles(this.#context, run);
    await finishRun(this.#context, run, { out, force: await this.#hasWritten(out) });
    if (!wasOpen) noteStep(this.#context, 'wait', `done before: the results are in ${out}`);
    await noteOddities(this.#context, run.record, await this.#count(run.record));
  }

  /** Writes the report and the next request, once each, and ends with the first threshold that was met. */
  async #conclude(record: RunRecord, print: PrintRow): Promise<void> {
    const { failOn } = this.#input;
    const results = await this.#count(record);
    if (isDrawn(this.#context)) await drawResults(this.#context, record.input.rows, results);
    await this.#report(record, results);
    const failure = met(() => checkThreshold(results, record.input.rows, failOn)) ?? this.#oneError(record, results);
    if (!failure) await this.#next(record, results);
    await this.#deliver(print, shownStatus(record), { record, results, failure });
  }

  /** Writes what is to be done with the rows of the cycle, applies it, and ends with the first thing that is wrong. */
  async #deliver(print: PrintRow, status: string, { record, results, failure }: Delivered = {}): Promise<void> {
    const actions = actionsOf(this.#context, this.#input.action);
    let problem: unknown = failure;
    let todo: Todo | undefined;
    try {
      if (this.#directory.requests.some(({ report_of: of }) => of !== undefined))
        todo = await writeTodo(this.#context, this.#directory, actions);
      if (todo && todo.changed.length > 0) problem ??= changedTodo(todo.changed, this.#input.again);
    } catch (error) {
      if (!isSvcError(error, 'config')) throw error;
      problem ??= error;
    }
    const row = (): RefreshRow => this.#row(status, record, results, todo);
    if (todo && problem === undefined)
      problem = await applyTodo(this.#context, this.#directory, todo, row(), this.#input);
    await print(row());
    if (todo) await this.#noteTodo(todo);
    if (problem !== undefined) throw problem;
  }

  /** Tells whether a file has the results that this refresh reported, here or on another machine. */
  async #hasWritten(file: string): Promise<boolean> {
    const { report_of: of } = this.#known;
    return of !== undefined && this.#directory.has(file) && (await this.#directory.hash(file)) === of;
  }

  /** Returns the error for results of which one error code has most rows, unless the operator chose a threshold. */
  #oneError(record: RunRecord, results: Results): SvcError | undefined {
    const { failOn, again } = this.#input;
    if (failOn !== undefined || warningOf(this.#context, record, results.codes) === undefined) return undefined;
    return new SvcError('threshold', `most rows of ${this.#files.request} ended in one error code`, {
      hint: `Find out why before the results are used: the report has the code, and ${this.#directory.todo} has the rows. To go on as it is, allow it with --fail-on:`,
      next: ['au', 'report', results.file],
      alternatives: [[...again, '--fail-on', 'err=100%']],
      facts: { results: results.file },
    });
  }

  /** Ends with the file that the month is for. */
  async #noteTodo({ newTokens, replace }: Todo): Promise<void> {
    const open = await openRequests(this.#context, this.#directory);
    const soFar = open === 0 ? '' : `so far, ${countText(open, 'request')} open: `;
    this.#context.notices.note(`${soFar}${countText(newTokens, 'new token')}: ${replace}`);
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
    if (this.#input.exclusions === undefined) await exclusionsFor(this.#context, this.#directory, this.#input);
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
    known.excluded_tokens = await countExclusions(this.#context, exclusions);
    this.#directory.save();
  }

  #count(record: RunRecord): Promise<Results> {
    return countedResults(record, actionsOf(this.#context, this.#input.action));
  }

  #row(status: string, record?: RunRecord, results?: Results, todo?: Todo): RefreshRow {
    const { run, next } = this.#known;
    const { request, report, next: nextRequest } = this.#files;
    const isReported = results !== undefined && this.#known.report_of === results.sha256;
    const made = results !== undefined && next?.results_sha256 === results.sha256 ? next : undefined;
    return {
      cycle: this.#input.cycle,
      status,
      rows: record?.input.rows ?? 0,
      new_rows: this.#newRows ?? null,
      run: run ?? null,
      request,
      results: results?.file ?? null,
      updated: results?.updated ?? null,
      warned: results?.warned ?? null,
      errors: results?.errors ?? null,
      unchanged: results?.unchanged ?? null,
      report: isReported ? report : null,
      new_tokens: todo?.newTokens ?? null,
      replace: todo?.replace ?? null,
      applied_at: this.#directory.applied?.at ?? null,
      next: made === undefined ? null : nextRequest,
      next_rows: made?.rows ?? null,
      excluded: made?.excluded ?? null,
      exclusions: this.#directory.has(this.#directory.exclusions) ? this.#directory.exclusions : null,
    };
  }

  /** Adds the command that goes on with the refresh to an error that leaves it unfinished. */
  #resumable(error: SvcError): SvcError {
    const isPending = error.code === 'pending';
    return error.with({
      hint:
        error.hint ??
        (isPending ? 'Run the same command again later; au resume gets the results meanwhile:' : undefined),
      next: this.#input.again,
      alternatives: isPending ? [['au', 'resume']] : [],
    });
  }

  /** Replaces the commands that begin or go on with another cycle by those of the refresh. */
  async #offeringBegin<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!isSvcError(error) || !error.commands.some((words) => words.includes('--begin'))) throw error;
      const other = error.facts?.['other_cycle'];
      const goOn = this.#input.again.map((word) =>
        word === this.#input.cycle && typeof other === 'string' ? other : word,
      );
      throw error.with({ next: goOn, alternatives: [[...this.#input.again, '--begin']] });
    }
  }
}

/** Returns the error for files with what to do that somebody changed, and that would be written otherwise now. */
function changedTodo(files: readonly string[], again: readonly string[]): SvcError {
  const are = files.length === 1 ? 'was' : 'were';
  return new SvcError(
    'config',
    `${files.join(', ')} ${are} changed after the refresh wrote ${files.length === 1 ? 'it' : 'them'}, and would be written otherwise now`,
    {
      hint: 'Nothing of it was replaced; everything else is written. Move the changed files away, and run the same command again:',
      next: again,
      facts: { files },
    },
  );
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

/** Returns what is asked of the submission of a request file. */
export function submissionOf(
  file: string,
  { cycle, begin, onlyRecorded }: RefreshInput,
  {
    out,
    wait,
    dryRun = false,
    force = false,
  }: { readonly out?: string; readonly wait: boolean; readonly dryRun?: boolean; readonly force?: boolean },
): Submitting {
  return { file, out, wait, force, cycle, dryRun, begin, onlyRecorded };
}
