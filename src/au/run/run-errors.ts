import { SvcError } from '../../base/errors.ts';
import { countText, isoTime } from '../../cli/output/time.ts';
import { doubtEnd, isMissing, type Part, sentOf } from './part.ts';
import { doubtTime, isUntouched, needsFile, progressOf, statusOf } from './record.ts';
import type { RunDirectory } from './run-directory.ts';

/** The members of a run that errors refer to. */
export type NamedRun = Pick<RunDirectory, 'record' | 'name' | 'submitWords' | 'resumeWords'>;

export function failedRunError({ record, resumeWords }: NamedRun): SvcError {
  const failed = record.parts.filter(({ state }) => state === 'failed');
  const problems = failed.map(
    ({ number, job, errors = [] }) => `part ${number} (job ${job}): ${errors.join('; ') || 'no reason given'}`,
  );
  return new SvcError(
    'job_failed',
    `${failed.length} of ${countText(record.parts.length, 'job')} of run ${record.id} failed`,
    {
      hint: 'Fix what the messages name, then continue the run: only what failed is retried.',
      next: retryWords(resumeWords),
      facts: { run: record.id, problems, status: statusOf(record) },
    },
  );
}

/**
 * Returns the command that retries failed parts. Submitting the file again always retries them, resuming a run needs an
 * option.
 */
function retryWords(resumeWords: readonly string[]): readonly string[] {
  return resumeWords.includes('resume') ? [...resumeWords, '--retry-failed'] : resumeWords;
}

/** Returns the error for parts whose files the service may have without having confirmed them. */
export function unknownOutcomeError({ record, name, submitWords }: NamedRun): SvcError {
  const unknown = record.parts.filter(({ state }) => state === 'unknown');
  const problems = unknown.map((part) => `part ${part.number} (job ${part.job}): ${reasonOf(part)}`);
  const ends = unknown.map(doubtEnd);
  const hasEnd = ends.every((end) => end !== undefined);
  const message = `outcome unknown: the service may have the file of ${problems.join('; of ')}`;
  const facts = { run: record.id, jobs: unknown.map(({ job }) => job), problems };
  if (hasEnd)
    return new SvcError('outcome_unknown', message, {
      hint: 'Sync finds the file as soon as its job shows it. If the job was deleted without a file, two polls five minutes apart prove that, and sync uploads the file. Until then nothing is sent again.',
      next: ['au', 'sync'],
      alternatives: [['au', 'status', name]],
      retryable: true,
      facts: { ...facts, settled_after: isoTime(Math.max(...ends)) },
    });
  return new SvcError('outcome_unknown', message, {
    hint: 'Find out what happened: later polls may settle it. Only if the file was not processed, submit it as a new run with the last of these commands, which is billed again: rows that were processed are then paid for twice.',
    next: ['au', 'status', name],
    alternatives: [
      ['au', 'jobs'],
      [...submitWords, '--again'],
    ],
    retryable: false,
    facts,
  });
}

function reasonOf(part: Part): string {
  const end = doubtEnd(part);
  if (end !== undefined)
    return `all of it was sent, and no response said that it was stored; svc au sync settles it, after ${doubtTime(end)} at the latest`;
  if (part.missing_since === undefined) return 'all of it was sent, and the job is still pending';
  const stored = sentOf(part) === 'stored' ? 'it was stored' : 'all of it was sent';
  return `${stored}, and the job has not been found since ${part.missing_since}`;
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
  const missing = record.parts.filter((part) => part.state === 'uploaded' && isMissing(part));
  const jobs = missing.map(({ job }) => job);
  return new SvcError(
    'outcome_unknown',
    `job ${jobs.join(', ')} of run ${record.id} is not found, though it has its file`,
    {
      hint: 'The service may lag: try again in a few minutes. Nothing is uploaded again.',
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
export function pendingRunError({ record, name }: NamedRun, again?: readonly string[]): SvcError {
  return new SvcError('pending', `run ${record.id} is not completed: ${progressOf(record)}`, {
    next: again ?? ['au', statusOf(record) === 'abandoned' ? 'download' : 'wait', name],
    facts: { run: record.id },
  });
}
