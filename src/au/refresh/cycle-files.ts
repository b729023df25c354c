// Writes the files of a cycle from its results: results, report, exclusions, next request, and what to do.

import { basename } from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { sha256Of } from '../../base/files/draft.ts';
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
import type { Trend } from '../results/trend.ts';
import { countExclusions, exclusionsFor } from './exclusion-list.ts';
import type { RefreshDirectory } from './refresh-directory.ts';
import { announceStep, noteStep, type RefreshInput, withOption } from './refresh-input.ts';
import type { RefreshRow } from './refresh-row.ts';
import { type Todo, writeTodo } from './todo.ts';

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
  /** The hash of everything that decides about the files: results, request and actions. */
  readonly #inputHash: string;

  constructor(context: Context, directory: RefreshDirectory, input: RefreshInput, results: FileResults) {
    this.#context = context;
    this.#directory = directory;
    this.#input = input;
    this.#results = results;
    this.#actions = actionsOf(context, input.action);
    const actions = [...this.#actions].toSorted(([one], [other]) => (one < other ? -1 : 1));
    this.#inputHash = sha256Of(JSON.stringify([results.sha256, results.fileJobs.file.check.sha256, actions]));
  }

  get #rows(): number {
    return this.#results.fileJobs.file.check.rows;
  }

  /** The record of the files that an earlier command made from the same input. */
  get #made() {
    const { made } = this.#directory.record;
    return made?.of === this.#inputHash ? made : undefined;
  }

  /** Writes the files and prints the row. @throws SvcError the first problem, after all files were written */
  async write(print: (concluded: Concluded) => Promise<void>): Promise<void> {
    const counted = await this.#count();
    const { results: counts, trend } = counted;
    await this.#writeResults();
    await this.#report(trend);
    const met = thresholdError(() => checkThreshold(counted, this.#input.failOn));
    const isAllowed = this.#input.failOn !== undefined && met === undefined;
    // If most rows have the same error code, the code may be wrong. Then no token is added to the list, which is permanent.
    const isDoubtful = !isAllowed && dominanceWarning(counts.codes, this.#rows, this.#tenant) !== undefined;
    const threshold = isDoubtful ? this.#oneErrorCode(met) : met;
    const isNextWanted = this.#input.next && threshold === undefined;
    const unlisted = isDoubtful ? undefined : await this.#errorOf(() => this.#exclude(isNextWanted));
    const { record } = this.#directory;
    const sql = this.#sql();
    const todo = await writeTodo(this.#context, this.#directory, this.#results, { actions: this.#actions, sql });
    const changed = todo.changed.length > 0 ? changedFiles(todo.changed, this.#input.again) : undefined;
    const [failure, ...others] = [threshold, unlisted, changed].filter((error) => error !== undefined);
    for (const other of others) warnOf(this.#context, `cycle ${this.#directory.cycle}`, other);
    if (!isDoubtful && unlisted === undefined && changed === undefined) record.finished = true;
    this.#directory.save();
    await print(this.#concluded(counts, todo));
    if (!todo.changed.includes(todo.replace)) this.#noteTodo(todo);
    if (failure !== undefined) throw failure;
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
    const { results, report } = this.#directory;
    const [changed] = await this.#directory.put([[results, this.#results.file]]);
    if (changed === undefined) return;
    this.#directory.requireOwn([results]);
    // Without the other files of these results, the changed file stops the command. Otherwise it only gets a warning.
    if (!this.#made || !this.#directory.has(report))
      throw changedFiles([results], this.#input.again, { file: results });
    this.#context.notices.warn(
      `${results} was changed after the refresh wrote it, and stays as it is: the counts are of the results themselves. Move it away, and the refresh writes it again`,
    );
  }

  async #report(trend: Trend | undefined): Promise<void> {
    const { report: page, results, request, record, cycle } = this.#directory;
    if (this.#made && this.#directory.has(page))
      return noteStep(this.#context, this.#input, 'report', `done before: ${page}`);
    const actions = actionWords(this.#input.action);
    const words = ['au', 'report', results, '--request', request, '--html', page, ...actions];
    announceStep(this.#context, this.#input, 'report', words);
    const begun = this.#results.fileJobs.cycle.entries.find((entry) => entry.kind === 'claim');
    const html = await openSpool(this.#context);
    const reportData = await makeReport(this.#context, {
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
    requireReconciled(reportData);
    const changed = await this.#directory.put([[page, html]]);
    this.#directory.requireOwn([page]);
    if (changed.length > 0) throw changedFiles(changed, this.#input.again);
    record.made = { of: this.#inputHash };
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

  /** Adds the closed accounts to the list of exclusions and, if it is wanted, writes the next request. */
  async #exclude(isWanted: boolean): Promise<void> {
    const { next: file, keep } = this.#directory;
    const { exclusions: choice } = this.#input;
    const isOwn = this.#directory.has(file) && this.#directory.written(file) !== undefined;
    const { next_rows: rows, left_out: leftOut } = this.#made ?? {};
    if (isWanted && isOwn && rows !== undefined)
      return noteStep(this.#context, this.#input, 'next', `done before: ${countText(rows, 'row')} in ${file}`);
    if (!isWanted && isOwn && rows === undefined)
      this.#context.notices.warn(
        `${file} is of earlier rows or results of the cycle; --next writes it again once the command ends with 0`,
      );
    if (!isWanted && leftOut !== undefined) return;
    if (choice === undefined) await exclusionsFor(this.#context, this.#directory, this.#input);
    if (!isWanted) return void (await this.#addExclusions());
    const kept = this.#directory.has(keep) ? keep : undefined;
    this.#directory.requireOwn([file, ...(kept === undefined ? [] : [keepFileOf(file)])]);
    this.#announceNext([...option('--keep', kept), ...option('--out', file)]);
    const out = await openSpool(this.#context);
    const nextRequest = await this.#addExclusions({ out, keep: kept });
    const ofKept = kept === undefined ? [] : [[keepFileOf(file), keepFileOf(out)] as const];
    const changed = await this.#directory.put([...ofKept, [file, out]]);
    if (changed.length > 0) throw changedFiles(changed, this.#input.again);
    this.#directory.record.made = { of: this.#inputHash, left_out: nextRequest.left_out, next_rows: nextRequest.rows };
  }

  /** Adds the closed accounts to the list of exclusions. With `out`, writes the next request there. */
  async #addExclusions(next: { readonly out?: string; readonly keep?: string | undefined } = {}) {
    const { exclusions, record, request, cycle } = this.#directory;
    const {
      rows,
      groups,
      excluded_before: before,
    } = await writeNextRequest(this.#context, {
      request,
      results: this.#results.file,
      out: next.out,
      excluded: undefined,
      exclusions,
      listed: await this.#listedBefore(),
      keep: next.keep,
      cycle,
      actions: this.#actions,
      force: true,
      isCounted: true,
    });
    record.made = { of: this.#inputHash, left_out: groups.exclude + before };
    const hashes = await Promise.all(this.#results.jobs.map(({ file }) => hashFile(file)));
    record.listed = { results: hashes, actions: Object.fromEntries(this.#actions) };
    record.excluded = await countExclusions(this.#context, exclusions);
    return { rows, left_out: groups.exclude + before };
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

  #announceNext(options: readonly string[]): void {
    const { request, results, exclusions } = this.#directory;
    // A refresh writes the next request whatever the share of rows to fix, which its own --fail-on limits.
    const words = ['au', 'next', request, results, '--exclusions', exclusions, ...options, '--fail-on', 'err=100%'];
    announceStep(this.#context, this.#input, 'next', [...words, ...actionWords(this.#input.action)]);
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

  /** Runs a step whose failure does not stop the other steps. Returns its error. */
  async #errorOf(step: () => Promise<void>): Promise<SvcError | undefined> {
    try {
      await step();
      return undefined;
    } catch (error) {
      if (isSvcError(error, 'config', 'usage')) return error;
      throw error;
    }
  }

  #concluded({ updated, warned, errors, unknown, unchanged }: Results, { newTokens, replace }: Todo): Concluded {
    const { results, report, next, exclusions } = this.#directory;
    const nextRows = (this.#directory.has(next) ? this.#made?.next_rows : undefined) ?? null;
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
      excluded: this.#made?.left_out ?? null,
      exclusions: this.#directory.has(exclusions) ? exclusions : null,
    };
  }

  /** Notes what to do: the file with new tokens, the other files, and the rows that the next cycle leaves out. */
  #noteTodo({ newTokens, expired, replace, update, others }: Todo): void {
    const { notices } = this.#context;
    const { exclusions, todo } = this.#directory;
    const past = expired === 0 ? '' : ` (${formatNumber(expired)} already expired)`;
    const sql = newTokens === 0 ? '' : `, and as SQL in ${basename(update)} beside it`;
    notices.note(`${countText(newTokens, 'new token')}${past}: ${replace}${sql}`);
    const counts = others.map(({ group, rows }) => `${formatNumber(rows)} in ${group}.csv`);
    if (counts.length > 0) notices.note(`to do in ${todo}: ${counts.join(', ')}`);
    const { left_out: excluded = 0, next_rows: nextRows } = this.#made ?? {};
    if (excluded > 0 && nextRows === undefined)
      notices.note(`next cycle: leaves out ${countText(excluded, 'row')} of this one, listed in ${exclusions}`);
  }
}

/** Returns the error for files that were not replaced because somebody changed them. */
function changedFiles(files: readonly string[], again: readonly string[], facts: object = { files }): SvcError {
  const [was, it] = files.length === 1 ? ['was', 'it'] : ['were', 'them'];
  return new SvcError('config', `${files.join(', ')} ${was} changed after the refresh wrote ${it}`, {
    hint: `svc does not replace ${it}. Move ${it} away, and run the same command again, which writes ${it} again:`,
    next: again,
    facts: { ...facts },
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
