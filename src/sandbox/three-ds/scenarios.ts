import type { AuthenticationStatus } from '../../schema/three-ds/values.ts';

/** How an authentication goes. */
export interface Scenario {
  /** How it ends, after a challenge when the cardholder does as asked. */
  readonly ends: Exclude<AuthenticationStatus, 'challenge' | 'decoupled_challenge' | 'informational'>;
  /** The kind of challenge on the way; absent where there is none. */
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
  'Successful Mandated Challenge Authentication': {
    ends: 'successful',
    challenge: 'dynamic',
    mandated: true,
  },
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
