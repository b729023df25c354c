import { EXIT_CODES, type ErrorCode, FAILURES_BY_WEIGHT, isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { isMissing } from './part.ts';
import { hasUnknown, needsFile } from './record.ts';
import {
  failedRunError,
  missingRunError,
  type NamedRun,
  pendingRunError,
  unfinishedError,
  unknownOutcomeError,
} from './run-errors.ts';
import type { RunDirectory } from './run-directory.ts';

// How a command with a run ends: by what happened in this command, never by the record alone. What was found becomes an
// error or nothing (`verdictOf`), an error becomes an outcome (`outcomeOf`), and outcomes an exit code (`exitCodeOf`).

/** What a command found out about a run, beside what the responses to its polls put into the record. */
export interface Findings {
  /** Why no poll had a response: then nothing is known to be pending. */
  readonly poll?: SvcError | undefined;
  /** Why parts were not uploaded. */
  readonly upload?: SvcError | undefined;
  /** Why the results of a part could not be downloaded. */
  readonly results?: SvcError | undefined;
  /** Why the last polls found nothing, where earlier ones had responses. */
  readonly outage?: SvcError | undefined;
  /** The time limit of the command, where that ended a wait whose polls had responses. */
  readonly timeUp?: SvcError | undefined;
}

interface Wanted {
  /** The results that there are: those of an abandoned run will not become more. */
  readonly isPartial?: boolean | undefined;
  /** The command that goes on with what is pending; `au wait` unless it is given. */
  readonly again?: readonly string[] | undefined;
}

/**
 * What keeps a run from its results after its jobs were polled in this command: the worst there is, or undefined where
 * the results are here.
 */
export function verdictOf(run: NamedRun, found: Findings, { isPartial, again }: Wanted = {}): SvcError | undefined {
  if (found.poll !== undefined) return worstOf([found.upload, found.poll]);
  const { record } = run;
  const ofParts = isPartial
    ? []
    : [
        record.parts.some(({ state }) => state === 'failed') ? failedRunError(run) : undefined,
        hasUnknown(record) ? unknownOutcomeError(run) : undefined,
        needsFile(record) ? (found.upload ?? unfinishedError(run)) : undefined,
      ];
  const isDone = isPartial || record.parts.every(({ state }) => state === 'downloaded');
  // Results that are completed, and could not be downloaded before the time was up.
  const otherwise = isDone ? undefined : (found.outage ?? found.timeUp);
  const reason = worstOf([found.results, ...ofParts, underWayError(run, again)]) ?? otherwise;
  return found.timeUp !== undefined && reason?.code === 'pending' ? after(found.timeUp, reason) : reason;
}

/** Of jobs that have their file: whether they are under way, or not found. */
function underWayError(run: NamedRun, again: Wanted['again']): SvcError | undefined {
  const underWay = run.record.parts.filter(({ state }) => state === 'uploaded');
  if (underWay.some(isMissing)) return missingRunError(run);
  return underWay.length > 0 ? pendingRunError(run, again) : undefined;
}

/** An error that says first that the time of the command was up. */
export function after(timeUp: SvcError, { code, message, hint, next, facts }: SvcError): SvcError {
  return new SvcError(code, `${timeUp.message}; ${message}`, { hint, next, facts });
}

/** Says at the end of work that was cut short how to resume it. */
export async function resumable<T>(next: readonly string[], id: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'hangup', 'interrupted', 'terminated', 'timeout')) throw error;
    throw new SvcError(error.code, `${error.message}; ${id} can be resumed`, { next, facts: { job: id } });
  }
}

/**
 * Works on a run that no other process works on.
 * @throws SvcError `pending` where a process that is known to live does, `config` where that cannot be known
 */
export async function holdRun<T>(
  { system }: Pick<Context, 'system'>,
  run: RunDirectory,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await run.hold(system, work);
  } catch (error) {
    if (!isSvcError(error) || !isHeld(error)) throw error;
    const { message, hint, facts, retryable } = error;
    throw new SvcError('pending', message, { hint, facts, retryable });
  }
}

function isHeld({ facts }: SvcError): boolean {
  return facts?.['held_by'] !== undefined;
}

/**
 * What became of a run in this command. `pending`: a response of this command said so. `held`: another process that is
 * known to live works on it. `stale`: it is open for longer than any job takes. `exec_due`: only the command of `--exec`
 * is left.
 */
export type Outcome = ErrorCode | 'done' | 'held' | 'stale' | 'unreadable' | 'exec_due';

/** The command of `--exec` failed: the run itself is done. */
export class ExecFailed extends SvcError {}

/** What an error that ended the work on a run makes of it. */
export function outcomeOf(error: SvcError): Outcome {
  if (error instanceof ExecFailed) return 'exec_due';
  return isHeld(error) ? 'held' : error.code;
}

const OWN_CODES: Readonly<Record<Exclude<Outcome, ErrorCode>, number>> = {
  held: EXIT_CODES.pending,
  stale: EXIT_CODES.threshold,
  unreadable: EXIT_CODES.config,
  exec_due: EXIT_CODES.local,
  done: 0,
};

const OVER_BY_ITSELF = FAILURES_BY_WEIGHT.indexOf(EXIT_CODES.server);

/** The worst first. An outcome that is not named counts by its exit code. */
const ORDER: readonly (number | Outcome)[] = [
  EXIT_CODES.job_failed,
  ...FAILURES_BY_WEIGHT.slice(0, OVER_BY_ITSELF),
  'unreadable',
  ...FAILURES_BY_WEIGHT.slice(OVER_BY_ITSELF),
  EXIT_CODES.entries_missing,
  'threshold',
  EXIT_CODES.pending,
  'exec_due',
  'done',
];

/** The exit code of a command by what became of each of its runs: that of the worst; 0 where there was none. */
export function exitCodeOf(outcomes: readonly Outcome[]): number {
  const [worst = 'done'] = outcomes.toSorted((a, b) => rankOf(a) - rankOf(b));
  return codeOf(worst);
}

/** The worst of several errors. */
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

/** An interrupt, which is in no order, comes before everything else. */
function rankOf(outcome: Outcome): number {
  const named = ORDER.indexOf(outcome);
  return named === -1 ? ORDER.indexOf(codeOf(outcome)) : named;
}
