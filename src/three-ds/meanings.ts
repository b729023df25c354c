import {
  AUTHENTICATION_STATUS_CODES,
  type AuthenticationStatus,
  CHALLENGE_CANCEL_REASON_CODES,
  CHALLENGE_PREFERENCE_CODES,
  type METHOD_COMPLETION_INDICATORS,
  type WHITELIST_STATUS_SOURCES,
  type WHITELIST_STATUSES,
} from '../schema/three-ds/values.ts';

/** What a value in a 3DS response means, in the operator's words. */
export interface Meaning {
  /** The field that holds it, in words. */
  readonly kind: string;
  readonly name: string;
  /** The EMV code, where the interface gives one. */
  readonly code?: string | undefined;
  readonly means: string;
  /** Who bears the loss when the payment turns out to be fraud, where the value says something of it. */
  readonly liability?: string | undefined;
  readonly next: string;
}

/** A meaning without what its key in a table already says. */
export type Meanings = Omit<Meaning, 'kind' | 'name' | 'code'>;

/** The meanings of one kind, from what is said of each name and the codes that some have. */
export function meaningsOf(
  kind: string,
  said: Readonly<Record<string, Meanings>>,
  codes: Readonly<Record<string, string>> = {},
): Meaning[] {
  return Object.entries(said).map(([name, rest]) => Object.assign({ kind, name, code: codes[name] }, rest));
}

const WITH_YOU = 'It stays with you.';

const MEANINGS_BY_STATUS: Readonly<Record<AuthenticationStatus, Meanings>> = {
  successful: {
    means: 'The cardholder was authenticated.',
    liability: 'It usually moves to the issuer; the rules of the card network decide.',
    next: 'Authorize the payment with the authentication_value and the eci of this response.',
  },
  attempted: {
    means: 'Authentication was tried and was not possible; the card network vouches in place of the issuer.',
    liability: 'It usually moves to the issuer all the same; the rules of the card network decide.',
    next: 'Authorize the payment with the authentication_value and the eci of this response.',
  },
  failed: {
    means: 'The cardholder was not authenticated.',
    liability: WITH_YOU,
    next: 'Stop the transaction and ask for another card. A further try needs a new session.',
  },
  unavailable: {
    means: 'Authentication could not be performed.',
    liability: WITH_YOU,
    next: 'Try once more in a new session, or continue without an authentication value and bear the risk.',
  },
  challenge: {
    means: 'The issuer wants the cardholder to prove who they are; nothing is decided yet.',
    liability: 'It is open until the challenge is done.',
    next: "Let the cardholder do the challenge with the SDK, then read the outcome with 'svc 3ds challenge-result'.",
  },
  decoupled_challenge: {
    means: 'The issuer asks the cardholder apart from this session; nothing is decided yet.',
    liability: 'It is open until the challenge is done.',
    next: "Wait for the outcome with 'svc 3ds challenge-result <session> --wait', at most as long as decoupled_challenge_max_time.",
  },
  rejected: {
    means: 'The issuer rejected the authentication and asks that the payment is not tried.',
    liability: WITH_YOU,
    next: 'Stop the transaction, do not try this card again, and ask for another one.',
  },
  informational: {
    means: 'No authentication was requested; the issuer was only informed.',
    liability: WITH_YOU,
    next: 'Authorize the payment as one that was not authenticated.',
  },
};

/** Every outcome of an authentication. */
export const STATUS_MEANINGS = meaningsOf(
  'authentication status',
  MEANINGS_BY_STATUS,
  AUTHENTICATION_STATUS_CODES,
);

const NOTHING = 'Nothing is to be done.';

const STATUSES: Readonly<Record<(typeof WHITELIST_STATUSES)[number], Meanings>> = {
  'merchant-trusted': {
    means: 'The cardholder lists the merchant as trusted.',
    next: 'Later payments may ask for no-challenge-whitelist-exemption.',
  },
  'merchant-not-trusted': { means: 'The cardholder does not list the merchant as trusted.', next: NOTHING },
  'not-eligible': { means: 'The issuer lets no such list be kept for this card or merchant.', next: NOTHING },
  'pending-confirmation': {
    means: 'The cardholder was asked to trust the merchant and has not responded.',
    next: 'Ask again later, in a session for whitelist-status-check.',
  },
  'request-to-trust-rejected': { means: 'The cardholder refused to trust the merchant.', next: NOTHING },
  unknown: { means: 'Whether the cardholder trusts the merchant is not known.', next: NOTHING },
};

const SOURCES: Readonly<Record<(typeof WHITELIST_STATUS_SOURCES)[number], Meanings>> = {
  '3ds-server': { means: 'The 3DS server set the whitelist status.', next: NOTHING },
  'directory-server': {
    means: 'The directory server of the card network set the whitelist status.',
    next: NOTHING,
  },
  acs: { means: "The issuer's access control server set the whitelist status.", next: NOTHING },
};

const METHOD: Readonly<Record<(typeof METHOD_COMPLETION_INDICATORS)[number], Meanings & { name: string }>> = {
  Y: {
    name: 'completed',
    means: "The device was looked at by the issuer's 3DS method.",
    next: 'Authenticate now.',
  },
  N: {
    name: 'not-completed',
    means: "The issuer's 3DS method did not complete.",
    next: 'Authenticate all the same; a challenge is more likely.',
  },
  U: {
    name: 'unavailable',
    means: 'Whether the 3DS method completed is not known, or the issuer has none.',
    next: 'Authenticate all the same.',
  },
};

/** What a session holds beside its outcome: trusted merchants, and the 3DS method. */
export const SESSION_MEANINGS: readonly Meaning[] = [
  ...meaningsOf('whitelist status', STATUSES),
  ...meaningsOf('whitelist status source', SOURCES),
  ...Object.entries(METHOD).map(([code, said]) => Object.assign({ kind: 'method completion', code }, said)),
];

const LET_THEM = 'Let the cardholder do it; nothing else is to be done here.';
const IN_THE_BODY = 'Send it as challenge_preference; the issuer may decide otherwise.';
const TRY_AGAIN = 'Nothing was authenticated; let the cardholder try again in a new session.';

const TYPES = meaningsOf('challenge type', {
  static: {
    means: 'The cardholder gives something that stays the same, such as a password.',
    next: LET_THEM,
  },
  dynamic: {
    means: 'The cardholder gives something made for this once, such as a one-time password.',
    next: LET_THEM,
  },
  'out-of-band': {
    means: "The cardholder approves elsewhere, such as in the issuer's mobile app.",
    next: 'Tell the cardholder to look there.',
  },
  decoupled: {
    means: 'The issuer reaches the cardholder apart from the session.',
    next: "Wait for the outcome with 'svc 3ds challenge-result <session> --wait'.",
  },
});

const CANCEL_REASONS = meaningsOf(
  'challenge cancel reason',
  {
    'cardholder-canceled': { means: 'The cardholder gave up the challenge.', next: TRY_AGAIN },
    'requestor-canceled': { means: 'The shop or its SDK ended the challenge.', next: TRY_AGAIN },
    'transaction-abandoned': { means: 'The cardholder left without ending the challenge.', next: TRY_AGAIN },
    'acs-timeout': {
      means: 'The challenge took longer than the issuer waits.',
      next: 'Nothing was authenticated; let the cardholder try again in a new session, and be quicker.',
    },
    'acs-timeout-request-not-received': {
      means: 'The issuer waited for the challenge and it never began.',
      next: 'Check that the challenge reaches the cardholder (frame, pop-up, SDK), then use a new session.',
    },
    error: {
      means: 'The challenge ended with an error.',
      next: 'Try once more in a new session.',
    },
    unknown: { means: 'Nobody said why the challenge ended.', next: TRY_AGAIN },
  },
  CHALLENGE_CANCEL_REASON_CODES,
);

const PREFERENCES = meaningsOf(
  'challenge preference',
  {
    'no-preference': { means: 'The issuer decides about a challenge.', next: IN_THE_BODY },
    'no-challenge': { means: 'No challenge is wished for.', next: IN_THE_BODY },
    'challenge-requested': { means: 'A challenge is wished for.', next: IN_THE_BODY },
    'challenge-mandated': { means: 'A challenge is required, by law for example.', next: IN_THE_BODY },
    'no-challenge-risk-analysis-performed': {
      means: 'No challenge is wished for: the risk was analysed already.',
      next: IN_THE_BODY,
    },
    'no-challenge-data-sharing-only': {
      means: 'No challenge is wished for: the data are only shared.',
      next: IN_THE_BODY,
    },
    'no-challenge-strong-consumer-auth': {
      means: 'No challenge is wished for: the cardholder was strongly authenticated already.',
      next: IN_THE_BODY,
    },
    'no-challenge-whitelist-exemption': {
      means: 'No challenge is wished for: the cardholder lists the merchant as trusted.',
      next: IN_THE_BODY,
    },
    'challenge-requested-whitelist-prompt': {
      means: 'A challenge is wished for, with the question whether to trust the merchant.',
      next: IN_THE_BODY,
    },
    'cartes-bancaires': { means: 'The preference of the Cartes Bancaires network.', next: IN_THE_BODY },
  },
  CHALLENGE_PREFERENCE_CODES,
);

const MANDATED: readonly Meaning[] = [
  {
    kind: 'acs_challenge_mandated',
    name: 'yes',
    code: 'Y',
    means: 'The issuer must challenge the cardholder.',
    next: LET_THEM,
  },
  {
    kind: 'acs_challenge_mandated',
    name: 'no',
    code: 'N',
    means: 'The issuer need not challenge the cardholder.',
    next: 'Nothing is to be done.',
  },
];

/** Everything about challenges: kinds, preferences, and why one ended. */
export const CHALLENGE_MEANINGS: readonly Meaning[] = [
  ...TYPES,
  ...CANCEL_REASONS,
  ...PREFERENCES,
  ...MANDATED,
];
