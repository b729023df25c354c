import { MINUTE_MS } from '../../schema/durations.ts';
import {
  type AuthenticationStatus,
  type CancelReason,
  type ChallengeType,
  STATUS_REASONS,
  type StatusReason,
} from '../../schema/three-ds/values.ts';
import type { EventOf, FinalStatus, ForcedOutcome } from '../state/events.ts';
import type { Session } from '../state/world.ts';
import { type Scenario, scenarioOf } from '../seed/test-cards.ts';

// The time limit for a challenge, in milliseconds from the authentication.
const CHALLENGE_LIFE_MS = 10 * MINUTE_MS;

// The duration of a challenge that ends without the cardholder's reply, in milliseconds.
const UNATTENDED_MS = 5000;

/** The number of wrong codes after which a challenge fails. */
export const MAX_ATTEMPTS = 3;

/** The state of an authentication at a given time. */
export interface AuthenticationOutcome {
  readonly status: AuthenticationStatus;
  readonly reason?: StatusReason | undefined;
  readonly cancelReason?: CancelReason | undefined;
  /** The challenge; absent if none occurs. */
  readonly challenge?: { readonly type: ChallengeType; readonly attempts: number };
}

/** Computes the outcome of a session's authentication at a time. */
export function authenticationOutcomeOf(
  session: Session,
  authentication: EventOf<'3ds-authentication'>,
  now: number,
): AuthenticationOutcome {
  const { forced } = authentication;
  const scenario = scenarioOf(session.created.scenario);
  const age = now - authentication.at;
  if (forced !== undefined && decidesOutcome(forced))
    return forcedOutcomeOf(forced, scenario, { age, answers: answersOf(session, authentication) });
  if (scenario.challenge === undefined) return frictionless(scenario, authentication);
  if (authentication.decoupled) return decoupled(ending(scenario.ends), age);
  // A merchant session has no cardholder present, so the issuer can only challenge decoupled.
  if (session.created.sessionType === 'merchant')
    return { status: 'failed', reason: 'decoupled-authentication-required' };
  const answers = answersOf(session, authentication);
  return challenged(scenario.challenge, ending(scenario.ends), { age, answers });
}

/** The course of a challenge. */
interface Course {
  /** The time since the authentication, in milliseconds. */
  readonly age: number;
  /** The cardholder's answers before the time limit. */
  readonly answers: readonly EventOf<'3ds-challenge'>['answer'][];
}

function answersOf({ answers }: Session, { at: begin }: EventOf<'3ds-authentication'>): Course['answers'] {
  return answers.filter(({ at }) => at < begin + CHALLENGE_LIFE_MS).map(({ answer }) => answer);
}

/** Whether an outcome decides the status, and not only other members such as the ECI. */
export function decidesOutcome({ status, reason, challenge, cancel }: ForcedOutcome): boolean {
  return [status, reason, challenge, cancel].some((part) => part !== undefined);
}

function forcedOutcomeOf(forced: ForcedOutcome, scenario: Scenario, course: Course): AuthenticationOutcome {
  const { cancel, reason } = forced;
  const status = forced.status ?? finalStatusOf(forced, scenario);
  const end: AuthenticationOutcome = {
    status,
    reason: reason ?? (cancel ? CANCEL_REASONS[cancel] : ending(status).reason),
  };
  const type = forced.challenge ?? (cancel && (scenario.challenge ?? 'dynamic'));
  if (type === undefined) return end;
  if (type === 'decoupled') return decoupled({ ...end, cancelReason: cancel }, course.age);
  return cancel === undefined
    ? challenged(type, end, course)
    : canceled(type, { ...end, cancelReason: cancel }, course);
}

function finalStatusOf({ reason, cancel }: ForcedOutcome, { ends }: Scenario): FinalStatus {
  if (reason !== undefined) return STATUS_REASONS[reason];
  return cancel === undefined ? ends : 'failed';
}

/** The status reason for each cancel reason. */
const CANCEL_REASONS: Readonly<Partial<Record<CancelReason, StatusReason>>> = {
  'cardholder-canceled': 'authentication-attempted-but-not-performed',
  'requestor-canceled': 'authentication-attempted-but-not-performed',
  'transaction-abandoned': 'authentication-attempted-but-not-performed',
  'acs-timeout': 'timeout-at-acs',
  'acs-timeout-request-not-received': 'timeout-at-acs',
  error: 'acs-technical-issue',
};

// With the preference for data sharing only, the issuer is informed and does not decide.
function frictionless({ ends }: Scenario, { preference }: EventOf<'3ds-authentication'>): AuthenticationOutcome {
  if (ends === 'successful' && preference === 'no-challenge-data-sharing-only') return { status: 'informational' };
  return ending(ends);
}

function decoupled(end: AuthenticationOutcome, age: number): AuthenticationOutcome {
  if (age < UNATTENDED_MS) return { status: 'decoupled_challenge', challenge: { type: 'decoupled', attempts: 0 } };
  return { ...end, challenge: { type: 'decoupled', attempts: 1 } };
}

/** Computes a challenge that is canceled at the first answer, or after a moment without an answer. */
function canceled(type: ChallengeType, end: AuthenticationOutcome, { age, answers }: Course): AuthenticationOutcome {
  const challenge = { type, attempts: 0 };
  if (answers.length > 0 || age >= UNATTENDED_MS) return { ...end, challenge };
  return { status: 'challenge', challenge };
}

function challenged(type: ChallengeType, end: AuthenticationOutcome, { age, answers }: Course): AuthenticationOutcome {
  let attempts = 0;
  for (const answer of answers) {
    if (answer === 'cancel')
      return {
        status: 'failed',
        reason: CANCEL_REASONS['cardholder-canceled'],
        cancelReason: 'cardholder-canceled',
        challenge: { type, attempts },
      };
    attempts += 1;
    const challenge = { type, attempts };
    if (answer === 'right-code' || answer === 'approve') return { ...end, challenge };
    if (answer === 'decline') return { status: 'failed', reason: 'card-authentication-failed', challenge };
    if (attempts >= MAX_ATTEMPTS) return { status: 'failed', reason: 'max-challenges-exceeded', challenge };
  }
  if (age < CHALLENGE_LIFE_MS) return { status: 'challenge', challenge: { type, attempts } };
  return { status: 'failed', reason: 'timeout-at-acs', cancelReason: 'acs-timeout', challenge: { type, attempts } };
}

function ending(status: FinalStatus): AuthenticationOutcome {
  return { status, reason: REASONS[status] };
}

const REASONS = {
  successful: undefined,
  attempted: undefined,
  failed: 'card-authentication-failed',
  unavailable: 'acs-technical-issue',
  rejected: 'suspected-fraud',
  informational: undefined,
} as const;
