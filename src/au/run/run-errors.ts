import { type ErrorDetails, SvcError } from '../../base/errors.ts';
import { countText, isoTime } from '../../cli/output/time.ts';
import { doubtEnd, isForgotten, isMissing, type Part, sentOf } from './part.ts';
import {
  doubtTime,
  isMissingUpload,
  isOfSandbox,
  isUntouched,
  needsFile,
  partNames,
  partsByJob,
  type PartsOfJob,
  progressOf,
  statusOf,
} from './record.ts';
import type { Polled } from './poll-parts.ts';
import type { RunDirectory } from './run-directory.ts';

/** The members of a run that errors refer to. */
export type NamedRun = Pick<RunDirectory, 'record' | 'name' | 'submitWords' | 'resumeWords'> &
  Partial<Pick<RunDirectory, 'requestFile'>>;

export function failedRunError(run: NamedRun): SvcError {
  const { record } = run;
  const failed = partsByJob(record.parts.filter(({ state }) => state === 'failed'));
  const problems = failed.map((parts) => `${partsText(parts)}: ${parts[0].errors?.join('; ') || 'no reason given'}`);
  return new SvcError(
    'job_failed',
    `${failed.length} of ${countText(partsByJob(record.parts).length, 'job')} of run ${record.id} failed`,
    {
      hint: 'Fix what the messages name, then submit the file again: only what failed is sent again.',
      next: sendWords(run),
      facts: { run: record.id, problems, status: statusOf(record) },
    },
  );
}

/** Names the parts of a job, and the job. */
function partsText(parts: PartsOfJob): string {
  return `${partNames(parts)} (job ${parts[0].job})`;
}

/** Returns the command that submits the file of a run again, or the copy of a file that came through a pipe. */
export function sendWords({
  record,
  submitWords,
  requestFile,
}: Pick<NamedRun, 'record' | 'submitWords' | 'requestFile'>): readonly string[] {
  if (record.input.path !== undefined || requestFile === undefined) return submitWords;
  return submitWords.map((word) => (word === '-' ? requestFile : word));
}

/** Returns the error for parts whose files the service may have without having confirmed them. */
export function unknownOutcomeError({ record, name }: NamedRun): SvcError {
  const unknown = partsByJob(record.parts.filter(({ state }) => state === 'unknown'));
  const problems = unknown.map((parts) => `${partsText(parts)}: ${reasonOf(parts[0])}`);
  const ends = unknown.flat().flatMap((part) => doubtEnd(part) ?? []);
  // A doubt that a later poll can end is left to it: its rows are not freed.
  const endless = unknown.filter((parts) => parts.every((part) => doubtEnd(part) === undefined));
  const message = `outcome unknown: the service may have the file of ${problems.join('; of ')}`;
  const facts = { run: record.id, jobs: jobsIn(unknown), problems };
  if (endless.length === 0)
    return new SvcError('outcome_unknown', message, {
      hint: 'Resuming finds the file as soon as its job shows it, or proves that the job was deleted without it and uploads the file. Until then nothing is sent again.',
      next: ['au', 'resume'],
      alternatives: [['au', 'status', name]],
      retryable: true,
      facts: { ...facts, settled_after: isoTime(Math.max(...ends)) },
    });
  return new SvcError('outcome_unknown', message, {
    hint: `Find out what happened: later polls may settle it. ${freeHint(endless.length)} and submit the file again: rows that were processed are then paid for twice.`,
    next: ['au', 'status', name],
    alternatives: [['au', 'jobs'], ...jobsIn(endless).map((job) => ['au', 'abandon', job])],
    retryable: false,
    facts,
  });
}

function jobsIn(ofJobs: readonly PartsOfJob[]): string[] {
  return ofJobs.flatMap(([{ job }]) => job ?? []);
}

/** Says which rows the operator may free, where one command for each of `jobs` jobs is printed last. */
function freeHint(jobs: number): string {
  return jobs === 1
    ? 'Only if the file was not processed, free its rows with the last of these commands'
    : 'Only for jobs whose files were not processed, free their rows with the commands that name them';
}

function reasonOf(part: Part): string {
  const end = doubtEnd(part);
  const settled =
    end === undefined ? '' : `; svc au resume settles it, after ${doubtTime(end)} by the service's clock at the latest`;
  if (part.joined !== undefined) {
    const old = part.unprovable ? ', which proves nothing more than 7 days after its creation' : '';
    const isPending = part.seen === 'pending' && !isMissing(part);
    const said = isPending ? 'the job is still pending' : `the service does not find the job${old}`;
    return `${part.joined.by} was to send it, and ${said}${settled}`;
  }
  if (end !== undefined) return `all of it was sent, and no response said that it was stored${settled}`;
  if (part.missing_since === undefined) return 'all of it was sent, and the job is still pending';
  const stored = sentOf(part) === 'stored' ? 'it was stored' : 'all of it was sent';
  const old = part.unprovable ? ', which proves nothing more than 7 days after the upload' : '';
  return `${stored}, and the job has not been found since ${part.missing_since}${old}`;
}

/** Returns the error for parts that have yet to be uploaded. Submitting the file again uploads them. */
export function unfinishedError({ record, name, resumeWords }: NamedRun): SvcError {
  const { id, parts } = record;
  if (isUntouched(record) && statusOf(record) !== 'abandoned')
    return new SvcError('job_expired', `nothing of run ${id} was sent yet`, {
      hint: 'Go on with the run, or abandon it.',
      next: resumeWords,
      alternatives: [['au', 'abandon', name]],
      facts: { run: id },
    });
  const waiting = parts.filter((part) => needsFile({ parts: [part] }));
  const numbers = waiting.map(({ number }) => number).join(', ');
  const what = parts.length === 1 ? 'its file' : `the file of part ${numbers}`;
  const gone = waiting.flatMap(({ earlier_jobs: earlier = [] }) => earlier.at(-1)?.job ?? []);
  const why = gone.length === 0 ? '' : `: job ${gone.join(', ')} was deleted without it`;
  const isAbandoned = statusOf(record) === 'abandoned';
  return new SvcError('job_expired', `run ${id} has yet to upload ${what}${why}`, {
    hint: isAbandoned
      ? 'The run was abandoned. The results of what was uploaded can be downloaded.'
      : 'Go on with the run, which uploads the rest, or abandon it.',
    next: isAbandoned ? ['au', 'download', name] : resumeWords,
    facts: { run: id },
  });
}

/** Returns the error for a missing job that has its file. A missing job proves nothing yet. */
export function missingRunError({ record, name }: NamedRun): SvcError {
  const jobs = jobsIn(partsByJob(record.parts.filter(isMissingUpload)));
  return new SvcError(
    'outcome_unknown',
    `job ${jobs.join(', ')} of run ${record.id} is not found, though it has its file`,
    { ...missingDetails({ record, name }), facts: { run: record.id, jobs } },
  );
}

/** Returns the error for the job of one part that is not found, though the service has its file or may have it. */
export function missingPartError({ record, name }: Pick<NamedRun, 'record' | 'name'>, part: Part): SvcError {
  const { job = '', state, joined } = part;
  // A run can wait for the job of another run that has yet to send its file.
  const isKnown = sentOf(part) === 'stored' && (joined === undefined || state !== 'uploaded');
  const has = isKnown ? 'has' : 'may have';
  const facts = { job, run: record.id };
  const message = `job ${job} of run ${record.id} is not found, though it ${has} its file`;
  if (state !== 'downloaded')
    return new SvcError('outcome_unknown', message, { ...missingDetails({ record, name }), facts });
  const isPruned = record.pruned_at !== undefined;
  return new SvcError('outcome_unknown', `${message}: its results were downloaded`, {
    hint: `The service may have forgotten it since. Its rows are paid for, and nothing is sent again.${isPruned ? '' : ' To get the results of the run:'}`,
    next: isPruned ? undefined : ['au', 'download', name],
    facts,
  });
}

/** Says what to do about a job that is not found. */
function missingDetails({ record, name }: Pick<NamedRun, 'record' | 'name'>): ErrorDetails {
  const isSandbox = isOfSandbox(record);
  return {
    hint: isSandbox
      ? 'If the sandbox was reset since, its jobs were deleted: abandon the run.'
      : 'The service may lag: try again in a few minutes. Nothing is uploaded again.',
    next: ['au', isSandbox ? 'abandon' : 'status', name],
    retryable: true,
  };
}

/** Returns the error for results that another machine read and that the service no longer has. */
export function forgottenRunError({ record, name }: NamedRun): SvcError {
  const forgotten = record.parts.filter(isForgotten);
  const jobs = jobsIn(partsByJob(forgotten));
  const by = [...new Set(forgotten.flatMap(({ joined }) => joined?.by ?? []))];
  return new SvcError(
    'outcome_unknown',
    `the service does not find job ${jobs.join(', ')} of run ${record.id}, whose results were read before`,
    {
      hint: `It forgets jobs after a while, or may lag. Take the results from the machine that has them; the rows were sent by ${by.join(', ')}. Nothing is sent again.`,
      next: ['au', 'status', name],
      retryable: true,
      facts: { run: record.id, jobs },
    },
  );
}

/**
 * Returns the error for jobs that were pending in a response to this command. `again` is the command that continues the
 * wait.
 */
export function pendingRunError({ name }: NamedRun, { record }: Polled, again?: readonly string[]): SvcError {
  return new SvcError('pending', `run ${record.id} is not completed: ${progressOf(record)}`, {
    next: again ?? (statusOf(record) === 'abandoned' ? ['au', 'download', name] : ['au', 'resume', name, '--wait']),
    facts: { run: record.id },
  });
}
