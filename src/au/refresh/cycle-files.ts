// Writes the files of a cycle from its results: results, report, exclusions, next request, and what to do.

import fs from 'node:fs';
import { basename } from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { option, warnOf } from '../../cli/app/hint.ts';
import { isDrawn } from '../../cli/app/print.ts';
import { tenantText } from '../../cli/app/tenant-mark.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';
import type { FileResults } from '../jobs/file-jobs.ts';
import { creationOf } from '../ledger/claims.ts';
import { writeNextRequest } from '../next/write-next-request.ts';
import { tokenKey } from '../request/row-key.ts';
import { openSpool } from '../request/spool.ts';
import { TokenTable } from '../request/token-table.ts';
import { type Actions, groupOf, readResults } from '../result-codes.ts';
import { actionsOf, actionWords } from '../results/action-option.ts';
import { keepFileOf } from '../results/kept-columns.ts';
import { makeReport, requireReconciled } from '../results/make-report.ts';
import { dominanceWarning } from '../results/report-view.ts';
import { checkThreshold, countCycle, type Counted, drawResults, type Results } from '../results/submission.ts';
import { repeatedResults } from '../results/rows-of-request.ts';
import type { Trend } from '../results/trend.ts';
import { exclusionsFor, noteExclusions } from './exclusion-list.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import { announceStep, noteStep, type RefreshInput, withOption } from './refresh-input.ts';
import type { RefreshRow } from './refresh-row.ts';
import { type Todo, writeTodo } from './todo.ts';

/** What the next request leaves out, and its number of rows if it was written. */
interface LeftOut {
  readonly rows: number;
  readonly nextRows: number | null;
}

/** The members of the printed row that come from the results. */
export type Concluded = Omit<RefreshRow, 'cycle' | 'status' | 'dropped' | 'new_rows' | 'jobs' | 'request'>;

/**
 * The files of a cycle, made from the results of its request. Each command makes all of them again and replaces those that
 * differ. Accounts are added to the list of exclusions only once, because the operator may remove them from it.
 */
export class CycleFiles {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  readonly #input: RefreshInput;
  readonly #results: FileResults;
  readonly #actions: Actions;
  /** Whether a token may have more results than rows, as in jobs of earlier builds. */
  readonly #mayHaveMore: boolean;

  constructor(context: Context, directory: RefreshDirectory, input: RefreshInput, results: FileResults) {
    this.#context = context;
    this.#directory = directory;
    this.#input = input;
    this.#results = results;
    this.#actions = actionsOf(context, input.action);
    this.#mayHaveMore = results.jobs.some(({ claim }) => claim.keys !== 2);
  }

  get #rows(): number {
    return this.#results.fileJobs.file.check.rows;
  }

  /** Writes the files and prints the row. @throws SvcError the first problem, after all files were written */
  async write(print: (concluded: Concluded) => Promise<void>): Promise<void> {
    const counted = await this.#count();
    const { results: counts, trend } = counted;
    await this.#writeResults();
    const report = await this.#writeReport(trend);
    const met = thresholdError(() => checkThreshold(counted, this.#input.failOn));
    const isAllowed = this.#input.failOn !== undefined && met === undefined;
    // If most rows have the same error code, the code may be wrong. Then no token is added to the list, which is permanent.
    const isDoubtful = !isAllowed && dominanceWarning(counts.codes, this.#rows, this.#tenant) !== undefined;
    const threshold = isDoubtful ? this.#oneErrorCode(met) : met;
    const next = this.#input.next && threshold === undefined ? await openSpool(this.#context) : undefined;
    const [left, unlisted] = isDoubtful ? [] : await this.#leaveOut(next);
    const sql = this.#sql();
    const todo = await writeTodo(this.#context, this.#directory, this.#results, { actions: this.#actions, sql });
    const nextFiles = left && next ? this.#nextFiles(next) : [];
    const changed = await this.#directory.put([[this.#directory.report, report], ...nextFiles, ...todo.files]);
    const edited = changed.length > 0 ? changedFiles(changed, this.#input.again) : undefined;
    const [failure, ...others] = [threshold, unlisted, edited].filter((error) => error !== undefined);
    for (const other of others) warnOf(this.#context, `cycle ${this.#directory.cycle}`, other);
    if (!isDoubtful && unlisted === undefined && edited === undefined) this.#directory.record.finished = true;
    this.#directory.save();
    const isNextMade = nextFiles.length > 0 && !changed.includes(this.#directory.next);
    if (!isNextMade && !changed.includes(this.#directory.next)) this.#noteOldNext();
    await print(this.#concluded(counts, todo, left && { ...left, nextRows: isNextMade ? left.nextRows : null }));
    if (!changed.includes(todo.replace)) this.#noteTodo(todo, left);
    if (failure !== undefined) throw failure;
  }

  /** The next request with its kept columns, as files to put into the directory. */
  #nextFiles(written: string): readonly (readonly [name: string, source: string | undefined])[] {
    const kept = keepFileOf(written);
    return [
      [keepFileOf(this.#directory.next), fs.existsSync(kept) ? kept : undefined],
      [this.#directory.next, written],
    ];
  }

  #noteOldNext(): void {
    const { next } = this.#directory;
    if (!this.#directory.has(next) || this.#directory.written(next) === undefined) return;
    this.#context.notices.warn(
      `${next} was not written now, and may be of earlier rows or results of the cycle; --next writes it once the command ends with 0`,
    );
  }

  async #count(): Promise<Counted> {
    const counting = { rows: this.#rows, actions: this.#actions, name: this.#directory.results };
    const counted = await countCycle(this.#context, this.#results.fileJobs.cycle, this.#results, counting);
    const { results, trend } = counted;
    const codes = this.#input.verbose ? results.codes : [];
    if (isDrawn(this.#context)) await drawResults(this.#context, this.#rows, { ...results, codes }, trend);
    return counted;
  }

  get #tenant(): string {
    return tenantText(this.#context, this.#results.fileJobs.cycle.tenant);
  }

  async #writeResults(): Promise<void> {
    const changed = await this.#directory.put([[this.#directory.results, this.#results.file]]);
    if (changed.length > 0) throw changedFiles(changed, this.#input.again);
  }

  /** Makes the report in a private file, and returns its path. */
  async #writeReport(trend: Trend | undefined): Promise<string> {
    const { report: page, results, request, cycle } = this.#directory;
    const actions = actionWords(this.#input.action);
    const words = ['au', 'report', results, '--request', request, '--html', page, ...actions];
    announceStep(this.#context, this.#input, 'report', words);
    const begun = this.#results.fileJobs.cycle.entries.find((entry) => entry.kind === 'claim');
    const html = await openSpool(this.#context);
    const report = await makeReport(this.#context, {
      results,
      request,
      html,
      splitInto: undefined,
      keep: undefined,
      action: this.#input.action,
      force: true,
      subject: {
        cycle,
        submitted: basename(request),
        tenant: this.#tenant,
        begunAt: begun && creationOf(begun),
        trend,
      },
      isCounted: true,
    });
    requireReconciled(report, { mayHaveMore: this.#mayHaveMore });
    return html;
  }

  /** Returns the error for a cycle whose rows mostly have the same error code. `met` is the error of `--fail-on`. */
  #oneErrorCode(met: SvcError | undefined): SvcError {
    const { cycle, results, todo, exclusions } = this.#directory;
    const most = `most rows of cycle ${cycle} ended in one error code`;
    const details = {
      hint: `Find out why before the results are used: the report has the code, and ${todo} has the rows; ${exclusions} has none of them yet. To go on as it is, allow it with --fail-on:`,
      next: ['au', 'report', results],
      alternatives: [withOption(this.#input.again, '--fail-on', 'err=100%')],
      facts: { results },
    };
    return (
      met?.with({ ...details, message: `${met.message}, and ${most}` }) ?? new SvcError('threshold', most, details)
    );
  }

  /**
   * Adds the closed accounts to the list of exclusions and, if it is wanted, writes the next request to a private file. Returns the
   * counts, or the error that does not stop the other steps.
   */
  async #leaveOut(next: string | undefined): Promise<readonly [LeftOut] | readonly [undefined, SvcError]> {
    try {
      return [await this.#writeNext(next)];
    } catch (error) {
      if (isSvcError(error, 'config', 'usage')) return [undefined, error];
      throw error;
    }
  }

  async #writeNext(out: string | undefined): Promise<LeftOut> {
    const { exclusions, record, request, next, cycle } = this.#directory;
    if (this.#input.exclusions === undefined) await exclusionsFor(this.#context, this.#directory, this.#input);
    const keep = out !== undefined && this.#directory.has(this.#directory.keep) ? this.#directory.keep : undefined;
    if (out !== undefined) await this.#announceNext([...option('--keep', keep), ...option('--out', next)]);
    const {
      rows,
      groups,
      excluded_before: before,
    } = await writeNextRequest(this.#context, {
      request,
      results: this.#results.file,
      out,
      excluded: undefined,
      exclusions,
      listed: await this.#listedBefore(),
      keep,
      cycle,
      actions: this.#actions,
      force: true,
      mayHaveMore: this.#mayHaveMore,
      isCounted: true,
    });
    const hashes = await Promise.all(this.#results.jobs.map(({ file }) => hashFile(file)));
    record.listed = { results: hashes, actions: Object.fromEntries(this.#actions) };
    await noteExclusions(this.#context, this.#directory);
    return { rows: groups.exclude + before, nextRows: out === undefined ? null : rows };
  }

  /** Returns the tokens that an earlier command added to the list of exclusions, which may have lost them since. */
  async #listedBefore(): Promise<TokenTable> {
    const { exclusions, record } = this.#directory;
    const listed = new TokenTable({ hasValues: false });
    if (!this.#directory.has(exclusions)) return listed;
    const actions: Actions = new Map(Object.entries(record.listed?.actions ?? {}));
    for (const { file } of this.#results.jobs) {
      if (record.listed?.results.includes(await hashFile(file)) !== true) continue;
      for await (const rows of readResults((await fileSource(file)).open()))
        for (const { token, result_code: code, new_token: newToken } of rows)
          if (groupOf(code, newToken !== '', actions) === 'exclude') listed.setIfAbsent(tokenKey(token), 1);
    }
    return listed;
  }

  /** Announces the step that writes the next request, with its command if one command alone can do it. */
  async #announceNext(options: readonly string[]): Promise<void> {
    const { request, results, exclusions } = this.#directory;
    // A refresh writes the next request whatever the share of rows to fix, which its own --fail-on limits.
    const words = ['au', 'next', request, results, '--exclusions', exclusions, ...options, '--fail-on', 'err=100%'];
    // `svc au next` takes the results of a token in order, and refuses more results than rows.
    if (!this.#mayHaveMore || (await repeatedResults(await fileSource(this.#results.file))).size === 0)
      return announceStep(this.#context, this.#input, 'next', [...words, ...actionWords(this.#input.action)]);
    const what = "no single command writes it, since some results of another machine's job may be those of other rows";
    noteStep(this.#context, this.#input, 'next', `${what}: ${this.#directory.next}`);
  }

  /** Returns the typed database, or that of the last cycle, and records it for later commands. */
  #sql() {
    const { sql: typed } = this.#input;
    const { record } = this.#directory;
    const earlier = this.#directory.recordsOfCycles().find(({ sql }) => sql !== undefined);
    const sql = typed ?? earlier?.sql ?? 'postgres';
    if (typed === undefined && earlier !== undefined && sql !== 'postgres')
      this.#context.notices.note(`update.sql is for ${sql}, as in cycle ${earlier.cycle}`);
    record.sql = sql;
    return sql;
  }

  #concluded(
    { updated, warned, errors, unknown, unchanged }: Results,
    { newTokens, replace }: Todo,
    left: LeftOut | undefined,
  ): Concluded {
    const { results, report, next, exclusions } = this.#directory;
    const nextRows = left?.nextRows ?? null;
    return {
      rows: this.#rows,
      results,
      updated,
      warned,
      errors,
      unknown,
      unchanged,
      report,
      new_tokens: newTokens,
      replace,
      next: nextRows === null ? null : next,
      next_rows: nextRows,
      excluded: left?.rows ?? null,
      exclusions: this.#directory.has(exclusions) ? exclusions : null,
    };
  }

  /** Notes what to do: the file with new tokens, the other files, and the rows that the next cycle leaves out. */
  #noteTodo({ newTokens, replace, update, others }: Todo, left: LeftOut | undefined): void {
    const { notices } = this.#context;
    const { exclusions, todo } = this.#directory;
    const sql = newTokens === 0 ? '' : `, and as SQL in ${basename(update)} beside it`;
    notices.note(`${countText(newTokens, 'new token')}: ${replace}${sql}`);
    const counts = others.map(({ group, rows }) => `${formatNumber(rows)} in ${group}.csv`);
    if (counts.length > 0) notices.note(`to do in ${todo}: ${counts.join(', ')}`);
    if (left !== undefined && left.rows > 0 && left.nextRows === null)
      notices.note(`next cycle: leaves out ${countText(left.rows, 'row')} of this one, listed in ${exclusions}`);
  }
}

/** Returns the error for files that were not replaced because somebody changed or wrote them. */
function changedFiles(files: readonly string[], again: readonly string[]): SvcError {
  const [is, it] = files.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return new SvcError('config', `${files.join(', ')} ${is} not as the refresh wrote ${it}`, {
    hint: `svc does not replace ${it}. Move ${it} away, and run the same command again, which writes ${it} again:`,
    next: again,
    facts: { files },
  });
}

/** Runs a check, and returns its `threshold` error; undefined if it passed. */
function thresholdError(check: () => void): SvcError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (isSvcError(error, 'threshold')) return error;
    throw error;
  }
}
