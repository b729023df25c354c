// `svc au refresh`: takes an export through all steps of a cycle.

import { resumable } from '../job/resumable.ts';
import { tenantOfSandbox } from '../job/tenant-of-key.ts';
import { outlast } from '../job/wait.ts';
import { type FileJobs, type FileResults, deliverFile, pollFile } from '../jobs/file-jobs.ts';
import { CONFIRMATIONS, confirmWords } from '../jobs/options.ts';
import { RowClaims } from '../jobs/row-claims.ts';
import { FileSubmission } from '../jobs/submit-file.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import { requireClearName } from '../ledger/cycle-names.ts';
import { formOf } from '../prepare/export-head.ts';
import { formWords, readExportWords, withEarlierOptions } from '../prepare/prepare-options.ts';
import { type Concluded, CycleFiles } from './cycle-files.ts';
import { reportCorrectedRows } from './corrected-rows.ts';
import {
  type CycleRequest,
  type Export,
  type PreparedExport,
  addExport,
  hasExport,
  notBegunError,
  openExport,
  prepareRequest,
  requireNewDirectory,
  standingRequest,
} from './cycle-request.ts';
import { EXCLUSIONS, RefreshDirectory, TENANT, openCyclesIn } from './refresh-directory.ts';
import { type RefreshInput, announceStep, withoutInput } from './refresh-input.ts';
import type { PrintRow, RefreshRow } from './refresh-row.ts';
import { requireRealResults } from './rehearsal.ts';
import { type RequestFile, openRequestFile } from '../request/open-request-file.ts';
import { openSpool } from '../request/spool.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { heldAsPending, isHeld } from '../../base/files/lock.ts';
import type { Context } from '../../cli/app/command.ts';
import { shellWords } from '../../cli/app/hint.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { requireYes } from '../../cli/output/prompt.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import { fileSource } from '../../client/transfer/source.ts';

/**
 * Takes an export through all steps of a cycle: prepare, submit, wait, and write the files of the results. Run again, it
 * continues with the first incomplete step. A dry run sends and writes nothing.
 * @throws SvcError of the step that failed
 */
export async function refreshCycle(context: Context, input: RefreshInput, print: PrintRow): Promise<void> {
  const directory = new RefreshDirectory(context, input.parent, input.cycle);
  requireCycleName(directory);
  const refresh = new Refresh(context, directory, input);
  if (!input.dryRun) {
    const again = (): readonly string[] | undefined => (refresh.isConfirmed ? refresh.again : undefined);
    const hasBegun = (): boolean => refresh.isConfirmed && directory.isBegun;
    return heldAsPending(directory.hold(() => resumable(again, { cycle: input.cycle }, refresh.run(print), hasBegun)));
  }
  directory.read();
  return refresh.run(print);
}

/** One run of the command. */
class Refresh {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  #input: RefreshInput;
  /** Whether the operator named or confirmed the cycle: until then, no message may name a command that pays without asking. */
  isConfirmed: boolean;
  /** The jobs with rows of the request, once they were read from the ledger. */
  #jobs: FileJobs | undefined;

  constructor(context: Context, directory: RefreshDirectory, input: RefreshInput) {
    this.#context = context;
    this.#directory = directory;
    this.#input = input;
    this.isConfirmed = !input.asksForCycle;
  }

  /** The command that continues the cycle. */
  get again(): readonly string[] {
    return this.#input.again;
  }

  async run(print: PrintRow): Promise<void> {
    const { export: typed, cycle, asksForCycle, dryRun } = this.#input;
    await this.#requireInLedger();
    const { isBegun, next } = this.#directory;
    // A next request that was written once follows the results of its cycle.
    if (this.#directory.has(next) && (this.#directory.written(next) ?? []).length > 0) this.#wantNext();
    if (!isBegun && !dryRun) await requireRealResults(this.#context, this.#input.again);
    if (asksForCycle && isBegun && !dryRun) await this.#confirmCycle(`Go on with cycle ${cycle} (UTC)?`);
    const exported = typed === undefined ? undefined : await openExport(this.#context, typed);
    await this.#readAsBefore(exported);
    if (!isBegun && exported === undefined) throw notBegunError(this.#directory, this.#input);
    if (!isBegun) await requireNewDirectory(this.#directory, this.#input);
    const isOther = isBegun && !hasExport(this.#directory, exported, this.#input);
    const isSent = !isBegun || this.#input.add;
    const prepared =
      isBegun && !isOther
        ? undefined
        : await prepareRequest(this.#context, this.#directory, this.#input, { exported, isSent });
    const isCounted = prepared !== undefined && !isSent;
    const newRows = isCounted ? await this.#countNewRows(exported, prepared.request) : null;
    if (typed !== undefined && exported === undefined)
      this.#context.notices.note(`${typed} is gone: its request was prepared before`);
    const request = await this.#requestOf(exported, prepared, isSent);
    if (isOther && prepared !== undefined)
      await reportCorrectedRows(this.#context, this.#directory, this.#input, {
        request: request.request,
        prepared: prepared.request,
      });
    if (isCounted && dryRun) return this.#context.notices.note('dry run: nothing was sent');
    const file = await openRequestFile(this.#context, this.#directory.request, request.request);
    if (asksForCycle && !isBegun && !dryRun)
      await this.#confirmCycle(`Begin cycle ${cycle} (UTC) with ${countText(file.check.rows, 'row')}?`);
    await this.#submit(request, file, newRows, print);
  }

  /** Writes the next request too, as if `--next` was typed. */
  #wantNext(): void {
    if (!this.#input.next) this.#input = { ...this.#input, next: true, again: [...this.#input.again, '--next'] };
  }

  /** Returns the request of the cycle: that of the export which begins it, or the earlier one with the rows to add. */
  async #requestOf(
    exported: Export | undefined,
    prepared: PreparedExport | undefined,
    isSent: boolean,
  ): Promise<CycleRequest> {
    const standing = [this.#context, this.#directory, this.#input] as const;
    if (!isSent || prepared === undefined) return standingRequest(...standing, { exported, prepared });
    return this.#directory.isBegun ? addExport(...standing, prepared) : prepared;
  }

  /**
   * Checks that this machine's own ledger has the submitted request: a state directory may be lost or restored. From then on,
   * unknown jobs stop the upload, as they always do with a shared ledger.
   * @throws SvcError `outcome_unknown` if the ledger lacks claims of the request, `config` after a reset of the sandbox
   */
  async #requireInLedger(): Promise<void> {
    const { cycle, isBegun, request, record, recordFile, path } = this.#directory;
    const ledger = new CommandLedger(this.#context, { onlyReads: true });
    if (ledger.isShared || !isBegun) return;
    const { tenant } = this.#directory;
    const isHere = record.claimed === (await this.#directory.hash(request));
    const file = isHere ? this.#directory.resolve(request) : undefined;
    this.#input = { ...this.#input, onlyRecorded: true };
    if (record.claimed === undefined) return;
    const lacking =
      tenant === undefined ? undefined : await new RowClaims(ledger).countLacking(tenant, cycle, record.claimed, file);
    if (lacking === 0) return;
    // A reset of the sandbox deletes its ledger, too.
    const now =
      serviceOf(this.#context) === 'sandbox' ? await tenantOfSandbox(await this.#context.client()) : undefined;
    if (now !== undefined) this.#directory.requireTenant(now, this.#input.again);
    throw new SvcError(
      'outcome_unknown',
      `outcome unknown: ${recordFile} says that rows of ${request} were submitted, and the ledger lacks ${lacking === undefined ? 'some' : formatNumber(lacking)} of them; nothing was submitted now`,
      {
        hint: `Restore the state directory that has the ledger, or name it with SVC_STATE_DIR. If it is lost, see which jobs the service has; only if you accept that rows are billed again, move ${path} away and run the same command.`,
        next: ['au', 'jobs'],
        retryable: false,
        facts: { file: recordFile, request },
      },
    );
  }

  /**
   * Asks whether the month's cycle, which the operator did not name, is the right one. --yes does not confirm it: a script at the
   * turn of the month would begin and pay for a new cycle unasked.
   * @throws SvcError `declined`
   */
  async #confirmCycle(question: string): Promise<void> {
    const prompts = this.#context.prompts();
    const answer = await prompts.promptText(`${question} [y/N]`, `Name it: --cycle ${this.#input.cycle}.`);
    requireYes(answer, 'nothing was submitted; --cycle names another cycle');
    this.isConfirmed = true;
  }

  /** Adds the options and answers with which the newest export of the same form, with the same header, was read. */
  async #readAsBefore(exported: Export | undefined): Promise<void> {
    if (exported === undefined) return;
    for (const { cycle, exports } of this.#directory.recordsOfCycles())
      for (const { form, options: words } of exports.toReversed()) {
        if (form === undefined) continue;
        const earlier = readExportWords(words);
        if ((await formOf((await fileSource(exported.path)).open(), earlier)) !== form) continue;
        const how = withEarlierOptions(this.#input.how, earlier);
        const options = formWords(how);
        if (options.join('\0') !== this.#input.options.join('\0'))
          this.#context.notices.note(`read as in cycle ${cycle}: ${shellWords(options, this.#context.system)}`);
        this.#input = { ...this.#input, how, options };
        return;
      }
  }

  /**
   * Counts the rows of a changed export, prepared in a private file, that the cycle lacks, and notes how to send them; null if the
   * tenant is not known. They are sent only with --add: an export that changes every few hours would otherwise begin a job each
   * time.
   */
  async #countNewRows(exported: Export | undefined, prepared: string): Promise<number | null> {
    const { export: typed = '', cycle } = this.#input;
    const { notices } = this.#context;
    const file = await openRequestFile(this.#context, typed, prepared);
    const rows = await this.#submissionOf(file, typed).countNewRows();
    const isSame = this.#directory.record.exports.some(({ sha256 }) => sha256 === exported?.sha256);
    const change = isSame ? `${typed} is read with other options than before` : `${typed} has changed`;
    if (rows === undefined) notices.note(`${change}; without a tenant it is not known how many of its rows are new`);
    else if (rows === 0)
      notices.note(`${change}, and cycle ${cycle} has all of its rows${isSame ? ': its files stay as they are' : ''}`);
    else
      notices.note(
        `${countText(rows, 'row')} of ${typed} ${rows === 1 ? 'is' : 'are'} new in cycle ${cycle}: --add submits ${rows === 1 ? 'it' : 'them'}`,
      );
    return rows ?? null;
  }

  #submissionOf(file: RequestFile, typed = this.#directory.request): FileSubmission {
    const { cycle, confirmed, onlyRecorded, how, dryRun, again } = this.#input;
    return new FileSubmission(this.#context, file, {
      file: typed,
      out: undefined,
      wait: false,
      outlasts: this.#input.wait && !dryRun,
      force: false,
      cycle,
      dryRun,
      onlyRecorded,
      accept: how.accept ?? [],
      isPrepared: true,
      namesColumns: how.columnNames !== undefined,
      confirmed,
      checkTenant: (tenant) => this.#directory.requireTenant(tenant, again),
    });
  }

  /** Sends the free rows, gets the results of all rows and writes the files of the cycle. */
  async #submit(request: CycleRequest, file: RequestFile, newRows: number | null, print: PrintRow): Promise<void> {
    const { cycle, confirmed, onlyRecorded, dryRun } = this.#input;
    const words = ['au', 'submit', this.#directory.request, '--cycle', cycle];
    const recorded = onlyRecorded ? ['--only-recorded'] : [];
    announceStep(this.#context, this.#input, 'submit', [...words, ...confirmWords(confirmed), ...recorded]);
    const submission = this.#submissionOf(file);
    const decided = await this.#offeringRefresh(submission.decide());
    if (dryRun) {
      if (decided.kind === 'nothing new')
        this.#context.notices.note('dry run: no row is new, so nothing would be submitted');
      return;
    }
    const rowOf = (
      status: string,
      { rows, ...files }: Concluded = { rows: file.check.rows, ...NO_RESULTS },
    ): RefreshRow => ({
      cycle,
      status,
      rows,
      dropped: this.#directory.record.dropped ?? null,
      new_rows: newRows,
      jobs: this.#jobs?.jobs.map(({ claim }) => claim.job) ?? [],
      request: this.#directory.request,
      ...files,
    });
    if (decided.kind === 'nothing new') {
      await this.#send(request, file, submission);
      this.#directory.record.finished = true;
      this.#directory.save();
      return print(rowOf('nothing_new'));
    }
    let results: FileResults;
    try {
      await this.#send(request, file, submission);
      results = await this.#resultsOf(submission, [...words, '--wait']);
    } catch (error) {
      // Another cycle or a job outside the ledger may have these rows: nothing was sent, and the operator may confirm them.
      if (!isSvcError(error, 'pending') || error.commands.some(confirmationOf)) throw error;
      // Another process works on a job, so this command has read no status.
      if (!isHeld(error)) await print(rowOf('pending'));
      const hint = error.hint ?? 'Run the same command again later; au resume gets the results meanwhile:';
      throw error.with({ hint, next: this.#input.again, alternatives: [['au', 'resume']] });
    }
    const files = new CycleFiles(this.#context, this.#directory, this.#input, results);
    await files.write((concluded) => print(rowOf('completed', concluded)));
  }

  /**
   * Sends the free rows. The request is recorded before the first claim, and that it was claimed between the claim and the upload:
   * after a crash at any moment, a ledger without the claim is one that was lost, or nothing was sent.
   */
  async #send(request: CycleRequest, file: RequestFile, submission: FileSubmission): Promise<void> {
    const { record } = this.#directory;
    const { sha256 } = file.check;
    const onClaimed = (): void => {
      record.claimed = sha256;
      this.#directory.save();
    };
    this.#jobs = await submission.jobs();
    // An earlier command may have died between its claim and the upload, which is finished now.
    if (this.#jobs.jobs.some(({ claim }) => claim.file.sha256 === sha256)) onClaimed();
    const beforeClaim = (): Promise<void> => this.#record(request, file, submission);
    await this.#offeringRefresh(submission.upload({ beforeClaim, onClaimed }));
    await this.#record(request, file, submission);
    this.#jobs = await submission.jobs();
  }

  /** Writes the request to the directory of the cycle, and records its exports. */
  async #record(
    { request, keep, added }: CycleRequest,
    { check }: RequestFile,
    { tenant }: FileSubmission,
  ): Promise<void> {
    const directory = this.#directory;
    const { record } = directory;
    const isNew = directory.written(directory.request)?.at(-1) !== check.sha256 || added !== undefined;
    if (isNew) record.finished = undefined;
    const isKept = keep !== undefined && keep !== directory.resolve(directory.keep);
    await directory.put([...(isKept ? [[directory.keep, keep] as const] : []), [directory.request, request]]);
    // Later exports replace the kept columns even if the operator edited them, because their columns are carried over.
    if (isKept) directory.noteReplaceable(directory.keep);
    const { exported } = added ?? {};
    if (exported) {
      const isOther = ({ sha256, options }: typeof exported): boolean =>
        sha256 !== exported.sha256 || options.join('\0') !== exported.options.join('\0');
      record.exports = [...record.exports.filter(isOther), exported];
      record.dropped = added?.dropped;
      record.excluded = added?.excluded ?? record.excluded;
    }
    const joined = (record.requests ?? []).slice(1).flatMap((each) => [each.request, each.keep]);
    record.requests = undefined;
    directory.noteTenant(tenant);
    directory.save();
    if (joined.length > 0)
      this.#context.notices.note(
        `${directory.request} has the rows of all exports now; an earlier svc wrote a file for each, which nothing reads any more: ${joined.join(', ')}`,
      );
    // The request is stored, so the same command no longer needs standard input.
    this.#input = { ...this.#input, again: withoutInput(this.#input.again) };
  }

  /** Polls the jobs once, or waits for them, and joins their results in a private file. */
  async #resultsOf(submission: FileSubmission, again: readonly string[]): Promise<FileResults> {
    const { wait } = this.#input;
    announceStep(this.#context, this.#input, 'wait', again);
    const fileJobs = await submission.jobs();
    const poll = () => pollFile(this.#context, fileJobs, { wait: false, again });
    const { reason } = await outlast(this.#context, wait, poll);
    if (reason !== undefined && (!wait || !isSvcError(reason, 'pending'))) throw reason;
    const destination = { out: await openSpool(this.#context), force: true };
    const delivered = await this.#delivered();
    return deliverFile(this.#context, () => submission.jobs(), destination, { wait, again, delivered });
  }

  /** Returns the results file of the cycle, for jobs that the service has forgotten; undefined if somebody changed it. */
  async #delivered(): Promise<string | undefined> {
    const { results } = this.#directory;
    return (await this.#directory.isUnchanged(results)) ? this.#directory.resolve(results) : undefined;
  }

  /** Replaces the suggested `au submit` commands of an error with `au refresh` commands. */
  async #offeringRefresh<T>(work: Promise<T>): Promise<T> {
    const { again } = this.#input;
    try {
      return await work;
    } catch (error) {
      if (!isSvcError(error) || !error.commands.some(confirmationOf)) throw error;
      const other = error.facts?.['other_cycle'];
      const goOn = typeof other === 'string' ? again.with(again.indexOf('--cycle') + 1, other) : again;
      const { next, alternatives } = error;
      // The refresh also makes the files of a cycle that it began.
      const isRead =
        typeof other === 'string' &&
        next?.[1] === 'resume' &&
        openCyclesIn(this.#context, this.#input.parent).includes(other);
      const ofRefresh = (words: readonly string[]): readonly string[] => {
        const confirmation = confirmationOf(words);
        if (confirmation !== undefined) return [...again, ...confirmation];
        return words[1] === 'submit' ? goOn : words;
      };
      throw error.with({
        next: isRead ? this.#withoutExport(goOn) : next && ofRefresh(next),
        alternatives: alternatives.map(ofRefresh),
      });
    }
  }

  /** Returns a command without the export and its rows, which only gets the results of what was sent. */
  #withoutExport(words: readonly string[]): readonly string[] {
    const { export: typed } = this.#input;
    return words.toSpliced(2, typed === undefined ? 0 : 1).filter((word) => word !== '--add' && word !== '--dry-run');
  }
}

/** The members of a row without results. */
const NO_RESULTS = {
  results: null,
  updated: null,
  warned: null,
  errors: null,
  unknown: null,
  unchanged: null,
  report: null,
  new_tokens: null,
  replace: null,
  next: null,
  next_rows: null,
  excluded: null,
  exclusions: null,
} as const;

/** Returns the confirmation at the end of a command; undefined without one. */
function confirmationOf(words: readonly string[]): readonly string[] | undefined {
  return CONFIRMATIONS.find((end) => end.every((word, at) => words.at(at - end.length) === word));
}

/** Checks that a cycle does not have the name of a file in the directory of all cycles. @throws SvcError `usage` */
function requireCycleName(directory: RefreshDirectory): void {
  const { cycle, parent, recordFile } = directory;
  if ([TENANT, EXCLUSIONS].includes(cycle))
    throw new SvcError('usage', `no cycle can have the name ${cycle}, which is that of a file of svc in ${parent}`, {
      hint: 'Nothing was submitted. Choose another name, such as 2026-12.',
    });
  if (!directory.has(recordFile)) requireClearName(cycle);
}
