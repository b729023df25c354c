import type {
  AuthenticationType,
  CHALLENGE_PREFERENCE_CODES,
  SessionType,
} from '../../schema/three-ds/values.ts';
import { NAMESPACE, uuidOf } from '../seed/random.ts';
import type { StartEvent } from '../state/events.ts';
import type { ScenarioName } from './networks.ts';

// How long a session lives, in milliseconds. The interface gives it an end and does not say when.
const SESSION_LIFE_MS = 3_600_000;

/** A 3DS session as the journal tells it. */
export interface Session {
  /** Counted from 1 in the order of the journal. */
  readonly number: number;
  readonly id: string;
  readonly created: SessionEvent;
  /** The first visit of the method page. */
  visit?: MethodEvent;
  /** The first notification that the method is completed. */
  notified?: MethodEvent;
  /** The first authentication; there is no second. */
  authentication?: AuthenticationEvent;
  /** Oldest first. */
  readonly answers: ChallengeEvent[];
}

/** Every session of a sandbox. */
export class Sessions {
  readonly #start: StartEvent;
  readonly #byId = new Map<string, Session>();
  readonly #byNonce = new Map<string, Session>();

  constructor(start: StartEvent) {
    this.#start = start;
  }

  /** Finds a session that has not expired. */
  find(id: string, now: number): Session | undefined {
    const session = this.findEver(id);
    return session !== undefined && now < expiryOf(session) ? session : undefined;
  }

  /** Finds a session, expired or not. */
  findEver(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  /** The session that an event of this nonce made. */
  createdWith(nonce: string): Session | undefined {
    return this.#byNonce.get(nonce);
  }

  /** Takes one event in. */
  apply(event: ThreeDsEvent): void {
    if (event.type === '3ds-session') return this.#add(event);
    const session = this.#byId.get(event.session);
    if (session === undefined) return;
    if (event.type === '3ds-authentication') session.authentication ??= event;
    else if (event.type === '3ds-challenge') session.answers.push(event);
    else if (event.browser === undefined) session.notified ??= event;
    else session.visit ??= event;
  }

  // The time of the start is in the id: after a reset no old one comes back.
  #add(created: SessionEvent): void {
    const number = this.#byId.size + 1;
    const { seed, at } = this.#start;
    const id = uuidOf(seed, NAMESPACE.session, Math.floor(at / 2 ** 32), at % 2 ** 32, number);
    const session: Session = { number, id, created, answers: [] };
    this.#byId.set(id, session);
    this.#byNonce.set(created.nonce, session);
  }
}

/** When a session expires. */
export function expiryOf({ created }: Session): number {
  return created.at + SESSION_LIFE_MS;
}

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
export type ChallengeReply = 'right-code' | 'wrong-code' | 'approve' | 'decline' | 'cancel';

/** A cardholder answered a challenge. */
export interface ChallengeEvent {
  readonly type: '3ds-challenge';
  readonly at: number;
  readonly session: string;
  readonly answer: ChallengeReply;
}

/** A line of the journal about 3-D Secure. */
export type ThreeDsEvent = SessionEvent | MethodEvent | AuthenticationEvent | ChallengeEvent;
