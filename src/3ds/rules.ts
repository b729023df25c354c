// The rules of a 3-D Secure body, and what a broken rule reports.

/** The rules that the operator can turn off with `--allow`, because an acquirer may accept such a body. */
export const LIFTABLE_RULES = [
  'unknown-field',
  'exponent',
  'currency',
  'country-of-state',
  'category-code',
  'challenge-time',
  'installments',
  'recurring-expiration',
] as const;

/** The name of a rule about a body. */
export type Rule =
  | LiftableRule
  | 'format'
  | 'required'
  | 'session-type'
  | 'card-number'
  | 'historic-currency'
  | 'country'
  | 'purchase-date'
  | 'length';

export type LiftableRule = (typeof LIFTABLE_RULES)[number];

/** A rule that a body breaks. Messages quote only codes of public tables, dates and the amount from the body. */
export interface Violation {
  readonly rule: Rule;
  /** The dotted path; `(body)` for the body itself. */
  readonly path: string;
  /** An error stops the request unless `--allow` names its rule; a warning never does. */
  readonly severity: 'error' | 'warning';
  /** The problem, in words that follow the path. */
  readonly message: string;
  /** An example of a valid value. */
  readonly example?: unknown;
  /** The known name or value that was probably meant. */
  readonly suggestion?: string | undefined;
}

/** Returns a violation of severity `error`. */
export function errorFor(
  rule: Rule,
  path: string,
  message: string,
  more: Pick<Violation, 'example' | 'suggestion'> = {},
): Violation {
  return { rule, path, severity: 'error', message, ...more };
}
