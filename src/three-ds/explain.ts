import type { AUTHENTICATION_STATUS_REASONS } from '../schema/three-ds/values.ts';
import { nearest } from '../security/typed-word.ts';
import {
  CHALLENGE_MEANINGS,
  type Meaning,
  type Meanings,
  meaningsOf,
  SESSION_MEANINGS,
  STATUS_MEANINGS,
} from './meanings.ts';

const OTHER_CARD = 'Ask for another card.';
const NO_RETRY = 'Stop the transaction, do not try this card again, and do not tell the buyer why.';
const TRY_LATER =
  'Try once more in a new session; if it happens again, go on without or ask for another card.';
const BY_STATUS = 'Go by the authentication status.';

const MEANINGS_BY_REASON: Readonly<Record<(typeof AUTHENTICATION_STATUS_REASONS)[number], Meanings>> = {
  'card-authentication-failed': {
    means: 'The issuer could not confirm that this is the cardholder.',
    next: 'Ask for another card, or let the cardholder try again in a new session.',
  },
  'unknown-device': {
    means: 'The issuer does not know the device.',
    next: 'Let the cardholder use a device that they use with their bank, or ask for another card.',
  },
  'unsupported-device': {
    means: 'The issuer cannot authenticate on this kind of device.',
    next: 'Let the cardholder use another device, or ask for another card.',
  },
  'too-many-authentication-attempts': {
    means: 'The cardholder was authenticated too often of late.',
    next: 'Do not try again now. Ask for another card, or try much later in a new session.',
  },
  'card-expired': {
    means: 'The card has expired.',
    next: "Ask for another card; 'svc au submit' finds the new dates of cards on file.",
  },
  'invalid-card-number': {
    means: 'The issuer does not take this card number.',
    next: 'Check what the token holds, or ask for another card.',
  },
  'invalid-transaction': {
    means: 'The issuer does not take this transaction as it was described.',
    next: 'Check category, type, amount, currency and merchant in the body, then try in a new session.',
  },
  'no-card-record': { means: 'The issuer has no such card.', next: OTHER_CARD },
  'security-failure': {
    means: 'A check of the security of the messages failed.',
    next: "Do not try again; give the session id to the service's support.",
  },
  'stolen-card': { means: 'The card is reported as stolen.', next: NO_RETRY },
  'suspected-fraud': { means: 'The issuer suspects fraud.', next: NO_RETRY },
  'transaction-not-permitted': {
    means: 'The cardholder may not make this kind of transaction with the card.',
    next: OTHER_CARD,
  },
  'cardholder-not-enrolled': {
    means: 'The cardholder does not take part in 3-D Secure.',
    next: 'Go on without authentication and bear the risk, or ask for another card.',
  },
  'timeout-at-acs': { means: 'The server of the issuer did not answer in time.', next: TRY_LATER },
  'low-confidence': { means: 'The issuer has little trust that this is the cardholder.', next: BY_STATUS },
  'medium-confidence': { means: 'The issuer has some trust that this is the cardholder.', next: BY_STATUS },
  'high-confidence': { means: 'The issuer trusts that this is the cardholder.', next: BY_STATUS },
  'very-high-confidence': { means: 'The issuer is as good as sure of the cardholder.', next: BY_STATUS },
  'max-challenges-exceeded': {
    means: 'The cardholder failed the challenge as often as the issuer allows.',
    next: 'Ask for another card, or try later in a new session.',
  },
  'non-payment-transaction-not-supported': {
    means: 'The issuer does not authenticate without a payment.',
    next: 'Authenticate with the first payment, or go on without.',
  },
  '3ri-not-supported': {
    means: 'The issuer does not authenticate what the merchant starts alone.',
    next: 'Use a session of type customer while the cardholder is there, or go on without.',
  },
  'acs-technical-issue': { means: 'The server of the issuer has a technical problem.', next: TRY_LATER },
  'decoupled-authentication-required': {
    means: 'The issuer authenticates only in a decoupled challenge.',
    next: 'Send request_decoupled_challenge true and a decoupled_challenge_max_time in a new session.',
  },
  'decoupled-authentication-timeout': {
    means: 'The cardholder did not answer the decoupled challenge in time.',
    next: 'Tell the cardholder to expect it, allow a longer decoupled_challenge_max_time, and use a new session.',
  },
  'insufficient-decoupled-authentication-time': {
    means: 'The issuer needs more time for a decoupled challenge than it was given.',
    next: 'Allow a longer decoupled_challenge_max_time in a new session.',
  },
  'authentication-attempted-but-not-performed': {
    means: 'The issuer was asked and did not perform the authentication.',
    next: BY_STATUS,
  },
};

/** Every reason that an outcome can come with. */
const REASON_MEANINGS = meaningsOf('authentication status reason', MEANINGS_BY_REASON);

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
  const meaning = statusMeaning(status);
  if (meaning === undefined) {
    return [
      `${status}: a status that this version does not know`,
      'next: do not count on the authentication before you know what it means',
    ];
  }
  const reasons = [outcome.authentication_status_reason, outcome.challenge_cancel_reason].map(reasonMeaning);
  const known = reasons.filter((reason) => reason !== undefined);
  return [
    `${status}: ${meaning.means}`,
    ...known.map(({ kind, name, means }) => `${kind} ${name}: ${means}`),
    ...(meaning.liability === undefined ? [] : [`liability for fraud: ${meaning.liability}`]),
    `next: ${meaning.next}`,
    ...known
      .filter(({ next }) => !next.startsWith('Go by'))
      .map(({ name, next }) => `because of ${name}: ${next}`),
  ];
}
