import { nearest } from '../base/security/typed-word.ts';
import { OUTCOME_WORDS } from '../schema/three-ds/outcome-words.ts';
import table from './meanings.json' with { type: 'json' };

/** The meaning of a value in a 3DS response, for operators. */
export interface Meaning {
  /** The field of the value, in words. */
  readonly kind: string;
  readonly name: string;
  /** The EMV code, if the interface documents one. */
  readonly code?: string | undefined;
  readonly means: string;
  /** The party that bears the loss of a fraudulent payment, if the value determines it. */
  readonly liability?: string | undefined;
  readonly next: string;
  /** The outcome with which the sandbox produces the value, such as `reason=card-expired`. */
  readonly sandbox?: string | undefined;
}

type Table = Readonly<Record<string, Readonly<Record<string, Omit<Meaning, 'kind' | 'name'>>>>>;

/** The word of the sandbox that decides values of a kind. */
const WORDS_BY_KIND: Readonly<Record<string, string>> = {
  'authentication status': 'status',
  'authentication status reason': 'reason',
  'challenge type': 'challenge',
  'challenge cancel reason': 'cancel',
  'whitelist status': 'whitelist',
  'whitelist status source': 'source',
};

/** The meanings of all documented values in 3DS responses. */
export const MEANINGS: readonly Meaning[] = Object.entries(table as Table).flatMap(([kind, values]) =>
  Object.entries(values).map(([name, value]) =>
    Object.assign({ kind, name, sandbox: sandboxOutcome(kind, name) }, value),
  ),
);

function sandboxOutcome(kind: string, name: string): string | undefined {
  const word = WORDS_BY_KIND[kind];
  return word !== undefined && OUTCOME_WORDS[word]?.includes(name) ? `${word}=${name}` : undefined;
}

/** Finds all meanings of a name or an EMV code, which may have several. Case, `_` and a leading 0 are ignored. */
export function explain(word: string): Meaning[] {
  const plain = plainName(word);
  const code = /^\d$/.test(plain) ? `0${plain}` : plain;
  return MEANINGS.filter((meaning) => plainName(meaning.name) === plain || meaning.code?.toLowerCase() === code);
}

/** Finds the known name that a mistyped one probably means. */
export function meantName(word: string): string | undefined {
  return nearest(plainName(word), new Set(MEANINGS.map(({ name }) => name)));
}

/** Finds the meaning of a reason or cancel reason; undefined for a new one. */
function reasonMeaning(reason: unknown): Meaning | undefined {
  return MEANINGS.find(({ kind, name }) => name === reason && kind.endsWith('reason'));
}

function plainName(word: string): string {
  return word.trim().toLowerCase().replaceAll(/[_ ]/g, '-');
}

/** The members of a response that describe the outcome of an authentication. Any may be absent or have new values. */
export interface Outcome {
  readonly authentication_status?: string | null | undefined;
  readonly authentication_status_reason?: unknown;
  readonly challenge_cancel_reason?: unknown;
}

/** Whether the outcome is still open: a challenge is under way, or nothing was authenticated yet. */
export function isOpen({ authentication_status: status }: Outcome): boolean {
  return status === undefined || status === null || ['', 'challenge', 'decoupled_challenge'].includes(status);
}

/** Explains an outcome in lines: its meaning, who bears the loss, and what to do next. */
export function outcomeLines(outcome: Outcome): string[] {
  const status = outcome.authentication_status;
  if (status === undefined || status === null || status === '') return ['nothing was authenticated yet'];
  const meaning = MEANINGS.find(({ kind, name }) => kind === 'authentication status' && name === status);
  if (meaning === undefined)
    return [
      `${status}: a status that this version does not know`,
      'next: do not count on the authentication before you know what it means',
    ];
  const reasons = [outcome.authentication_status_reason, outcome.challenge_cancel_reason].map(reasonMeaning);
  const known = reasons.filter((reason) => reason !== undefined);
  return [
    `${status}: ${meaning.means}`,
    ...known.map(({ kind, name, means }) => `${kind} ${name}: ${means}`),
    ...(meaning.liability === undefined ? [] : [`liability for fraud: ${meaning.liability}`]),
    `next: ${meaning.next}`,
    ...known.filter(({ next }) => !next.startsWith('Go by')).map(({ name, next }) => `because of ${name}: ${next}`),
  ];
}
