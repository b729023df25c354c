import { isSvcError, SvcError } from '../../base/errors.ts';
import { isHeld } from '../../base/files/lock.ts';
import type { Context } from '../../cli/app/command.ts';
import { warnOf } from '../../cli/app/hint.ts';
import { openRequestFile } from '../request/open-request-file.ts';
import { requireClearName } from '../job/cycle-name.ts';
import { FileSubmission } from '../jobs/submit-file.ts';
import { worstOf } from '../job/verdict.ts';
import { confirmCycle } from './confirm-cycle.ts';
import { cycleResults, type RequestResults, wholeResults } from './cycle-results.ts';
import { type Concluded, CycleSteps } from './cycle-steps.ts';
import { withOptionsOfEarlier } from './earlier-options.ts';
import { openExport } from './export.ts';
import { reportNewRows } from './new-rows.ts';
import { requireInLedger } from './requests-in-ledger.ts';
import { prepareAside } from './prepare-aside.ts';
import { isChanged, isPrepared, notBegun, placeOf, preparedRequest, submittedRequest } from './prepare-step.ts';
import { EXCLUSIONS, RefreshDirectory } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { requireTenant, TENANT } from './refresh-tenant.ts';
import { requireRealResults } from './rehearsal.ts';
import { requireReplaceable } from './replaceable-files.ts';
import type { PrintRow, RefreshRow } from './refresh-row.ts';
import { type Advanced, offeringRefresh, RequestSteps, submissionOf } from './request-steps.ts';

/**
 * Takes an export through all steps of a cycle. The same command goes on with the step that was not completed. An
 * earlier request of the cycle that is not completed goes on first, without a wait.
 * @throws SvcError of the step that ended it
 */
export async function refreshCycle(context: Context, input: RefreshInput, print: PrintRow): Promise<void> {
  const directory = new RefreshDirectory(context, input.parent, input.cycle);
  requireCycleName(directory);
  await heldAsPending(directory.hold(() => new Refresh(context, directory, input).run(print)));
}

/** One command that goes on with a cycle. */
class Refresh {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  #input: RefreshInput;
  /** The results that this command read, by the place of the request. */
  readonly #results = new Map<number, RequestResults>();

  constructor(context: Context, directory: RefreshDirectory, input: RefreshInput) {
    this.#context = context;
    this.#directory = directory;
    this.#input = input;
  }

  async run(print: PrintRow): Promise<void> {
    this.#input = await requireInLedger(this.#context, this.#directory, this.#input);
    const { export: typed, asksForCycle } = this.#input;
    const isNew = this.#directory.requests.length === 0;
    if (isNew) await requireRealResults(this.#context, this.#input.again);
    const isBegun = this.#directory.requests.some(({ submitted }) => submitted);
    if (asksForCycle && isBegun) await confirmCycle(this.#context, this.#directory);
    const exported = typed === undefined ? undefined : await openExport(this.#context, typed);
    this.#input = await withOptionsOfEarlier(this.#context, this.#directory, exported, this.#input);
    const isOther = isChanged(this.#directory, exported, this.#input);
    const newRows = isOther ? await reportNewRows(this.#context, this.#directory, exported, this.#input) : undefined;
    const place = isOther
      ? await submittedRequest(this.#context, this.#directory, this.#input)
      : await preparedRequest(this.#context, this.#directory, this.#input, exported);
    // Now that the request exists, the next command does not need standard input again.
    this.#input = { ...this.#input, again: this.#input.again.filter((word) => word !== '-') };
    const rows = this.#directory.requests[place]?.rows;
    if (asksForCycle && !isBegun) await this.#confirmNew(rows, isNew);
    await this.#finish(place, newRows, print);
  }

  async #confirmNew(rows: number | undefined, isNew: boolean): Promise<void> {
    try {
      await confirmCycle(this.#context, this.#directory, rows);
    } catch (error) {
      if (isNew && isSvcError(error, 'declined')) this.#directory.forget();
      throw error;
    }
  }

  /** Gets the results of all requests, and writes the files of the cycle unless it is unknown what became of one. */
  async #finish(place: number, newRows: number | undefined, print: PrintRow): Promise<void> {
    const reasons = await this.#finishEarlier(place);
    const steps = new RequestSteps(this.#context, this.#directory, place, this.#input);
    const { status, found, results: own, reason } = await steps.advance();
    if (reason) reasons.push(reason);
    if (found && own) this.#results.set(place, { results: own, cycle: found.cycle });
    const row = (concluded?: Concluded): RefreshRow => {
      const { rows, ...files } = concluded ?? { rows: found?.file.check.rows ?? 0, ...NOTHING_KNOWN };
      return {
        cycle: this.#input.cycle,
        status: status ?? '',
        rows,
        dropped: this.#directory.requests[place]?.dropped ?? null,
        new_rows: newRows ?? null,
        jobs: found?.jobs.map(({ claim }) => claim.job) ?? [],
        request: this.#directory.filesOf(place).request,
        ...files,
      };
    };
    const results = reasons.every(isKnown)
      ? await cycleResults(this.#context, this.#directory, this.#results)
      : undefined;
    let isPrinted = false;
    const printOnce = async (shown: RefreshRow): Promise<void> => {
      isPrinted = true;
      await print(shown);
    };
    if (status !== undefined && results !== undefined) {
      const cycleSteps = new CycleSteps(this.#context, this.#directory, this.#input, results);
      await cycleSteps.finish(row, printOnce).catch(collectIn(reasons));
    }
    // Without results of the cycle, or with a time limit that ended before they were written, the row says what is known.
    const isOver = this.#context.signal.aborted && worstOf(reasons)?.code === 'pending';
    if (status !== undefined && !isPrinted && (results === undefined || isOver)) await print(row());
    const worst = worstOf(reasons);
    if (worst) throw worst;
  }

  /** Goes on with requests that were submitted before and are not completed. Returns why some are not. */
  async #finishEarlier(place: number): Promise<SvcError[]> {
    const reasons: SvcError[] = [];
    for (const [index, known] of this.#directory.requests.entries()) {
      const { export: typed } = known;
      if (index === place || !known.submitted) continue;
      const isReported = known.report_of !== undefined && (await wholeResults(this.#directory)) !== undefined;
      // Results that are joined with new ones are read by job again, because the file of the whole cycle names no job.
      if (isReported && this.#directory.requests[place]?.report_of !== undefined) continue;
      if (!isReported) known.report_of = undefined;
      const { request } = this.#directory.filesOf(index);
      this.#context.notices.note(`going on with ${request} of this cycle, made of ${typed}`);
      const steps = new RequestSteps(this.#context, this.#directory, index, { ...this.#input, wait: false });
      const { found, results, reason } = await steps.advance().catch((error: unknown): Advanced => {
        if (!isSvcError(error) || isSvcError(error, 'declined') || this.#context.signal.aborted) throw error;
        return { status: undefined, reason: error };
      });
      if (found && results) this.#results.set(index, { results, cycle: found.cycle });
      if (reason === undefined) continue;
      warnOf(this.#context, request, reason);
      if (!isReported) reasons.push(reason);
    }
    return reasons;
  }
}

const NOTHING_KNOWN = {
  results: null,
  updated: null,
  warned: null,
  errors: null,
  unchanged: null,
  report: null,
  new_tokens: null,
  replace: null,
  next: null,
  next_rows: null,
  excluded: null,
  exclusions: null,
} as const;

/** Tells whether it is known what became of a request without results. Files of a cycle in doubt are not written. */
function isKnown({ code }: SvcError): boolean {
  return code === 'pending' || code === 'job_failed';
}

/** Adds an error to others, the worst of which ends the command. */
function collectIn(reasons: SvcError[]): (error: unknown) => void {
  return (error) => {
    if (!isSvcError(error)) throw error;
    // The service had said before that the job is under way, so that the exit code is that of pending.
    const isOver = error.code === 'timeout' && reasons.some(({ code }) => code === 'pending');
    if (!isOver) reasons.push(error);
  };
}

/** Shows what a refresh would submit. Nothing is written and nothing is sent. */
export async function planRefresh(context: Context, planned: RefreshInput): Promise<void> {
  const directory = new RefreshDirectory(context, planned.parent, planned.cycle);
  requireCycleName(directory);
  directory.read();
  const { export: typed } = planned;
  const checked = await requireInLedger(context, directory, planned);
  const exported = typed === undefined ? undefined : await openExport(context, typed);
  const input = await withOptionsOfEarlier(context, directory, exported, checked);
  if (isChanged(directory, exported, input)) {
    await reportNewRows(context, directory, exported, input, true);
    context.notices.note('dry run: nothing was sent');
    return;
  }
  const place = placeOf(directory, exported, input);
  const { request } = directory.filesOf(place);
  const known = directory.requests[place];
  let path: string | undefined;
  if (!known) directory.requireFree(place, input.next);
  if (!isPrepared(known, exported, input)) {
    if (typed === undefined) throw notBegun(directory, input);
    await requireReplaceable(directory, place, input);
    path = await prepareAside(context, directory, typed, exported, input, true);
  }
  const file = await openRequestFile(context, request, path);
  const checkTenant = (tenant: string): Promise<void> => requireTenant(context, directory, tenant, input.again);
  const submitting = { ...submissionOf(request, input, { dryRun: true }), checkTenant };
  const decided = await offeringRefresh(input, new FileSubmission(context, file, submitting).decide());
  if (decided.kind === 'nothing new') context.notices.note('dry run: no row is new, so nothing would be submitted');
}

/**
 * Checks that a cycle may have its name, before its directory is made: beside the directories of the cycles are files of the
 * refresh. @throws SvcError `usage`
 */
function requireCycleName(directory: RefreshDirectory): void {
  const { cycle, parent, record } = directory;
  if ([TENANT, EXCLUSIONS, `.${EXCLUSIONS}.lock`].includes(cycle))
    throw new SvcError('usage', `no cycle can have the name ${cycle}, which is that of a file of svc in ${parent}`, {
      hint: 'Nothing was submitted. Choose another name, such as 2026-12.',
    });
  if (!directory.has(record)) requireClearName(cycle);
}

/** Returns `pending` for a directory in which another process works. */
async function heldAsPending(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw isHeld(error) ? error.with({ code: 'pending' }) : error;
  }
}
