/** The meaning of a word of the service or of svc, for operators. */
export interface Meaning {
  /** The field or the list that the word belongs to, in words. */
  readonly kind: string;
  readonly name: string;
  /** A code with the same meaning: the EMV code in 3-D Secure, or the exit code of an error. */
  readonly code?: string | undefined;
  /** Other names for the word. */
  readonly also?: readonly string[] | undefined;
  readonly means: string;
  /** The party that bears the loss of a fraudulent payment, if the value determines it. */
  readonly liability?: string | undefined;
  readonly next?: string | undefined;
  /** The outcome with which the sandbox produces the value, such as `reason=card-expired`. */
  readonly sandbox?: string | undefined;
}

/** The glossary of a feature: meanings by kind, then by name. Most meanings are only a text. */
export type MeaningTable = Readonly<Record<string, Readonly<Record<string, string | Omit<Meaning, 'kind' | 'name'>>>>>;

/** Returns the meanings of a glossary, in order. */
export function meaningsIn(table: MeaningTable): Meaning[] {
  return Object.entries(table).flatMap(([kind, values]) =>
    Object.entries(values).map(([name, value]) =>
      Object.assign({ kind, name }, typeof value === 'string' ? { means: value } : value),
    ),
  );
}

/** Returns the words of a kind in a table, each with the first sentence of its meaning as a clause. */
export function wordsIn(table: MeaningTable, kind: string): [name: string, meaning: string][] {
  return wordsAmong(meaningsIn(table), kind);
}

/** Returns the words of a kind among meanings, each with the first sentence of its meaning as a clause. */
export function wordsAmong(meanings: readonly Meaning[], kind: string): [name: string, meaning: string][] {
  const ofKind = meanings.filter((meaning) => meaning.kind === kind);
  return ofKind.map(({ name, means }) => [name, asClause(means.replace(/\. .*/, ''))]);
}

/**
 * Finds all meanings of a name or a code, names before codes. The name of a kind, also in the plural, finds all words of the
 * kind. Ignores case, `_` and a leading 0.
 */
export function meaningsOf(word: string, meanings: readonly Meaning[]): Meaning[] {
  const plain = plainName(word);
  const code = /^\d$/.test(plain) ? `0${plain}` : plain;
  // An endpoint such as `GET /jobs` is also found by its path.
  const named = meanings.filter(({ name, also = [] }) =>
    [name, name.replace(/^[A-Z]+ /, ''), ...also].some((one) => plainName(one) === plain),
  );
  const coded = meanings.filter((meaning) => [plain, code].includes(meaning.code?.toLowerCase() ?? ''));
  const ofKind = meanings.filter(({ kind }) => plain === plainName(kind) || plain === pluralOf(plainName(kind)));
  return [...new Set([...named, ...coded, ...ofKind])];
}

/** Turns a sentence into a clause: without the capital letter and the full stop. */
export function asClause(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}

/** Normalizes a name for comparison: `Job status` and `job_status` are the same. */
export function plainName(word: string): string {
  return word.trim().toLowerCase().replaceAll(/[_ ]/g, '-');
}

/** Returns the plural of a kind: `HTTP statuses`, `limits`, `fields of a job`. */
export function pluralOf(kind: string): string {
  const [noun = '', ...rest] = kind.split(/(?=[- ]of[- ])/);
  return [/(?:s|x|ch)$/.test(noun) ? `${noun}es` : `${noun.replace(/y$/, 'ie')}s`, ...rest].join('');
}
