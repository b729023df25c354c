import { nearest } from '../nearest.ts';
import { CHALLENGE_MEANINGS } from './challenge-meanings.ts';
import type { Meaning } from './meaning.ts';
import { REASON_MEANINGS } from './reason-meanings.ts';
import { SESSION_MEANINGS } from './session-meanings.ts';
import { STATUS_MEANINGS } from './status-meanings.ts';

/** Every value of a 3DS answer that the interface names. Loads nothing costly, and asks nobody. */
export const MEANINGS: readonly Meaning[] = [
  ...STATUS_MEANINGS,
  ...REASON_MEANINGS,
  ...CHALLENGE_MEANINGS,
  ...SESSION_MEANINGS,
];

/** All meanings of a name or an EMV code: a code can have several. Case, `_` and a leading 0 are ignored. */
export function explain(word: string): Meaning[] {
  const plain = plainName(word);
  const code = /^\d$/.test(plain) ? `0${plain}` : plain;
  return MEANINGS.filter(
    (meaning) => plainName(meaning.name) === plain || meaning.code?.toLowerCase() === code,
  );
}

/** The known name that a mistyped one is probably meant for. */
export function meantName(word: string): string | undefined {
  return nearest(plainName(word), new Set(MEANINGS.map(({ name }) => name)));
}

/** What an authentication status means; undefined for one that is new. */
export function statusMeaning(status: unknown): Meaning | undefined {
  return STATUS_MEANINGS.find(({ name }) => name === status);
}

/** What a reason or a cancel reason means; undefined for one that is new. */
export function reasonMeaning(reason: unknown): Meaning | undefined {
  return [...REASON_MEANINGS, ...CHALLENGE_MEANINGS].find(
    ({ kind, name }) => name === reason && kind.endsWith('reason'),
  );
}

function plainName(word: string): string {
  return word.trim().toLowerCase().replaceAll(/[_ ]/g, '-');
}
