import { EXIT_CODES, type ErrorCode, FAILURES_BY_WEIGHT, type SvcError } from '../../base/errors.ts';

/**
 * What became of a run in this command. `pending`: a response of this command said so. `held`: another process that is
 * known to live works on it. `stale`: it is open for longer than any job takes. `exec_due`: only the command of `--exec`
 * is left.
 */
export type Outcome = ErrorCode | 'done' | 'held' | 'stale' | 'unreadable' | 'exec_due';

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
