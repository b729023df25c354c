import { UUID } from '../../schema/uuid.ts';
import type { Meaning } from '../glossary/glossary.ts';
import { type Parameter, takesValue } from './parameter.ts';

/** A text that only a parameter for any text accepts. */
const NO_VALUE = '\0';

/** What a typed word is, as far as its letters show. */
type Shape = 'listed' | 'time' | 'number' | 'file' | 'id';

/**
 * Tells whether an option takes exactly this kind of value: one of its choices or known words, or a text that its parser
 * accepts although it refuses others. An option for any text has no kind.
 */
export function isOfKind(parameter: Parameter<unknown>, value: string, meanings: readonly Meaning[]): boolean {
  if (!takesValue(parameter)) return false;
  const listed = listedWords(parameter, meanings);
  if (listed !== undefined) return listed.includes(value);
  return !accepts(parameter, NO_VALUE) && accepts(parameter, value);
}

/** Finds the options that take a word of such a shape, best first, and tells its shape. */
export function optionsFor(
  word: string,
  options: readonly Parameter<unknown>[],
  meanings: readonly Meaning[],
  isFile: (typed: string) => boolean,
): { shape: Shape; options: readonly Parameter<unknown>[] } | undefined {
  const shapes: readonly (readonly [Shape, (option: Parameter<unknown>) => boolean])[] = [
    ['listed', (option) => isListed(option, word, meanings)],
    ['time', (option) => isTime(word) && !isCount(option) && isOfKind(option, word, meanings)],
    ['number', (option) => /^\d{1,5}$/.test(word) && isCount(option) && accepts(option, word)],
    ['file', (option) => option.file === 'read' && isFile(word)],
    ['id', (option) => UUID.test(word) && / <id\b/.test(option.syntax)],
  ];
  for (const [shape, isTaker] of shapes) {
    const takers = options.filter((option) => takesValue(option) && isTaker(option));
    if (takers.length > 0) return { shape, options: takers };
  }
  return undefined;
}

/** Tells whether a word is one that an option lists. */
export function isListed(parameter: Parameter<unknown>, word: string, meanings: readonly Meaning[]): boolean {
  return takesValue(parameter) && listedWords(parameter, meanings)?.includes(word) === true;
}

/** Returns the words that an option takes, if they are listed. */
function listedWords({ choices, suggest }: Parameter<unknown>, meanings: readonly Meaning[]) {
  if (choices !== undefined) return choices;
  const kind = typeof suggest === 'object' && 'wordsOf' in suggest ? suggest.wordsOf : suggest;
  const words = meanings.filter((meaning) => meaning.kind === kind).map(({ name }) => name);
  return words.length > 0 ? words : undefined;
}

/** Tells whether a word can only be a time: a date, a clock time, a duration or the name of a day. */
export function isTime(word: string): boolean {
  return /^(?:\d{4}-\d\d(?:-\d\d)?|\d\d:\d\d|\d{1,4}[smhdw]|yesterday|today)$/.test(word);
}

function isCount({ syntax }: Parameter<unknown>): boolean {
  return syntax.endsWith(' <n>');
}

function accepts({ parse }: Parameter<unknown>, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
