import { NAMESPACE, uuidOf } from '../seed/random.ts';
import type { StartEvent } from '../state/events.ts';
import type {
  AuthenticationEvent,
  ChallengeEvent,
  MethodEvent,
  SessionEvent,
  ThreeDsEvent,
} from './events.ts';

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
