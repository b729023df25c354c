import { ownMember } from '../own-member.ts';
import {
  AUTHENTICATION_STATUSES,
  CHALLENGE_CANCEL_REASON_CODES,
  CHALLENGE_TYPES,
  STATUS_REASONS,
  WHITELIST_SOURCES,
  WHITELIST_STATUSES,
} from './values.ts';

/** The words that set an outcome in the sandbox, with the values of each word. `eci` accepts any other two digits too. */
export const OUTCOME_WORDS: Readonly<Record<string, readonly string[]>> = {
  status: AUTHENTICATION_STATUSES,
  reason: Object.keys(STATUS_REASONS),
  challenge: CHALLENGE_TYPES,
  cancel: Object.keys(CHALLENGE_CANCEL_REASON_CODES),
  whitelist: WHITELIST_STATUSES,
  source: WHITELIST_SOURCES,
  mandated: ['Y', 'N'],
};

/** Reads one word of an outcome, such as `reason=card-expired`; undefined for any other text. */
export function outcomeWord(text: string): readonly [name: string, value: string] | undefined {
  const [, name = '', value = ''] = /^\s*(\w+)=(\S+)\s*$/.exec(text) ?? [];
  const isKnown = name === 'eci' ? /^\d\d$/.test(value) : ownMember(OUTCOME_WORDS, name)?.includes(value) === true;
  return isKnown ? [name, value] : undefined;
}

/** Returns each word with each of its values, such as `reason=card-expired`, for completion. */
export function outcomeExamples(): [outcome: string, description: string][] {
  return Object.entries(OUTCOME_WORDS).flatMap(([word, values]) =>
    values.map((value): [string, string] => [`${word}=${value}`, word]),
  );
}
