import { didYouMean, sentences, typedWord } from '../../base/security/typed-word.ts';

/** What an operator can choose for the rows of a result code: the next step for their tokens. */
export const RESULT_STEPS = ['replace', 'keep', 'exclude', 'fix'] as const;

export type ResultStep = (typeof RESULT_STEPS)[number];

/** Describes what is wrong with a result code; undefined for a valid one. Unknown codes are valid. */
export function resultCodeProblem(code: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9_]{0,63}$/.test(code)
    ? undefined
    : 'is no result code: letters, digits and underscores, 64 at most, beginning with a letter or digit';
}

/** Says that a result code is unknown, with a similar known one; undefined for a known code. */
export function doubtfulCode(code: string, known: readonly string[]): string | undefined {
  if (known.includes(code)) return undefined;
  return sentences(`${typedWord(code, known)} is not a known result code.`, didYouMean(code, known));
}
