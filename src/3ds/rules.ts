/** The rules that --allow lifts: the body contradicts itself or a public table, and a service may accept it. */
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

/** A rule that a body breaks. It quotes nothing of the body but codes of public tables, digits of dates, and the amount. */
export interface Violation {
  readonly rule: Rule;
  /** The dotted path; `(body)` for the body itself. */
  readonly path: string;
  /** An error keeps the body from being sent. */
  readonly severity: 'error' | 'warning';
  /** What is wrong, in words that follow the path. */
  readonly message: string;
  /** A valid value, if one can be given. */
  readonly example?: unknown;
  /** The known name or value that was probably meant. */
  readonly suggestion?: string | undefined;
}

/** Makes a violation that keeps the body from being sent. */
export function broken(
  rule: Rule,
  path: string,
  message: string,
  more: Pick<Violation, 'example' | 'suggestion'> = {},
): Violation {
  return { rule, path, severity: 'error', message, ...more };
}
