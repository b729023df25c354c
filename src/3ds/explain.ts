import { nearest } from '../base/security/typed-word.ts';
import table from './meanings.json' with { type: 'json' };

/** What a value in a 3DS response means, in the operator's words. */
export interface Meaning {
  /** The field that contains it, in words. */
  readonly kind: string;
  readonly name: string;
  /** The EMV code, where the interface gives one. */
  readonly code?: string | undefined;
  readonly means: string;
  /** Who bears the loss when the payment turns out to be fraud, where the value says something of it. */
  readonly liability?: string | undefined;
  readonly next: string;
}

type Table = Readonly<Record<string, Readonly<Record<string, Omit<Meaning, 'kind' | 'name'>>>>>;

/** Every value of a 3DS response that the interface names. */
export const MEANINGS: readonly Meaning[] = Object.entries(table as Table).flatMap(([kind, values]) =>
  Object.entries(values).map(([name, value]) => Object.assign({ kind, name }, value)),
);

/** All meanings of a name or an EMV code: a code can have several. Case, `_` and a leading 0 are ignored. */
export function explain(word: string): Meaning[] {
  const plain = plainName(word);
  const code = /^\d$/.test(plain) ? `0${plain}` : plain;
  return MEANINGS.filter((meaning) => plainName(meaning.name) === plain || meaning.code?.toLowerCase() === code);
}

/** The known name that a mistyped one is probably meant for. */
export function meantName(word: string): string | undefined {
  return nearest(plainName(word), new Set(MEANINGS.map(({ name }) => name)));
}

/** What a reason or a cancel reason means; undefined for one that is new. */
function reasonMeaning(reason: unknown): Meaning | undefined {
  return MEANINGS.find(({ kind, name }) => name === reason && kind.endsWith('reason'));
}

function plainName(word: string): string {
  return word.trim().toLowerCase().replaceAll(/[_ ]/g, '-');
}

/** The parts of a response that say how an authentication ended. Any of them may be absent or new. */
export interface Outcome {
  readonly authentication_status?: string | null | undefined;
  readonly authentication_status_reason?: unknown;
  readonly challenge_cancel_reason?: unknown;
}

/** Whether something is still to come: a challenge is open, or nothing was authenticated yet. */
export function isOpen({ authentication_status: status }: Outcome): boolean {
  return status === undefined || status === null || ['', 'challenge', 'decoupled_challenge'].includes(status);
}

/** What an outcome means, who bears the loss and what to do next, a line each, in the operator's words. */
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
