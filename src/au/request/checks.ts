// The checks of a whole file that an operator can accept with `--accept`.

import { SvcError } from '../../base/errors.ts';
import { didYouMean } from '../../base/security/typed-word.ts';
import { repeated, suggesting } from '../../cli/app/parameter.ts';
/** The checks of a whole file that `--accept` can accept. The glossary explains each. */
export const CHECKS = [
  'tokens',
  'numbers',
  'marks',
  'days',
  'past',
  'years',
  'quotes',
  'repeats',
  'merchants',
  'columns',
] as const;

export type Check = (typeof CHECKS)[number];

/** A finding of a check: rows that contradict the others, or are implausible. */
export interface Doubt {
  readonly check: Check;
  /** The finding in words that follow the name of the file. */
  readonly problem: string;
}

/** The option `--accept`, with which the operator accepts the findings of a check. */
export const acceptParameter = suggesting(
  { wordsOf: 'check' },
  repeated('--accept <check>', `go on although a check of the file stops it: ${CHECKS.join(', ')}`, checkName),
);

function checkName(typed: string): Check {
  const check = CHECKS.find((check) => check === typed);
  if (check !== undefined) return check;
  throw new SvcError('usage', `must be one of ${CHECKS.join(', ')}`, { hint: didYouMean(typed, CHECKS) });
}
