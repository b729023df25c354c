import type {
  Authentication,
  AuthenticationResult,
  ChallengeResult,
} from '../../schema/three-ds/authentication.ts';
import {
  AUTHENTICATION_STATUS_CODES,
  CHALLENGE_CANCEL_REASON_CODES,
  CHALLENGE_PREFERENCE_CODES,
} from '../../schema/three-ds/values.ts';
import { hex, mix, NAMESPACE, uuidOf } from '../seed/random.ts';
import type { Service } from '../service.ts';
import type { AuthenticationEvent } from './events.ts';
import { eciOf, findNetwork } from './networks.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { challengeAddress } from './page-address.ts';
import { scenarioOf } from './scenarios.ts';
import type { Session } from './sessions.ts';
import { PROTOCOL_VERSION } from './version.ts';

/** What the three answers about an authentication are made from. */
export interface Authenticated {
  readonly service: Service;
  readonly session: Session;
  readonly authentication: AuthenticationEvent;
  readonly now: number;
}

/** The outcome as authenticate answers it. Fields that do not apply are absent. */
export function resultView(authenticated: Authenticated): AuthenticationResult {
  const { session, authentication, now } = authenticated;
  const outcome = outcomeOf(session, authentication, now);
  const network = findNetwork(session.created.network);
  return present({
    threeds_version: PROTOCOL_VERSION,
    acs_transaction_id: transactionId(authenticated, 1),
    ds_transaction_id: transactionId(authenticated, 2),
    acs_reference_number: 'SANDBOX-ACS-0001',
    ds_reference_number: `SANDBOX-DS-${session.created.network.toUpperCase()}`,
    authentication_value: isProof(outcome) ? authenticationValue(authenticated) : undefined,
    authentication_status: outcome.status,
    eci: network && eciOf(network, outcome.status),
  });
}

/** The outcome as the challenge result answers it. */
export function challengeResultView(authenticated: Authenticated): ChallengeResult {
  const { service, session, authentication, now } = authenticated;
  const { challenge } = outcomeOf(session, authentication, now);
  const isOnPage = challenge !== undefined && challenge.type !== 'decoupled';
  return present({
    ...resultView(authenticated),
    acs_challenge_mandated: scenarioOf(session.created.scenario).mandated === true ? 'Y' : 'N',
    authentication_challenge_type: challenge?.type,
    acs_challenge_url: isOnPage ? challengeAddress(service, session) : undefined,
    challenge_attempts: challenge && String(challenge.attempts),
    message_extensions: [],
  });
}

/** The outcome as a session read carries it. */
export function authenticationView(authenticated: Authenticated): Authentication {
  const { session, authentication, now } = authenticated;
  const { status, reason, cancelReason } = outcomeOf(session, authentication, now);
  const { preference, authenticationType } = authentication;
  return present({
    ...challengeResultView(authenticated),
    ...tokenNames(session),
    authentication_status_code: AUTHENTICATION_STATUS_CODES[status],
    authentication_status_reason: reason,
    challenge_preference: preference,
    challenge_preference_code: preference && CHALLENGE_PREFERENCE_CODES[preference],
    challenge_cancel_reason: cancelReason,
    challenge_cancel_reason_code: cancelReason && CHALLENGE_CANCEL_REASON_CODES[cancelReason],
    cardholder_info:
      status === 'failed' || status === 'rejected'
        ? 'Please call the bank that issued your card.'
        : undefined,
    ...(authenticationType === 'whitelist-status-check' && {
      whitelist_status: 'merchant-not-trusted',
      whitelist_status_source: 'acs',
    }),
  });
}

/** The members that name a session's token. The deprecated one comes back where it was used. */
export function tokenNames({ created: { named, token } }: Session): Record<string, string> {
  if (named === 'token_intent_id') return { token_intent_id: token };
  return { token_id: token, ...(named === 'pan' && { pan_token_id: token }) };
}

function isProof({ status }: Outcome): boolean {
  return status === 'successful' || status === 'attempted';
}

function transactionId({ service, session }: Authenticated, party: number): string {
  const { seed, at } = service.state.world.start;
  return uuidOf(seed, NAMESPACE.transaction, at % 2 ** 32, session.number, party);
}

// 20 bytes, as every network's value is long.
function authenticationValue({ service, session }: Authenticated): string {
  const { seed, at } = service.state.world.start;
  const words = [1, 2, 3, 4, 5].map((word) =>
    mix(seed, NAMESPACE.transaction, at % 2 ** 32, session.number, 16 + word),
  );
  return Buffer.from(words.map((word) => hex(word, 8)).join(''), 'hex').toString('base64');
}

function present<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
