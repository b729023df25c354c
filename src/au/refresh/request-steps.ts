import { type ErrorCode, isSvcError, SvcError } from '../../base/errors.ts';
import { isHeld } from '../../base/files/lock.ts';
import type { Context } from '../../cli/app/command.ts';
import { copyRequestFile } from '../request/open-request-file.ts';
import { keptResultsOf } from '../results/merge.ts';
import { advanceRun } from '../wait/advance-run.ts';
import { finishRun } from '../wait/deliver.ts';
import { isOpen } from '../run/record.ts';
import { jobsOf } from '../run/recorded-runs.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { shownStatus } from '../run/run-view.ts';
import { CONFIRMATIONS, confirmWords } from '../send/confirm-options.ts';
import { FileSubmission, type Submitting } from '../send/submit-file.ts';
import { requireJoinedFiles } from '../send/upload-run.ts';
import { holdRun } from '../run/verdict.ts';
import type { RefreshDirectory, Refreshed, RefreshFiles } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { noteTenant, requireTenant } from './refresh-tenant.ts';
import { announceStep, noteStep } from './step.ts';

/** How far a request came in this command. */
export interface Advanced {
  /** Undefined if nothing was read of its jobs, because another process works on the run. */
  readonly status: string | undefined;
  /** Its run, unless nothing of it was new. */
  readonly run?: RunDirectory | undefined;
  /** Why it has no results, if its jobs are under way. */
  readonly reason?: SvcError | undefined;
}

/** Takes one request of a cycle from the request file to its results, which its run keeps. */
export class RequestSteps {
  readonly #context: Context;
  readonly #directory: RefreshDirectory;
  readonly #input: RefreshInput;
  readonly #known: Refreshed;
  readonly #files: RefreshFiles;

  constructor(context: Context, directory: RefreshDirectory, place: number, input: RefreshInput) {
    const known = directory.requests[place];
    if (known === undefined) throw new SvcError('bug', 'a request was to be submitted before it was prepared');
    this.#context = context;
    this.#directory = directory;
    this.#input = input;
    this.#known = known;
    this.#files = directory.filesOf(place);
  }

  /** Submits the request and gets its results. `onRun` gets its run as soon as it is known. */
  async advance(onRun: (run: RunDirectory) => void = () => undefined): Promise<Advanced> {
    const { wait, cycle } = this.#input;
    const { request } = this.#files;
    announceStep(this.#context, this.#input, 'submit', [
      'au',
      'submit',
      request,
      '--cycle',
      cycle,
      ...confirmWords(this.#input.confirmed),
      ...(this.#input.onlyRecorded ? ['--only-recorded'] : []),
    ]);
    const file = await copyRequestFile(this.#context, request);
    const checkTenant = (tenant: string): Promise<void> =>
      requireTenant(this.#context, this.#directory, tenant, this.#input.again);
    const submitting = { ...submissionOf(request, this.#input), checkTenant };
    const decided = await offeringRefresh(this.#input, new FileSubmission(this.#context, file, submitting).decide());
    if (decided.kind === 'nothing new') return { status: 'nothing_new' };
    if (decided.kind !== 'send') {
      this.#context.notices.note('nothing was submitted');
      return { status: undefined };
    }
    const { run, submission } = decided;
    onRun(run);
    try {
      await holdRun(this.#context, run, async () => {
        noteTenant(this.#directory, run.record.tenant_id);
        submission.take(run, keptResultsOf(run));
        // A run that never claimed rows sent nothing, so that nothing is lost with it.
        const onClaim = (): void => this.#noteRun(run);
        if (jobsOf(run.record).length > 0) onClaim();
        await offeringRefresh(this.#input, submission.upload(run, { pollOnce: !wait, onClaim }));
        onClaim();
        await this.#wait(run);
      });
    } catch (error) {
      // A cycle that may not begin needs the operator's word, and nothing of it is under way.
      if (!isSvcError(error, ...RESUMABLE) || error.facts?.['other_cycle'] !== undefined) throw error;
      const reason = this.#resumable(error);
      if (error.code !== 'pending') throw reason;
      // While another process works on the run, this command has read nothing of its jobs.
      return { status: isHeld(error) ? undefined : 'pending', run, reason };
    }
    return { status: shownStatus(run.record), run };
  }

  #noteRun({ name }: RunDirectory): void {
    if (this.#known.run === name) return;
    this.#known.run = name;
    this.#directory.save();
  }

  async #wait(run: RunDirectory): Promise<void> {
    const wasOpen = isOpen(run.record);
    const isToPoll = wasOpen && !this.#input.wait;
    if (wasOpen)
      announceStep(this.#context, this.#input, 'wait', ['au', 'resume', run.name, ...(isToPoll ? [] : ['--wait'])]);
    if (isToPoll) return advanceRun(this.#context, run);
    await requireJoinedFiles(this.#context, run);
    await finishRun(this.#context, run, { out: keptResultsOf(run), force: true }, { wait: this.#input.wait });
    if (!wasOpen) noteStep(this.#context, this.#input, 'wait', `done before: ${run.name} has the results`);
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
}

/** Errors that leave a refresh which the same command goes on with. */
const RESUMABLE: readonly ErrorCode[] = ['pending', 'timeout', 'interrupted', 'terminated', 'hangup'];

/** Returns what is asked of the submission of a request file. Its results go into the directory of its run. */
export function submissionOf(
  file: string,
  { cycle, confirmed, onlyRecorded, how }: RefreshInput,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Submitting {
  const accepted = { accept: how.accept ?? [], isPrepared: true, confirmed };
  return { file, out: undefined, wait: false, force: false, cycle, dryRun, onlyRecorded, ...accepted };
}

/** Replaces the commands that submit the request with what they confirm, or in another cycle, by those of the refresh. */
export async function offeringRefresh<T>({ again, cycle }: RefreshInput, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error) || !error.commands.some(confirmationOf)) throw error;
    const other = error.facts?.['other_cycle'];
    const goOn = again.map((word) => (word === cycle && typeof other === 'string' ? other : word));
    const ofRefresh = (words: readonly string[]): readonly string[] => {
      const confirmation = confirmationOf(words);
      if (confirmation !== undefined) return [...again, ...confirmation];
      return words[1] === 'submit' ? goOn : words;
    };
    const { next, alternatives } = error;
    throw error.with({ next: next && ofRefresh(next), alternatives: alternatives.map(ofRefresh) });
  }
}

/** Returns the words at the end of a command that confirm something; undefined without any. */
function confirmationOf(words: readonly string[]): readonly string[] | undefined {
  return CONFIRMATIONS.find((end) => end.every((word, at) => words.at(at - end.length) === word));
}
