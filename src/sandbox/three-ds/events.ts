import type { AuthenticationType } from '../../schema/three-ds/request-values.ts';
import type { CHALLENGE_PREFERENCE_CODES, SessionType } from '../../schema/three-ds/values.ts';
import type { ScenarioName } from './scenarios.ts';

// What the journal holds of 3-D Secure. Nothing of a cardholder is kept.

/** A wish for or against a challenge. */
export type ChallengePreference = keyof typeof CHALLENGE_PREFERENCE_CODES;

/** A session was created. */
export interface SessionEvent {
  readonly type: '3ds-session';
  readonly at: number;
  /** Tells the process that wrote the line which of the sessions is its own. */
  readonly nonce: string;
  /** Number of the application that created it. */
  readonly application: number;
  readonly sessionType: SessionType;
  /** The member of the request that named the token. */
  readonly named: 'token_id' | 'token_intent_id' | 'pan';
  readonly token: string;
  readonly network: string;
  readonly lastFour: string;
  readonly scenario: ScenarioName;
}

/** The method page of a session was visited, and later its completion notified. */
export interface MethodEvent {
  readonly type: '3ds-method';
  readonly at: number;
  readonly session: string;
  /** What the browser tells of itself with the visit; absent for the notification. */
  readonly browser?: BrowserDetails;
}

/** What a browser tells of itself with every request. */
export interface BrowserDetails {
  readonly accept: string;
  readonly address: string;
  readonly userAgent: string;
}

/** A session was authenticated, or its challenge begun. */
export interface AuthenticationEvent {
  readonly type: '3ds-authentication';
  readonly at: number;
  readonly session: string;
  readonly application: number;
  readonly authenticationType: AuthenticationType;
  readonly preference?: ChallengePreference;
  /** Whether the issuer may challenge apart from the session. */
  readonly decoupled: boolean;
  /** What the challenge page shows of the request. */
  readonly shown: ShownPurchase;
}

/** What a challenge page shows of a request. */
export interface ShownPurchase {
  readonly merchant: string;
  /** Amount with its currency code; absent where nothing is paid. */
  readonly amount?: string;
}

/** What a cardholder can do on a challenge page. */
export type ChallengeAnswer = 'right-code' | 'wrong-code' | 'approve' | 'decline' | 'cancel';

/** A cardholder answered a challenge. */
export interface ChallengeEvent {
  readonly type: '3ds-challenge';
  readonly at: number;
  readonly session: string;
  readonly answer: ChallengeAnswer;
}

/** A line of the journal about 3-D Secure. */
export type ThreeDsEvent = SessionEvent | MethodEvent | AuthenticationEvent | ChallengeEvent;
