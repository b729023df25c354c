import { SvcError } from '../errors.ts';

const LONGEST = 4096;

/**
 * The key in `text`, without space around it. `from` names its source in an error. Throws `SvcError` `config`, never
 * showing any of it, when that is no key: empty, too long, or with a space, a line break or a special character.
 */
export function checkKey(text: string, from: string): string {
  const key = text.trim();
  const problem = problemOf(key);
  if (problem === undefined) return key;
  throw new SvcError('config', `the key from ${from} ${problem}`, {
    hint: 'Copy the key again from where it was made, whole and alone.',
  });
}

function problemOf(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (key.length > LONGEST) return `is longer than ${LONGEST} characters`;
  if (/\s/.test(key)) return 'has a space or line break in it';
  return /^[!-~]+$/.test(key) ? undefined : 'has a character in it that no key has';
}
