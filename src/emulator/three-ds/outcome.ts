import type { AuthenticationStatus, CHALLENGE_CANCEL_REASON_CODES } from '../../schema/three-ds/values.ts';
import type { EventOf } from '../state/events.ts';
import type { Session } from '../state/world.ts';
import { type Scenario, scenarioOf } from '../vault/test-cards.ts';

// The time limit for a challenge, in milliseconds from the authentication.
const CHALLENGE_LIFE_MS = 10 * 60_000;

// The duration of a decoupled challenge, in milliseconds.
const DECOUPLED_MS = 5000;

/** The number of wrong codes after which a challenge fails. */
export const MAX_ATTEMPTS = 3;

/** The state of an authentication at a given time. */
export interface Outcome {
  readonly status: AuthenticationStatus;
  readonly reason?: string | undefined;
  readonly cancelReason?: keyof typeof CHALLENGE_CANCEL_REASON_CODES | undefined;
  /** The challenge; absent if none occurs. */
  readonly challenge?: { readonly type: 'dynamic' | 'out-of-band' | 'decoupled'; readonly attempts: number };
}

/** Computes the outcome of a session's authentication at a time. */
export function outcomeOf(session: Session, authentication: EventOf<'3ds-authentication'>, now: number): Outcome {
  const scenario = scenarioOf(session.created.scenario);
  if (scenario.challenge === undefined) return frictionless(scenario, authentication);
  if (authentication.decoupled) return decoupled(scenario, now - authentication.at);
  // A merchant session has no cardholder present, so the issuer can only challenge decoupled.
  if (session.created.sessionType === 'merchant')
    return { status: 'failed', reason: 'decoupled-authentication-required' };
  return challenged(scenario.challenge, scenario, session.answers, {
    until: authentication.at + CHALLENGE_LIFE_MS,
    now,
  });
}

// With this preference the issuer is informed and decides nothing.
function frictionless(scenario: Scenario, { preference }: EventOf<'3ds-authentication'>): Outcome {
  if (scenario.ends === 'successful' && preference === 'no-challenge-data-sharing-only')
    return { status: 'informational' };
  return ending(scenario);
}

function decoupled(scenario: Scenario, age: number): Outcome {
  if (age < DECOUPLED_MS) return { status: 'decoupled_challenge', challenge: { type: 'decoupled', attempts: 0 } };
  return { ...ending(scenario), challenge: { type: 'decoupled', attempts: 1 } };
}

function challenged(
  type: 'dynamic' | 'out-of-band',
  scenario: Scenario,
  answers: readonly EventOf<'3ds-challenge'>[],
  { until, now }: { until: number; now: number },
): Outcome {
  let attempts = 0;
  for (const { answer, at } of answers) {
    if (at >= until) break;
    if (answer === 'cancel')
      return {
        status: 'failed',
        reason: 'authentication-attempted-but-not-performed',
        cancelReason: 'cardholder-canceled',
        challenge: { type, attempts },
      };
    attempts += 1;
    const challenge = { type, attempts };
    if (answer === 'right-code' || answer === 'approve') return { ...ending(scenario), challenge };
    if (answer === 'decline') return { status: 'failed', reason: 'card-authentication-failed', challenge };
    if (attempts >= MAX_ATTEMPTS) return { status: 'failed', reason: 'max-challenges-exceeded', challenge };
  }
  if (now < until) return { status: 'challenge', challenge: { type, attempts } };
  return { status: 'failed', reason: 'timeout-at-acs', cancelReason: 'acs-timeout', challenge: { type, attempts } };
}

function ending({ ends }: Scenario): Outcome {
  return { status: ends, reason: REASONS[ends] };
}

const REASONS = {
  successful: undefined,
  attempted: undefined,
  failed: 'card-authentication-failed',
  unavailable: 'acs-technical-issue',
  rejected: 'suspected-fraud',
} as const;
