import { EXIT_CODES, type ErrorCode, FAILURES_BY_WEIGHT, isSvcError, type SvcError } from '../../base/errors.ts';
import { isHeld } from '../../base/files/lock.ts';
import type { Context } from '../../cli/app/command.ts';
import { isForgotten, isMissing } from './part.ts';
import type { Polled } from './poll-parts.ts';
import { hasUnknown, needsFile } from './record.ts';
import {
  failedRunError,
  forgottenRunError,
  missingRunError,
  type NamedRun,
  pendingRunError,
  unfinishedError,
  unknownOutcomeError,
} from './run-errors.ts';
import type { RunDirectory } from './run-directory.ts';

// This file decides how a command with a run ends. Only events of this command count, never the record alone.
// `verdictOf` turns findings into an error or nothing, `outcomeOf` turns an error into an outcome, and `exitCodeOf`
// turns outcomes into an exit code.

/** The findings of a command about a run, besides the responses to its polls, which are in the record. */
export type Findings = OtherFindings & (Pollings | Unpolled);

interface Pollings {
  readonly polled: Polled;
  readonly poll?: undefined;
}

interface Unpolled {
  /** The reason why no poll got a response. Nothing is then known to be pending. */
  readonly poll: SvcError;
}

interface OtherFindings {
  /** The reason why parts were not uploaded. */
  readonly upload?: SvcError | undefined;
  /** The reason why the results of a part could not be downloaded. */
  readonly results?: SvcError | undefined;
  /** The reason why the last polls found nothing although earlier polls got responses. */
  readonly outage?: SvcError | undefined;
  /** The command's time limit, if it ended a wait whose polls got responses. */
  readonly timeUp?: SvcError | undefined;
}

interface Wanted {
  /** Whether to accept partial results. An abandoned run gets no further results. */
  readonly isPartial?: boolean | undefined;
  /** Whether to accept that the service has forgotten a job whose results another machine received. */
  readonly isSent?: boolean | undefined;
  /** The command that continues with pending work. Default: `au resume --wait`. */
  readonly again?: readonly string[] | undefined;
}

/**
 * Returns the worst reason why a run has no results after its jobs were polled in this command; undefined if the
 * results are downloaded.
 */
export function verdictOf(
  run: NamedRun,
  found: Findings,
  { isPartial, isSent, again }: Wanted = {},
): SvcError | undefined {
  if (found.poll !== undefined) return worstOf([found.upload, found.poll]);
  const { record } = run;
  const ofParts = isPartial
    ? []
    : [
        record.parts.some(({ state }) => state === 'failed') ? failedRunError(run) : undefined,
        hasUnknown(record) ? unknownOutcomeError(run) : undefined,
        !isSent && record.parts.some(isForgotten) ? forgottenRunError(run) : undefined,
        needsFile(record) ? (found.upload ?? unfinishedError(run)) : undefined,
      ];
  const isDone = isPartial || record.parts.every(({ state }) => state === 'downloaded');
  // The jobs are completed, but the time limit or an outage prevented the download.
  const otherwise = isDone ? undefined : (found.outage ?? found.timeUp);
  const reason = worstOf([found.results, ...ofParts, underWayError(run, found.polled, again)]) ?? otherwise;
  return found.timeUp !== undefined && reason?.code === 'pending' ? after(found.timeUp, reason) : reason;
}

/** Returns the error for jobs that have their file: they are under way or missing. */
function underWayError(run: NamedRun, polled: Polled, again: Wanted['again']): SvcError | undefined {
  if (polled.underWay.some(isMissing)) return missingRunError(run);
  return polled.underWay.length > 0 ? pendingRunError(run, polled, again) : undefined;
}

/** Returns an error whose message begins with the end of the command's time. */
export function after(timeUp: SvcError, reason: SvcError): SvcError {
  return reason.with({ message: `${timeUp.message}; ${reason.message}` });
}

/** What a command works on, as the members of its error name it. */
type Resumed = { readonly run: string } | { readonly job: string } | { readonly cycle: string };

/** Adds the command that resumes the work to the error of an interrupt or the time limit. */
export async function resumable<T>(next: readonly string[], facts: Resumed, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'timeout')) throw error;
    const name = 'cycle' in facts ? `cycle ${facts.cycle}` : Object.values(facts).join('');
    throw error.with({ message: `${error.message}; ${name} can be resumed`, hint: undefined, next, facts });
  }
}

/**
 * Runs `work` while a run, or the upload to a job, is locked against other processes.
 * @throws SvcError `pending` if a living process has locked it, `config` if that cannot be determined
 */
export async function holdRun<T>(
  { system }: Pick<Context, 'system'>,
  run: Pick<RunDirectory, 'hold'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await run.hold(system, work);
  } catch (error) {
    throw isHeld(error) ? error.with({ code: 'pending' }) : error;
  }
}

/**
 * The outcome of a run in this command. `pending`: a response in this command reported it. `held`: another living
 * process has locked the run.
 */
export type Outcome = ErrorCode | 'done' | 'held' | 'unreadable';

/** Returns the outcome of a run whose work ended with an error. */
export function outcomeOf(error: SvcError): Outcome {
  return isHeld(error) ? 'held' : error.code;
}

const OWN_CODES: Readonly<Record<Exclude<Outcome, ErrorCode>, number>> = {
  held: EXIT_CODES.pending,
  unreadable: EXIT_CODES.config,
  done: 0,
};

const OVER_BY_ITSELF = FAILURES_BY_WEIGHT.indexOf(EXIT_CODES.server);

/** The order of outcomes, worst first. An outcome that is not listed counts by its exit code. */
const ORDER: readonly (number | Outcome)[] = [
  EXIT_CODES.job_failed,
  ...FAILURES_BY_WEIGHT.slice(0, OVER_BY_ITSELF),
  'unreadable',
  ...FAILURES_BY_WEIGHT.slice(OVER_BY_ITSELF),
  EXIT_CODES.entries_missing,
  'threshold',
  EXIT_CODES.pending,
  'done',
];

/** Returns the exit code of a command: the code of its worst outcome, or 0 without any. */
export function exitCodeOf(outcomes: readonly Outcome[]): number {
  const [worst = 'done'] = outcomes.toSorted((a, b) => rankOf(a) - rankOf(b));
  return codeOf(worst);
}

/** Returns the worst of several errors. */
export function worstOf(errors: readonly (SvcError | undefined)[]): SvcError | undefined {
  const [worst] = errors.filter((error) => error !== undefined).toSorted((a, b) => rankOf(a.code) - rankOf(b.code));
  return worst;
}

function codeOf(outcome: Outcome): number {
  return isOwn(outcome) ? OWN_CODES[outcome] : EXIT_CODES[outcome];
}

function isOwn(outcome: Outcome): outcome is keyof typeof OWN_CODES {
  return Object.hasOwn(OWN_CODES, outcome);
}

/**
 * Returns the rank of an outcome, lowest for the worst. Interrupts are not in the order and come before everything
 * else.
 */
function rankOf(outcome: Outcome): number {
  const named = ORDER.indexOf(outcome);
  return named === -1 ? ORDER.indexOf(codeOf(outcome)) : named;
}
