import { ownMember } from '../../schema/own-member.ts';
import type {
  Authentication,
  AuthenticationResult,
  ChallengeResult,
  CreatedSession,
  ThreeDsSession,
} from '../../schema/three-ds/session.ts';
import {
  AUTHENTICATION_STATUS_CODES,
  CHALLENGE_CANCEL_REASON_CODES,
  CHALLENGE_PREFERENCE_CODES,
} from '../../schema/three-ds/values.ts';
import { applicationId } from '../seed/logs.ts';
import { hex, mix, NAMESPACE, uuidOf } from '../seed/random.ts';
import type { Service } from '../service.ts';
import type { EventOf } from '../state/events.ts';
import { type Session, sessionExpiry } from '../state/world.ts';
import { eciOf, NETWORKS, scenarioOf } from '../seed/test-cards.ts';
import { authenticationOutcomeOf } from './outcome.ts';
import { notificationAddress, pageAddress } from './pages/page.ts';

export function createdView(service: Service, session: Session): CreatedSession {
  const { created, id } = session;
  return {
    id,
    type: created.sessionType,
    card_brand: created.network,
    ...(needsMethod(session) && {
      method_url: pageAddress(service, 'method', session),
      method_notification_url: notificationAddress(service, session),
    }),
    directory_server_id: ownMember(NETWORKS, created.network)?.directoryServer,
    recommended_version: PROTOCOL_VERSION,
  };
}

export function sessionView(service: Service, session: Session, now: number): ThreeDsSession {
  const { start, tenantId } = service.state.world;
  const { created, id, authentication } = session;
  return {
    id,
    tenant_id: tenantId,
    type: created.sessionType,
    ...tokenNames(session),
    card_brand: created.network,
    expiration_date: new Date(sessionExpiry(session)).toISOString(),
    created_date: new Date(created.at).toISOString(),
    created_by: applicationId(start.seed, created.application),
    ...(authentication !== undefined && {
      modified_date: new Date(authentication.at).toISOString(),
      modified_by: applicationId(start.seed, authentication.application),
    }),
    ...deviceView(session),
    version: VERSION,
    method: methodView(service, session),
    ...(authentication !== undefined &&
      !isHidden({ service, session, authentication, now }) && {
        authentication: authenticationView({ service, session, authentication, now }),
      }),
  };
}

// Tells whether the issuer requests the browser's details before the authentication.
function needsMethod({ created }: Session): boolean {
  return scenarioOf(created.scenario).withoutMethod !== true;
}

// Returns the device that requests described, else the browser that visited the method page.
function deviceView({ created, visit, authentication }: Session): Pick<ThreeDsSession, 'device' | 'device_info'> {
  const posted = { ...created.posted, ...authentication?.posted };
  if (Object.keys(posted).length > 0) return posted;
  if (created.sessionType === 'merchant') return {};
  if (visit?.browser === undefined) return { device: 'browser' };
  const { accept, address, userAgent } = visit.browser;
  return {
    device: 'browser',
    device_info: { browser_accept_header: accept, browser_ip_address: address, browser_user_agent: userAgent },
  };
}

function methodView(service: Service, session: Session): ThreeDsSession['method'] {
  if (!needsMethod(session)) return { method_completion_indicator: 'U' };
  return {
    method_url: pageAddress(service, 'method', session),
    method_completion_indicator: session.notified === undefined ? 'N' : 'Y',
  };
}

/** The version of 3-D Secure that the sandbox uses. */
const PROTOCOL_VERSION = '2.2.0';

/** The versions that all parties of the sandbox support, oldest first. */
const KNOWN_VERSIONS: readonly string[] = ['2.1.0', PROTOCOL_VERSION];

const VERSION: ThreeDsSession['version'] = {
  recommended_version: PROTOCOL_VERSION,
  available_version: [...KNOWN_VERSIONS],
  earliest_acs_supported_version: KNOWN_VERSIONS[0],
  earliest_ds_supported_version: KNOWN_VERSIONS[0],
  latest_acs_supported_version: PROTOCOL_VERSION,
  latest_ds_supported_version: PROTOCOL_VERSION,
  acs_information: ['01', '02'],
};

/** The common input of the three responses about an authentication. */
export interface Authenticated {
  readonly service: Service;
  readonly session: Session;
  readonly authentication: EventOf<'3ds-authentication'>;
  readonly now: number;
}

/** Whether responses leave out an authentication because its challenge is open. */
export function isHidden({ service, session, authentication, now }: Authenticated): boolean {
  const { status } = authenticationOutcomeOf(session, authentication, now);
  return service.options.hideOpenChallenges === true && (status === 'challenge' || status === 'decoupled_challenge');
}

/** Returns the response to `authenticate`, without fields that do not apply. */
export function resultView(authenticated: Authenticated): AuthenticationResult {
  const { session, authentication, now } = authenticated;
  const outcome = authenticationOutcomeOf(session, authentication, now);
  const network = ownMember(NETWORKS, session.created.network);
  return present({
    threeds_version: PROTOCOL_VERSION,
    acs_transaction_id: transactionId(authenticated, 1),
    ds_transaction_id: transactionId(authenticated, 2),
    acs_reference_number: 'SANDBOX-ACS-0001',
    ds_reference_number: `SANDBOX-DS-${session.created.network.toUpperCase()}`,
    authentication_value: ['successful', 'attempted'].includes(outcome.status)
      ? authenticationValue(authenticated)
      : undefined,
    authentication_status: outcome.status,
    eci: authentication.forced?.eci ?? (network && eciOf(network, outcome.status)),
  });
}

export function challengeResultView(authenticated: Authenticated): ChallengeResult {
  const { service, session, authentication, now } = authenticated;
  const { challenge } = authenticationOutcomeOf(session, authentication, now);
  const isOnPage = challenge !== undefined && challenge.type !== 'decoupled';
  return present({
    ...resultView(authenticated),
    acs_challenge_mandated:
      authentication.forced?.mandated ?? (scenarioOf(session.created.scenario).mandated === true ? 'Y' : 'N'),
    authentication_challenge_type: challenge?.type,
    acs_challenge_url: isOnPage ? pageAddress(service, 'challenge', session) : undefined,
    challenge_attempts: challenge && String(challenge.attempts),
    message_extensions: [...(authentication.extensions ?? [])],
  });
}

/** Returns the authentication as a part of its session. */
function authenticationView(authenticated: Authenticated): Authentication {
  const { session, authentication, now } = authenticated;
  const { status, reason, cancelReason } = authenticationOutcomeOf(session, authentication, now);
  const { preference, authenticationType, forced } = authentication;
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
      status === 'failed' || status === 'rejected' ? 'Please call the bank that issued your card.' : undefined,
    ...((authenticationType === 'whitelist-status-check' || forced?.whitelist || forced?.source) && {
      whitelist_status: forced?.whitelist ?? 'merchant-not-trusted',
      whitelist_status_source: forced?.source ?? 'acs',
    }),
  });
}

/** Returns the members that name a session's token. A deprecated name is returned only if the request used it. */
function tokenNames({ created: { named, token } }: Session): Record<string, string> {
  if (named === 'token_intent_id') return { token_intent_id: token };
  return { token_id: token, ...(named === 'pan' && { pan_token_id: token }) };
}

function transactionId({ service, session }: Authenticated, party: number): string {
  const { seed, at } = service.state.world.start;
  return uuidOf(seed, NAMESPACE.transaction, at % 2 ** 32, session.number, party);
}

// Every network's value has 20 bytes.
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
