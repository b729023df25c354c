// Decides whether a valid file is implausible, and therefore refused.

import { SvcError } from '../../base/errors.ts';
import { option } from '../../cli/app/hint.ts';
import { countText } from '../../cli/output/number.ts';
import { type Check, CHECKS } from './checks.ts';
import { PROBLEMS_KEPT, type RequestFileCheck } from './request-file.ts';

interface Judging {
  /** The name of the file in messages. */
  readonly name: string;
  /** The command, as words after `svc`. */
  readonly words: readonly string[];
  readonly accept: readonly Check[];
  /** Whether line numbers are valid for the typed file. */
  readonly hasLines?: boolean;
}

/** Returns the error for a valid but implausible file; undefined for a plausible or accepted one. */
export function implausibleFile(
  { implausible, doubts }: Pick<RequestFileCheck, 'implausible' | 'doubts'>,
  { name, words, accept, hasLines = true }: Judging,
): SvcError | undefined {
  const isRefused = (check: string): boolean => !accept.some((each) => each === check);
  const rows = implausible.first.filter(({ rule }) => isRefused(rule)).slice(0, PROBLEMS_KEPT);
  const whole = doubts.filter(({ check }) => isRefused(check));
  const counts = Object.entries(implausible.byRule).filter(([rule]) => isRefused(rule));
  const count = whole.length + counts.reduce((sum, [, each]) => sum + each, 0);
  if (count === 0) return undefined;
  const refusedChecks = CHECKS.filter(
    (check) => whole.some((each) => each.check === check) || counts.some(([rule]) => rule === check),
  );
  const canBeAccepted = counts.every(([rule]) => CHECKS.some((check) => check === rule));
  return new SvcError('refused_input', `${name} is refused: ${countText(count, 'problem')}`, {
    hint: `Fix the file${canBeAccepted ? ', or go on if it is meant so:' : ', then run the command again.'}`,
    next: canBeAccepted ? [...words, ...option('--accept', refusedChecks)] : undefined,
    facts: {
      file: name,
      checks: refusedChecks,
      problems: [...(hasLines ? rows : rows.map(({ column, rule, problem }) => ({ column, rule, problem }))), ...whole],
      problem_count: count,
    },
  });
}
