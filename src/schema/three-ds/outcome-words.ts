import {
  AUTHENTICATION_STATUSES,
  CHALLENGE_CANCEL_REASON_CODES,
  CHALLENGE_TYPES,
  STATUS_REASONS,
  WHITELIST_SOURCES,
  WHITELIST_STATUSES,
} from './values.ts';

/** The words with which the sandbox is given an outcome, and the values of each. `eci` takes any two digits besides. */
export const OUTCOME_WORDS: Readonly<Record<string, readonly string[]>> = {
  status: AUTHENTICATION_STATUSES,
  reason: Object.keys(STATUS_REASONS),
  challenge: CHALLENGE_TYPES,
  cancel: Object.keys(CHALLENGE_CANCEL_REASON_CODES),
  whitelist: WHITELIST_STATUSES,
  source: WHITELIST_SOURCES,
  mandated: ['Y', 'N'],
};

/** Each word with each of its values, such as `reason=card-expired`, for completion. */
export function outcomeExamples(): [outcome: string, description: string][] {
  return Object.entries(OUTCOME_WORDS).flatMap(([word, values]) =>
    values.map((value): [string, string] => [`${word}=${value}`, word]),
  );
}
