import fs from 'node:fs';
import { isSvcError, SvcError, type ErrorCode } from '../../base/errors.ts';
import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { nextCommand, option, warnOf } from '../../cli/app/hint.ts';
import { isDrawn } from '../../cli/app/print.ts';
import type { Summarize } from '../../cli/app/summary.ts';
import { resolvePath } from '../../cli/app/typed-path.ts';
import type { ChosenStep } from '../../cli/config/values.ts';
import { countText } from '../../cli/output/time.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';
import { copyInput, copyRequestFile, openRequestFile } from '../request/open-request-file.ts';
import { prepareExport } from '../request/prepare-export.ts';
import type { RejectLimit } from '../request/prepare-options.ts';
import type { PrepareOptions } from '../request/prepare.ts';
import { actionsOf } from '../results/action-option.ts';
import { finishRun, openSpool } from '../results/deliver.ts';
import type { Threshold } from '../results/fail-on.ts';
import { makeReport, requireReconciled } from '../results/make-report.ts';
import { checkThreshold, countedResults, drawResults, noteOddities, type Results } from '../results/submission.ts';
import { requireFewToFix, writeNextRequest } from '../results/write-next-request.ts';
import { advanceRun } from '../run/advance-run.ts';
import { describeRun, summaryTitle } from '../run/describe-run.ts';
import { RunFinder } from '../run/find-run.ts';
import { isOpen, type RunRecord } from '../run/record.ts';
import { recordedRun } from '../run/recorded-runs.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { filesOfRun } from '../run/run-files.ts';
import { shownStatus } from '../run/run-view.ts';
import { decideSubmission, uploadSubmitted } from '../run/submit-file.ts';
import { holdRun, worstOf } from '../run/verdict.ts';
import { RefreshDirectory, type Refreshed, type RefreshFiles } from './refresh-directory.ts';

/** What the operator asked for. */
export interface RefreshInput {
  /** The export as typed. */
  readonly export: string;
  readonly cycle: string;
  /** The directory of all cycles, as typed. */
  readonly parent: string;
  readonly how: PrepareOptions;
  /** The options of `how`, as words. */
  readonly options: readonly string[];
  readonly maxRejects: RejectLimit | undefined;
  /** Whether to wait until the jobs are done. Otherwise they are polled once. */
  readonly wait: boolean;
  /** Whether to leave out rows that another run of the cycle has, even a run that was not begun by a refresh. */
  readonly onlyNew: boolean;
  readonly failOn: Threshold | undefined;
  readonly action: readonly ChosenStep[];
  readonly noUnrecordedJobs: boolean;
  readonly otherJob: readonly string[];
  /** This command line, as words after `svc`. */
  readonly again: readonly string[];
  readonly summarize: Summarize;
}

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

type Print = (row: RefreshRow) => Promise<void>;

const STEPS = ['prepare', 'submit', 'wait', 'report', 'next'] as const;

/**
 * Takes an export through all steps of a cycle. The same command goes on with the step that was not completed. An
 * earlier request of the cycle that is not completed goes on first, without a wait.
 * @throws SvcError of the step that ended it
 */
export async function refreshCycle(context: Context, input: RefreshInput, print: Print): Promise<void> {
  const directory = new RefreshDirectory(context, input.parent, input.cycle);
  const work = async (): Promise<void> => {
    const place = await preparedRequest(context, directory, input);
    const behind = await finishEarlier(context, directory, place, input);
    await new Request(context, directory, place, input).finish(print);
    if (behind) throw behind;
  };
  await heldAsPending(directory.hold(work));
}

/** Shows what a refresh would submit. Nothing is written and nothing is sent. */
export async function planRefresh(context: Context, input: RefreshInput): Promise<void> {
  const directory = new RefreshDirectory(context, input.parent, input.cycle);
  directory.read();
  const exported = await openExport(context, input.export);
  const place = placeOf(directory, exported, input);
  const { request } = directory.filesOf(place);
  const known = directory.requests[place];
  let path: string | undefined;
  if (!known) directory.requireFree(place);
  if (!isPrepared(known, exported, input)) {
    path = await openSpool(context);
    await prepareExport(context, input.export, {
      ...(await preparation(directory, input)),
      names: { request: path, rejects: input.maxRejects && (await openSpool(context)) },
      path: exported?.path,
      force: true,
      words: wordsOf(input),
    });
  }
  const file = await openRequestFile(context, request, path);
  const finder = finderOf(context, file, { ...input, onlyNew: isOnlyNew(directory, place, input) }, true);
  const decided = await decideSubmission(context, finder, {
    file: request,
    out: undefined,
    wait: false,
    force: false,
    cycle: input.cycle,
    dryRun: true,
  });
  if (decided.kind === 'nothing new') context.notices.note('dry run: no row is new, so nothing would be submitted');
}

/** Returns `pending` for a directory in which another process works. */
async function heldAsPending(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isSvcError(error, 'config') || error.facts?.['held_by'] === undefined) throw error;
    const { message, hint, facts, retryable } = error;
    throw new SvcError('pending', message, { hint, facts, retryable });
  }
}

interface Export {
  readonly path: string;
  readonly sha256: string;
}

/** Reads the export. Returns undefined if there is no such file. */
async function openExport(context: Context, typed: string): Promise<Export | undefined> {
  const path = typed === '-' ? await copyInput(context) : resolvePath(context, typed);
  if (!fs.existsSync(path)) return undefined;
  return { path, sha256: await hashFile(path) };
}

/** Finds the place of the export among the requests of the cycle. */
function placeOf(directory: RefreshDirectory, exported: Export | undefined, input: RefreshInput): number {
  const { requests } = directory;
  const last = requests.length - 1;
  if (exported === undefined) return Math.max(last, 0);
  const known = requests.findIndex((request) => isPrepared(request, exported, input));
  if (known !== -1) return known;
  // A request that was never submitted gives its place to the export as it is now.
  return requests.length > 0 && requests[last]?.run === undefined ? last : requests.length;
}

/** Tells whether a request was made of this export, read in the same way. A deleted export counts as unchanged. */
function isPrepared(request: Refreshed | undefined, exported: Export | undefined, { options }: RefreshInput): boolean {
  if (request === undefined) return false;
  if (exported === undefined) return true;
  return request.export_sha256 === exported.sha256 && request.options.join('\0') === options.join('\0');
}

function wordsOf({ export: name, cycle }: RefreshInput): string[] {
  return ['au', 'refresh', name, '--cycle', cycle];
}

async function preparation(directory: RefreshDirectory, { how, maxRejects }: RefreshInput) {
  return { how, maxRejects, exclusions: directory.has(directory.exclusions) ? directory.exclusions : undefined };
}

/** Makes the request file of the export, unless an earlier command did. Returns its place in the cycle. */
async function preparedRequest(context: Context, directory: RefreshDirectory, input: RefreshInput): Promise<number> {
  const exported = await openExport(context, input.export);
  const place = placeOf(directory, exported, input);
  const files = directory.filesOf(place);
  const known = directory.requests[place];
  if (known && isPrepared(known, exported, input)) {
    if (exported === undefined) context.notices.note(`${input.export} is gone: its request was prepared before`);
    await requireRequest(context, directory, known, files);
    say(context, 'prepare', `done before: ${countText(known.rows, 'row')} in ${files.request}`);
    return place;
  }
  // A file that does not exist is reported as for any other command.
  await fileSource(exported?.path ?? resolvePath(context, input.export));
  if (known) await requireUnchanged(directory, known, files);
  else directory.requireFree(place);
  const { how, maxRejects, exclusions } = await preparation(directory, input);
  const keep = how.keep === undefined || how.keep.length === 0 ? undefined : files.keep;
  const rejects = maxRejects && files.rejects;
  step(context, 'prepare', [
    'au',
    'prepare',
    input.export,
    ...input.options,
    ...option('--exclusions', exclusions),
    ...option('--rejects', rejects),
    ...option('--out', files.request),
  ]);
  await prepareExport(context, input.export, {
    names: { request: files.request, keep, rejects },
    how,
    exclusions,
    maxRejects,
    force: true,
    path: exported?.path,
    words: wordsOf(input),
    onWhole: (request, { rows }) =>
      directory.put(place, {
        export: input.export,
        export_sha256: exported?.sha256 ?? '',
        options: [...input.options],
        request_sha256: request.sha256,
        rows,
        run: undefined,
        own: [],
      }),
  });
  return place;
}

/** Checks that a prepared request file is still there, or restores it from the copy that its run keeps. */
async function requireRequest(
  context: Context,
  directory: RefreshDirectory,
  known: Refreshed,
  files: RefreshFiles,
): Promise<void> {
  if (directory.has(files.request)) return requireUnchanged(directory, known, files);
  const run = known.run === undefined ? undefined : await recordedRun(context, known.run);
  const copy = run?.requestFile;
  if (copy !== undefined && (await hashFile(copy)) === known.request_sha256) {
    const source = await fileSource(copy);
    await writeWhole(resolvePath(context, files.request), false, async (draft) => {
      for await (const piece of source.open()) await draft.write(piece);
    });
    context.notices.note(`${files.request} was restored from the copy that ${known.run} keeps`);
    return;
  }
  throw new SvcError('local', `${files.request} is gone`, {
    hint: known.run === undefined ? 'Bring back the export, then run the same command again.' : 'Go on with its run:',
    next: known.run === undefined ? undefined : ['au', 'resume', known.run, '--wait', '--out', files.results],
    facts: { file: files.request, run: known.run },
  });
}

/** @throws SvcError `config` if somebody changed the request file after it was prepared */
async function requireUnchanged(
  directory: RefreshDirectory,
  known: Refreshed,
  { request }: RefreshFiles,
): Promise<void> {
  if (!directory.has(request) || (await directory.hash(request)) === known.request_sha256) return;
  throw new SvcError('config', `${request} was changed after it was prepared`, {
    hint: 'Nothing was submitted now. Move the file away to go on without the changes, or submit it by itself:',
    next: ['au', 'submit', request, '--cycle', directory.cycle],
    facts: { file: request },
  });
}

/** Tells whether only rows that no other run of the cycle has are submitted. Changed exports share most of their rows. */
function isOnlyNew({ requests }: RefreshDirectory, place: number, { onlyNew }: RefreshInput): boolean {
  return onlyNew || requests.some(({ run }, index) => index !== place && run !== undefined);
}

function finderOf(
  context: Context,
  file: ConstructorParameters<typeof RunFinder>[2],
  { cycle, onlyNew, noUnrecordedJobs, otherJob }: RefreshInput,
  dryRun = false,
): RunFinder {
  const others = { again: false, also: false, adopt: undefined, runDir: undefined, tenant: undefined };
  return new RunFinder(context, { ...others, cycle, onlyNew, noUnrecordedJobs, otherJob, dryRun }, file);
}

/** Goes on with requests that were submitted before and are not completed. Returns the worst reason why one is not. */
async function finishEarlier(
  context: Context,
  directory: RefreshDirectory,
  place: number,
  input: RefreshInput,
): Promise<SvcError | undefined> {
  const errors: SvcError[] = [];
  for (const [index, { run, next, export: typed }] of directory.requests.entries()) {
    if (index === place || run === undefined || next !== undefined) continue;
    const { request } = directory.filesOf(index);
    context.notices.note(`going on with ${request} of this cycle, made of ${typed}`);
    try {
      await new Request(context, directory, index, { ...input, wait: false }).finish(async () => undefined);
    } catch (error) {
      if (!isSvcError(error) || context.signal.aborted) throw error;
      errors.push(error);
      warnOf(context, request, error);
    }
  }
  return worstOf(errors);
}

/** One request of a cycle on its way from the request file to the next one. */
class Request {
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

  async finish(print: Print): Promise<void> {
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
  async #submit(onRun: (run: RunDirectory) => void, print: Print): Promise<RunRecord | undefined> {
    const { wait, cycle } = this.#input;
    const { request, results: out } = this.#files;
    step(this.#context, 'submit', [
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
      if (error.code === 'pending') await print(this.#row('pending', run.record));
      throw this.#resumable(error);
    }
    if (decided.choice.run !== undefined) await finder.reportLeftOut(run);
    return run.record;
  }

  async #wait(run: RunDirectory): Promise<void> {
    const { results: out } = this.#files;
    const wasOpen = isOpen(run.record);
    const isToPoll = wasOpen && !this.#input.wait;
    if (wasOpen) step(this.#context, 'wait', isToPoll ? ['au', 'sync'] : ['au', 'wait', run.name]);
    if (isToPoll) return advanceRun(this.#context, run);
    await finishRun(this.#context, run, { out, force: false });
    if (!wasOpen) say(this.#context, 'wait', `done before: the results are in ${out}`);
    await noteOddities(this.#context, run.record, await this.#count(run.record));
  }

  /** Writes the report and the next request, once each, and ends with the first threshold that was met. */
  async #conclude(record: RunRecord, print: Print): Promise<void> {
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
      return say(this.#context, 'report', `done before: ${page}`);
    const name = known.run ?? record.id;
    step(this.#context, 'report', ['au', 'report', '--run', name, '--html', page]);
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
      return say(this.#context, 'next', `done before: ${countText(known.next.rows, 'row')} in ${out}`);
    const name = known.run ?? record.id;
    const keep = this.#directory.has(kept) ? kept : undefined;
    step(this.#context, 'next', [
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

/** Announces a step with the command that does it alone. */
function step(context: Context, name: (typeof STEPS)[number], words: readonly string[]): void {
  say(context, name, '');
  context.notices.command(nextCommand(words, context.globals, context.system));
}

function say({ notices }: Context, name: (typeof STEPS)[number], what: string): void {
  const title = `step ${STEPS.indexOf(name) + 1} of ${STEPS.length}, ${name}:`;
  notices.note(what === '' ? title : `${title} ${what}`);
}
