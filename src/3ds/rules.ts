/** The rules that `--allow` lifts: about contradictions that a service may accept. */
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
  /** An error keeps the body from being sent. */
  readonly severity: 'error' | 'warning';
  /** The problem, in words that follow the path. */
  readonly message: string;
  /** An example of a valid value. */
  readonly example?: unknown;
  /** The known name or value that was probably meant. */
  readonly suggestion?: string | undefined;
}

/** Returns a violation of severity `error`. */
export function broken(
  rule: Rule,
  path: string,
  message: string,
  more: Pick<Violation, 'example' | 'suggestion'> = {},
): Violation {
  return { rule, path, severity: 'error', message, ...more };
}
