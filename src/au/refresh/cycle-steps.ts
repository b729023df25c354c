import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { option, warnOf } from '../../cli/app/hint.ts';
import { isDrawn } from '../../cli/app/print.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { fileSource } from '../../client/transfer/source.ts';
import { writeNextRequest } from '../next/write-next-request.ts';
import type { Actions } from '../result-codes.ts';
import { actionsOf, actionWords } from '../results/action-option.ts';
import { keepFileOf } from '../results/kept-columns.ts';
import { repeatedResults } from '../results/token-rows.ts';
import { makeReport, requireReconciled } from '../results/make-report.ts';
import type { PageSubject } from '../results/report-page.ts';
import { dominanceWarning } from '../results/report-view.ts';
import { checkThreshold, countedFile, drawResults, type Results } from '../results/submission.ts';
import type { Trend } from '../results/trend.ts';
import { tenantOf, trendOfFile } from '../jobs/file-jobs.ts';
import { cycleRequest, type CycleRequest } from './cycle-request.ts';
import type { CycleResults } from './cycle-results.ts';
import { sqlFor } from './earlier-options.ts';
import { exclusionsFor, notedExclusions } from './exclusion-list.ts';
import { openRequests } from './open-cycles.ts';
import type { Made, RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import type { PrintRow, RefreshRow } from './refresh-row.ts';
import { announceStep, noteStep } from './step.ts';
import { type Todo, writeTodo } from './todo.ts';

/** The counts of the results of a cycle. */
export type CycleCounts = Results & { readonly rows: number };

/** The members of the printed row that the results of the cycle give. */
export type Concluded = Pick<
  RefreshRow,
  | 'rows'
  | 'results'
  | 'updated'
  | 'warned'
  | 'errors'
  | 'unchanged'
  | 'report'
  | 'new_tokens'
  | 'replace'
  | 'next'
  | 'next_rows'
  | 'excluded'
  | 'exclusions'
>;

/**
 * Writes the files of a cycle from the results of all its requests. Each step is done once for the same results, and the
 * record says before the first one that files are being written, so that a later command goes on after a kill.
 */
export class CycleSteps {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  readonly #input: RefreshInput;
  readonly #results: CycleResults;
  readonly #actions: Actions;
  #request: CycleRequest | undefined;

  constructor(context: Context, directory: RefreshDirectory, input: RefreshInput, results: CycleResults) {
    this.#context = context;
    this.#directory = directory;
    this.#input = input;
    this.#results = results;
    this.#actions = actionsOf(context, input.action);
  }

  /** Writes the files and prints the row. Ends with the first thing that is wrong. */
  async finish(rowOf: (concluded: Concluded) => RefreshRow, print: PrintRow): Promise<void> {
    const counts = await this.#count();
    await this.#writeResults();
    await this.#report(counts);
    const threshold = met(() => checkThreshold(counts, counts.rows, this.#input.failOn)) ?? this.#oneError(counts);
    const problem = threshold ?? (await this.#unless(() => this.#exclude()));
    const todo = await this.#writeTodo(counts);
    const changed = todo.changed.length > 0 ? changedTodo(todo.changed, this.#input.again) : undefined;
    if (problem && changed) warnOf(this.#context, `cycle ${this.#directory.cycle}`, changed);
    const failure = problem ?? changed;
    if (failure === undefined || failure === threshold) this.#end();
    await print(rowOf(this.#concluded(counts, todo)));
    if (!todo.changed.includes(todo.replace)) await this.#noteTodo(todo);
    if (failure !== undefined) throw failure;
  }

  async #writeTodo({ rows }: CycleCounts): Promise<Todo> {
    const { steps } = this.#directory;
    const sql = sqlFor(this.#context, this.#directory, this.#input.sql);
    const isWritten = this.#isOfThese(steps.todo) && steps.todo.sql === sql;
    const todo = await writeTodo(this.#context, this.#directory, this.#results, {
      actions: this.#actions,
      sql,
      isWritten,
    });
    if (isWritten || todo.changed.length > 0) return todo;
    steps.todo = { ...this.#made(rows), sql };
    this.#directory.save();
    return todo;
  }

  async #count(): Promise<CycleCounts> {
    const { path: file, sha256, bytes } = this.#results;
    const { rows } = await this.#rows();
    const { notices, clock } = this.#context;
    const showing = { notices, clock, name: this.#directory.results };
    const counted = await countedFile({ file, sha256, bytes }, rows, this.#actions, showing);
    const counts = { ...counted, file: this.#directory.results, compared: true, rows };
    const trend = await this.#trend(counts);
    const warning = dominanceWarning(counts.codes, rows, this.#tenant);
    for (const odd of [warning, trend?.jump]) if (odd !== undefined) notices.warn(odd);
    if (trend && !isDrawn(this.#context)) notices.note(trend.text);
    const codes = this.#input.verbose ? counts.codes : [];
    if (isDrawn(this.#context)) await drawResults(this.#context, rows, { ...counts, codes }, trend);
    return counts;
  }

  get #tenant(): string | undefined {
    const { cycle } = this.#results;
    return cycle && tenantOf(this.#context, cycle);
  }

  async #trend(counts: CycleCounts): Promise<Trend | undefined> {
    const { cycle } = this.#results;
    return cycle && trendOfFile(this.#context, { cycle }, counts, counts.rows);
  }

  /** Returns the number of rows that the results are of. */
  async #rows(): Promise<{ readonly rows: number }> {
    const { reported } = this.#directory.steps;
    return this.#isOfThese(reported) ? reported : this.#wholeRequest();
  }

  /** Tells whether something was made of these results, of these requests and with these actions. */
  #isOfThese<T extends Made>(made: T | undefined): made is T {
    return made?.results_sha256 === this.#results.sha256 && made.inputs_sha256 === this.#inputs;
  }

  /** Returns the record of what is made now, of these results. */
  #made(rows: number): Made {
    return { results_sha256: this.#results.sha256, inputs_sha256: this.#inputs, rows };
  }

  /** The hash of what decides about the files beside the results: rows of a request without an update change no result. */
  get #inputs(): string {
    const requests = this.#places.map((place) => this.#directory.requests[place]?.request_sha256);
    const actions = [...this.#actions].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return createHash('sha256')
      .update(JSON.stringify([requests, actions]))
      .digest('hex');
  }

  async #wholeRequest(): Promise<CycleRequest> {
    return (this.#request ??= await cycleRequest(this.#context, this.#directory, this.#places));
  }

  get #places(): readonly number[] {
    return [...this.#results.of.keys()].toSorted((a, b) => a - b);
  }

  /** Puts the results into place. The record names the hashes before and after, so that a crash makes no foreign file. */
  async #writeResults(): Promise<void> {
    const directory = this.#directory;
    const { sha256, path, of } = this.#results;
    const { results: file, requests, steps } = directory;
    const here = directory.has(file) ? await directory.hash(file) : undefined;
    const isNoted = [...of].every(([place, own]) => requests[place]?.report_of === own);
    const isDone = isNoted && this.#isOfThese(steps.reported) && this.#isOfThese(steps.excluded);
    if (here === sha256 && isDone) return;
    const isOwn = here === undefined || here === sha256 || [...directory.written(file), ...of.values()].includes(here);
    // Without newer results, nothing but this file would be written.
    if (!isOwn && isDone && directory.has(directory.report))
      return this.#context.notices.warn(
        `${file} was changed after the refresh wrote it, and stays as it is: the counts are of the results themselves. Move it away, and the refresh writes it again`,
      );
    if (!isOwn) throw directory.written(file).length > 0 ? this.#changedResults() : directory.foreign(file);
    directory.noteWritten(file, [...directory.written(file), sha256]);
    steps.writing = true;
    directory.save();
    if (here !== sha256)
      await writeWhole(directory.resolve(file), true, async (draft) => {
        for await (const piece of (await fileSource(path)).open()) await draft.write(piece);
      });
    directory.noteWritten(file, [sha256]);
    for (const [place, own] of of) {
      const request = requests[place];
      if (request) request.report_of = own;
    }
    directory.save();
  }

  #changedResults(): SvcError {
    const { results } = this.#directory;
    return new SvcError('config', `${results} was changed after the refresh wrote it`, {
      hint: 'The files of the cycle were left as they are. Move the changed file away, and run the same command again:',
      next: this.#input.again,
      facts: { file: results },
    });
  }

  async #report(counts: CycleCounts): Promise<void> {
    const { steps, report: page, results } = this.#directory;
    if (this.#isOfThese(steps.reported) && this.#directory.has(page))
      return noteStep(this.#context, this.#input, 'report', `done before: ${page}`);
    const [place = 0] = this.#places;
    const { request } = this.#directory.filesOf(place);
    // No command alone compares results with several requests.
    if (this.#places.length > 1)
      noteStep(this.#context, this.#input, 'report', `of ${this.#places.length} requests: ${page}`);
    else
      announceStep(this.#context, this.#input, 'report', [
        'au',
        'report',
        results,
        '--request',
        request,
        '--html',
        page,
        ...actionWords(this.#input.action),
      ]);
    this.#directory.claim(page);
    const made = await makeReport(this.#context, {
      results,
      request: (await this.#wholeRequest()).path,
      html: page,
      splitInto: undefined,
      keep: undefined,
      action: this.#input.action,
      force: true,
      subject: await this.#subject(counts),
      isCounted: true,
    });
    requireReconciled(made, { mayHaveMore: this.#results.mayHaveMore });
    steps.reported = this.#made(counts.rows);
    this.#directory.save();
  }

  async #subject(counts: CycleCounts): Promise<Omit<PageSubject, 'madeAt'>> {
    const names = this.#places.map((place) =>
      this.#directory.filesOf(place).request.slice(this.#directory.path.length + 1),
    );
    const begun = this.#results.cycle?.entries.find((entry) => entry.kind === 'claim')?.created_at;
    return {
      cycle: this.#directory.cycle,
      submitted: names.length > 1 ? `${countText(names.length, 'request')} (${names.join(', ')})` : names[0],
      tenant: this.#tenant,
      begunAt: begun === undefined ? undefined : Date.parse(begun),
      trend: await this.#trend(counts),
    };
  }

  /** Returns the error for results of which one error code has most rows, unless the operator chose a threshold. */
  #oneError({ codes, rows }: CycleCounts): SvcError | undefined {
    const { failOn, again } = this.#input;
    if (failOn !== undefined || dominanceWarning(codes, rows, this.#tenant) === undefined) return undefined;
    const { cycle, results, todo } = this.#directory;
    return new SvcError('threshold', `most rows of cycle ${cycle} ended in one error code`, {
      hint: `Find out why before the results are used: the report has the code, and ${todo} has the rows. To go on as it is, allow it with --fail-on:`,
      next: ['au', 'report', results],
      alternatives: [[...again, '--fail-on', 'err=100%']],
      facts: { results },
    });
  }

  /** Adds the closed accounts to the list of exclusions and, with `--next`, writes the next request. */
  async #exclude(): Promise<void> {
    const { steps, next: file, exclusions } = this.#directory;
    const hasExcluded = this.#isOfThese(steps.excluded);
    const done = this.#isOfThese(steps.next) && this.#directory.has(file) ? steps.next : undefined;
    const isOpen = openRequests(this.#directory) > 0;
    const out = this.#input.next && !isOpen ? file : undefined;
    if (this.#input.next && isOpen)
      noteStep(this.#context, this.#input, 'next', `${file} is written once no request of the cycle is open`);
    if (out !== undefined && done)
      return noteStep(this.#context, this.#input, 'next', `done before: ${countText(done.rows, 'row')} in ${file}`);
    if (!this.#input.next && steps.next && !this.#isOfThese(steps.next) && this.#directory.has(file))
      this.#context.notices.warn(`${file} is of earlier rows or results of the cycle; --next writes it again`);
    if (out === undefined && hasExcluded) return;
    if (this.#input.exclusions === undefined) await exclusionsFor(this.#context, this.#directory, this.#input);
    const made = await this.#writeNext(out);
    if (out !== undefined) steps.next = this.#made(made.rows);
    steps.excluded = this.#made(made.groups.exclude + made.excluded_before);
    const last = this.#directory.requests.at(-1);
    if (last) Object.assign(last, await notedExclusions(this.#context, exclusions));
    this.#directory.save();
  }

  async #writeNext(out: string | undefined) {
    const { exclusions, cycle, results } = this.#directory;
    const [place = 0] = this.#places;
    const { request, keep: kept } = this.#directory.filesOf(place);
    const isOne = this.#places.length === 1;
    const keep = out !== undefined && isOne && this.#directory.has(kept) ? kept : undefined;
    const words = [
      'au',
      'next',
      request,
      results,
      '--exclusions',
      exclusions,
      ...option('--keep', keep),
      ...option('--out', out),
      ...actionWords(this.#input.action),
    ];
    const whole = (await this.#wholeRequest()).path;
    if (out !== undefined) {
      await this.#announceNext(out, words);
      this.#directory.claim(out);
      if (keep !== undefined) this.#directory.claim(keepFileOf(out));
    }
    return writeNextRequest(this.#context, {
      request: whole,
      results: this.#results.path,
      out,
      excluded: undefined,
      exclusions,
      keep,
      cycle,
      actions: this.#actions,
      force: true,
      mayHaveMore: this.#results.mayHaveMore,
      isCounted: true,
    });
  }

  /** Announces the step that writes the next request, with its command where that alone writes the same file. */
  async #announceNext(out: string, words: readonly string[]): Promise<void> {
    const count = this.#places.length;
    const note = (what: string): void => noteStep(this.#context, this.#input, 'next', `${what}: ${out}`);
    if (count > 1) return note(`of ${count} requests`);
    // `svc au next` takes the results of a token in order, and refuses more results than rows.
    if (this.#results.mayHaveMore && (await repeatedResults(await fileSource(this.#results.path))).size > 0)
      return note(
        "no single command writes it, since some results of another machine's job may be those of other rows",
      );
    announceStep(this.#context, this.#input, 'next', words);
  }

  /** Returns the error of a step after which the others go on. */
  async #unless(step: () => Promise<void>): Promise<SvcError | undefined> {
    try {
      await step();
      return undefined;
    } catch (error) {
      if (isSvcError(error, 'config', 'usage')) return error;
      throw error;
    }
  }

  /** Records that all files are written. */
  #end(): void {
    const { steps } = this.#directory;
    if (!steps.writing) return;
    steps.writing = undefined;
    this.#directory.save();
  }

  #concluded(counts: CycleCounts, { newTokens, replace }: Todo): Concluded {
    const { steps, results, report, next: out, exclusions } = this.#directory;
    const next = this.#isOfThese(steps.next) && this.#directory.has(out) ? steps.next : undefined;
    const excluded = this.#isOfThese(steps.excluded) ? steps.excluded : undefined;
    const { rows, updated, warned, errors, unchanged } = counts;
    return {
      rows,
      results,
      updated,
      warned,
      errors,
      unchanged,
      report,
      new_tokens: newTokens,
      replace,
      next: next === undefined ? null : out,
      next_rows: next?.rows ?? null,
      excluded: excluded?.rows ?? null,
      exclusions: this.#directory.has(exclusions) ? exclusions : null,
    };
  }

  /** Ends with what to do: the file that the month is for, the other files, and what the next cycle leaves out. */
  async #noteTodo({ newTokens, expired, replace, update, others }: Todo): Promise<void> {
    const { notices } = this.#context;
    const { steps, next, exclusions, todo } = this.#directory;
    const open = openRequests(this.#directory);
    const soFar = open === 0 ? '' : `so far, ${countText(open, 'request')} open: `;
    const past = expired === 0 ? '' : ` (${formatNumber(expired)} already expired)`;
    const sql = newTokens === 0 ? '' : `, and as SQL in ${basename(update)} beside it`;
    notices.note(`${soFar}${countText(newTokens, 'new token')}${past}: ${replace}${sql}`);
    const counts = others.map(({ group, rows }) => `${formatNumber(rows)} in ${group}.csv`);
    if (counts.length > 0) notices.note(`to do in ${todo}: ${counts.join(', ')}`);
    const excluded = this.#isOfThese(steps.excluded) ? steps.excluded.rows : 0;
    const isNext = this.#isOfThese(steps.next) && this.#directory.has(next);
    if (excluded > 0 && !isNext)
      notices.note(`next cycle: leaves out ${countText(excluded, 'row')} of this one, listed in ${exclusions}`);
  }
}

/** Returns the error for files with what to do that somebody changed, which are not replaced. */
function changedTodo(files: readonly string[], again: readonly string[]): SvcError {
  const [was, it] = files.length === 1 ? ['was', 'it'] : ['were', 'them'];
  return new SvcError('config', `${files.join(', ')} ${was} changed after the refresh wrote ${it}`, {
    hint: `svc does not replace ${it}. Move ${it} away, and run the same command again, which writes ${it} again:`,
    next: again,
    facts: { files },
  });
}

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
