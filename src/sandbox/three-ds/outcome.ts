import type { AuthenticationStatus, CHALLENGE_CANCEL_REASON_CODES } from '../../schema/three-ds/values.ts';
import type { AuthenticationEvent, ChallengeEvent } from '../state/events.ts';
import type { Session } from '../state/world.ts';

/** A card network as 3-D Secure knows it. */
export interface Network {
  /** The registered application provider identifier: how SDKs name a network's directory server. */
  readonly directoryServer: string;
  /** Electronic commerce indicators. */
  readonly eci: { readonly authenticated: string; readonly attempted: string; readonly none: string };
  /** The indicator of a message for information only. */
  readonly dataOnly: string;
}

const USUAL = { authenticated: '05', attempted: '06', none: '07' };

const NETWORKS: Readonly<Record<string, Network>> = {
  visa: { directoryServer: 'A000000003', eci: USUAL, dataOnly: '07' },
  mastercard: {
    directoryServer: 'A000000004',
    eci: { authenticated: '02', attempted: '01', none: '00' },
    dataOnly: '04',
  },
  amex: { directoryServer: 'A000000025', eci: USUAL, dataOnly: '07' },
  discover: { directoryServer: 'A000000152', eci: USUAL, dataOnly: '07' },
  jcb: { directoryServer: 'A000000065', eci: USUAL, dataOnly: '07' },
};

/** Finds a network by its name; undefined for one that takes no part in 3-D Secure. */
export function findNetwork(name: string): Network | undefined {
  return NETWORKS[name];
}

/** The indicator that goes with an outcome; undefined while there is none. */
export function eciOf({ eci, dataOnly }: Network, status: AuthenticationStatus): string | undefined {
  if (status === 'challenge' || status === 'decoupled_challenge') return undefined;
  if (status === 'informational') return dataOnly;
  if (status === 'successful') return eci.authenticated;
  return status === 'attempted' ? eci.attempted : eci.none;
}

/** The network that a card number of these first digits belongs to; empty for one that is not known. */
export function networkOf(number: string): string {
  return RANGES.find(([pattern]) => pattern.test(number))?.[1] ?? '';
}

const RANGES: readonly (readonly [RegExp, string])[] = [
  [/^4/, 'visa'],
  [/^(5[1-5]|2(22[1-9]|2[3-9]|[3-6]|7[01]|720))/, 'mastercard'],
  [/^3[47]/, 'amex'],
  [/^(6011|64[4-9]|65)/, 'discover'],
  [/^35(2[89]|[3-8])/, 'jcb'],
];

/** How an authentication goes. */
export interface Scenario {
  /** How it ends, after a challenge when the cardholder does as asked. */
  readonly ends: Exclude<AuthenticationStatus, 'challenge' | 'decoupled_challenge' | 'informational'>;
  /** The type of challenge; absent without one. */
  readonly challenge?: 'dynamic' | 'out-of-band';
  /** Whether the issuer insists on the challenge. */
  readonly mandated?: boolean;
  /** Set where the browser is not asked for its details first. */
  readonly withoutMethod?: boolean;
  /** Set where no outcome comes at all. */
  readonly breaks?: 'directory-server' | '3ds-server';
}

/** The scenarios of the service's test cards, by their published names. */
export const SCENARIOS = {
  'Successful Frictionless Authentication': { ends: 'successful' },
  'Successful Challenge Authentication': { ends: 'successful', challenge: 'dynamic' },
  'Successful Challenge Authentication - Method not Required': {
    ends: 'successful',
    challenge: 'dynamic',
    withoutMethod: true,
  },
  'Successful Mandated Challenge Authentication': { ends: 'successful', challenge: 'dynamic', mandated: true },
  'Successful Out-of-Band Challenge Authentication': { ends: 'successful', challenge: 'out-of-band' },
  'Attempted Challenge Authentication': { ends: 'attempted', challenge: 'dynamic' },
  'Authentication Attempted': { ends: 'attempted' },
  'Authentication Failed': { ends: 'failed' },
  'Authentication Unavailable': { ends: 'unavailable' },
  'Authentication Rejected': { ends: 'rejected' },
  'Failed Challenge Authentication': { ends: 'failed', challenge: 'dynamic' },
  'Failed Out of Band Challenge Authentication': { ends: 'failed', challenge: 'out-of-band' },
  'Unavailable Challenge Authentication': { ends: 'unavailable', challenge: 'dynamic' },
  'Rejected Challenge Authentication': { ends: 'rejected', challenge: 'dynamic' },
  '3DS Directory Server Error': { ends: 'unavailable', breaks: 'directory-server' },
  'Internal 3DS Server Error': { ends: 'unavailable', breaks: '3ds-server' },
} as const satisfies Readonly<Record<string, Scenario>>;

/** A published name of a scenario. */
export type ScenarioName = keyof typeof SCENARIOS;

/** The scenario of every card that is no test card of 3-D Secure. */
export const ORDINARY: ScenarioName = 'Successful Frictionless Authentication';

/** How the authentication of a card of this scenario goes. */
export function scenarioOf(name: ScenarioName): Scenario {
  return SCENARIOS[name];
}

// How long a cardholder has for a challenge, in milliseconds from the authentication.
const CHALLENGE_LIFE_MS = 10 * 60_000;

// How long the issuer takes for a decoupled challenge, in milliseconds.
const DECOUPLED_MS = 5000;

/** How often a code may be wrong. */
export const MAX_ATTEMPTS = 3;

/** What is to be said of an authentication at a time. */
export interface Outcome {
  readonly status: AuthenticationStatus;
  readonly reason?: string | undefined;
  readonly cancelReason?: keyof typeof CHALLENGE_CANCEL_REASON_CODES | undefined;
  /** Absent where no challenge occurs. */
  readonly challenge?: { readonly type: 'dynamic' | 'out-of-band' | 'decoupled'; readonly attempts: number };
}

/** The outcome of a session's authentication at a time. */
export function outcomeOf(session: Session, authentication: AuthenticationEvent, now: number): Outcome {
  const scenario = scenarioOf(session.created.scenario);
  if (scenario.challenge === undefined) return frictionless(scenario, authentication);
  if (authentication.decoupled) return decoupled(scenario, now - authentication.at);
  // No cardholder is present.
  if (session.created.sessionType === 'merchant')
    return { status: 'failed', reason: 'decoupled-authentication-required' };
  return challenged(scenario.challenge, scenario, session.answers, {
    until: authentication.at + CHALLENGE_LIFE_MS,
    now,
  });
}

// With this preference the issuer is only informed.
function frictionless(scenario: Scenario, { preference }: AuthenticationEvent): Outcome {
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
  answers: readonly ChallengeEvent[],
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
