import { editDistance } from '../nearest.ts';

const NOT_SHOWN = '(not shown: it may be a secret)';

/**
 * A word of the command line as an error may repeat it: in quotes where it cannot be a secret, which may have been
 * pasted into the wrong place. That is a word of few letters, hyphens, dots and underscores, or one within two edits
 * of a known word.
 */
export function typedWord(word: string, known: Iterable<string> = []): string {
  return isShowable(word, known) ? `"${word}"` : NOT_SHOWN;
}

/** The same of an option; of `--option=value` only the name. */
export function typedOption(text: string, known: Iterable<string> = []): string {
  const [name = ''] = text.split('=', 1);
  return typedWord(name, known);
}

/** Whether a typed word cannot be a secret. */
export function isShowable(word: string, known: Iterable<string> = []): boolean {
  if (/^[a-z._-]{1,20}$/i.test(word)) return true;
  // Short as a known word is, and printable as it is: two edits add no more than two signs.
  return /^[\x21-\x7e]+$/.test(word) && Array.from(known).some((name) => editDistance(word, name) <= 2);
}
