import { type ErrorCode, isSvcError, SvcError } from '../../base/errors.ts';
import { isHeld } from '../../base/files/lock.ts';
import type { Context } from '../../cli/app/command.ts';
import { CONFIRMATIONS, confirmWords } from '../jobs/confirm-options.ts';
import { deliverFile, type FileResults, isPending, pollFile } from '../jobs/file-jobs.ts';
import type { FileJobs } from '../jobs/jobs-of-file.ts';
import { FileSubmission, type Submitting } from '../jobs/submit-file.ts';
import { copyRequestFile } from '../request/open-request-file.ts';
import { openSpool } from '../request/spool-output.ts';
import type { RefreshDirectory, Refreshed, RefreshFiles } from './refresh-directory.ts';
import type { RefreshInput } from './refresh-input.ts';
import { noteTenant, requireTenant } from './refresh-tenant.ts';
import { announceStep } from './step.ts';

/** How far a request came in this command. */
export interface Advanced {
  /** Undefined if nothing was read of its jobs, because another process works on one of them. */
  readonly status: string | undefined;
  /** Its jobs, unless nothing of it was new. */
  readonly found?: FileJobs | undefined;
  readonly results?: FileResults | undefined;
  /** Why it has no results, if its jobs are under way. */
  readonly reason?: SvcError | undefined;
}

/** Takes one request of a cycle from the request file to its results. */
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

  /** Submits the request and gets its results. */
  async advance(): Promise<Advanced> {
    const { cycle } = this.#input;
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
    const submission = new FileSubmission(this.#context, file, submitting);
    const decided = await offeringRefresh(this.#input, submission.decide());
    if (decided.kind === 'nothing new') return { status: 'nothing_new' };
    if (decided.kind !== 'send') {
      this.#context.notices.note('nothing was submitted');
      return { status: undefined };
    }
    noteTenant(this.#directory, submission.tenant);
    let found: FileJobs | undefined;
    try {
      found = await submission.jobs();
      // A request of which nothing was claimed sent nothing, so that nothing is lost with it.
      const onClaim = (): void => this.#noteSubmitted();
      if (found.jobs.length > 0) onClaim();
      await offeringRefresh(this.#input, submission.upload({ onClaim }));
      onClaim();
      found = await submission.jobs();
      return { status: 'completed', found, results: await this.#results(submission, found) };
    } catch (error) {
      // A cycle that may not begin needs the operator's word, and nothing of it is under way.
      if (!isSvcError(error, ...RESUMABLE) || error.facts?.['other_cycle'] !== undefined) throw error;
      const reason = this.#resumable(error);
      if (error.code !== 'pending') throw reason;
      // While another process works on a job, this command has read nothing of it.
      return { status: isHeld(error) ? undefined : 'pending', found, reason };
    }
  }

  #noteSubmitted(): void {
    if (this.#known.submitted) return;
    this.#known.submitted = true;
    this.#directory.save();
  }

  /** Polls the jobs once, or waits for them, and joins their results in a private file. */
  async #results(submission: FileSubmission, found: FileJobs): Promise<FileResults> {
    const { wait, cycle } = this.#input;
    const { request } = this.#files;
    const words = ['au', 'submit', request, '--cycle', cycle, '--wait'];
    announceStep(this.#context, this.#input, 'wait', words);
    const polling = { wait: false, again: words };
    const { reason } = await pollFile(this.#context, found, polling);
    if (reason !== undefined && (!wait || !isPending(reason))) throw reason;
    const to = { out: await openSpool(this.#context), force: true };
    return deliverFile(this.#context, () => submission.jobs(), to, { wait, again: words });
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

/** Returns what is asked of the submission of a request file. Its results go into a private file. */
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
