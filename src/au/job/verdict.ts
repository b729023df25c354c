// How a command with jobs ends: `outcomeOf` turns an error into an outcome, and `exitCodeOf` turns outcomes into an exit
// code.

import { EXIT_CODES, type ErrorCode, FAILURES_BY_WEIGHT, type SvcError } from '../../base/errors.ts';
import { isHeld } from '../../base/files/lock.ts';

/** The result of a command for a cycle. `pending`: the service reported it. `held`: another process works on a job of it. */
export type Outcome = ErrorCode | 'done' | 'held';

/** Returns the outcome of work that ended with an error. */
export function outcomeOf(error: SvcError): Outcome {
  return isHeld(error) ? 'held' : error.code;
}

const OWN_CODES: Readonly<Record<Exclude<Outcome, ErrorCode>, number>> = { held: EXIT_CODES.pending, done: 0 };

/** The order of outcomes, worst first. An outcome that is not listed counts by its exit code. */
const ORDER: readonly (number | Outcome)[] = [
  EXIT_CODES.job_failed,
  ...FAILURES_BY_WEIGHT,
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
