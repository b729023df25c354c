import { AUTHENTICATION_STATUS_CODES, type AuthenticationStatus } from '../schema/three-ds/values.ts';
import { meaningsOf, type Said } from './meaning.ts';

const WITH_YOU = 'It stays with you.';

const SAID: Readonly<Record<AuthenticationStatus, Said>> = {
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
export const STATUS_MEANINGS = meaningsOf('authentication status', SAID, AUTHENTICATION_STATUS_CODES);
