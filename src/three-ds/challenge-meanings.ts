import { CHALLENGE_CANCEL_REASON_CODES, CHALLENGE_PREFERENCE_CODES } from '../schema/three-ds/values.ts';
import { type Meaning, meaningsOf } from './meaning.ts';

const LET_THEM = 'Let the cardholder do it; nothing else is to be done here.';
const IN_THE_BODY = 'Send it as challenge_preference; the issuer may decide otherwise.';
const AGAIN = 'Nothing was authenticated; let the cardholder try again in a new session.';

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
    'cardholder-canceled': { means: 'The cardholder gave up the challenge.', next: AGAIN },
    'requestor-canceled': { means: 'The shop or its SDK ended the challenge.', next: AGAIN },
    'transaction-abandoned': { means: 'The cardholder left without ending the challenge.', next: AGAIN },
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
    unknown: { means: 'Nobody said why the challenge ended.', next: AGAIN },
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
