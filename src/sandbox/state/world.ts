import type {
  AuthenticationType,
  CHALLENGE_PREFERENCE_CODES,
  SessionType,
} from '../../schema/three-ds/values.ts';
import { NAMESPACE, uuidOf } from '../seed/random.ts';
import type { ScenarioName } from '../three-ds/networks.ts';
import type {
  AuditEvent,
  DeliveryEvent,
  JournalEvent,
  ResultEvent,
  StartEvent,
  TenantDeletedEvent,
  TenantEvent,
  UploadEvent,
  WebhookEvent,
} from './events.ts';

/** An Account Updater job as the journal tells it. What its status is depends on the time besides. */
export interface Job {
  /** Counted from 1 in the order of the journal. */
  readonly number: number;
  readonly id: string;
  readonly nonce: string;
  readonly application: number;
  readonly createdAt: number;
  /** Request files that arrived, the last one counting. */
  uploads: number;
  upload?: UploadEvent;
  /** Of the last upload. */
  result?: ResultEvent;
}

/** Everything that the journal says. */
export interface World {
  readonly start: StartEvent;
  clockOffset: number;
  /** Oldest first: job number n is at n - 1. */
  readonly jobs: Job[];
  readonly jobById: Map<string, Job>;
  /** Oldest first, as long as the clock was not set back. */
  readonly audit: AuditEvent[];
  auditInOrder: boolean;
  /** Changes of the tenant, oldest first. */
  readonly tenantChanges: TenantEvent[];
  /** Set once the tenant is gone. */
  deleted?: TenantDeletedEvent;
  readonly deliveries: Deliveries;
  readonly tokens: NewTokens;
  readonly sessions: Sessions;
}

/** A world in which nothing has happened yet. */
export function newWorld(start: StartEvent): World {
  return {
    start,
    clockOffset: 0,
    jobs: [],
    jobById: new Map(),
    audit: [],
    auditInOrder: true,
    tenantChanges: [],
    deliveries: new Deliveries(),
    tokens: new NewTokens(start),
    sessions: new Sessions(start),
  };
}

/** Takes one event in. */
export function apply(world: World, event: JournalEvent): void {
  switch (event.type) {
    case 'start':
      return;
    case 'clock':
      world.clockOffset = event.offset;
      return;
    case 'job':
      addJob(world, { nonce: event.nonce, application: event.application, createdAt: event.at });
      return;
    case 'upload':
      addUpload(world.jobById.get(event.job), event);
      return;
    case 'result':
      addResult(world.jobById.get(event.job), event);
      return;
    case 'audit':
      addAudit(world, event);
      return;
    case 'tenant':
      world.tenantChanges.push(event);
      return;
    case 'tenant-deleted':
      world.deleted ??= event;
      return;
    case 'webhook':
    case 'delivery':
      world.deliveries.apply(event);
      return;
    case 'token':
      world.tokens.apply(event);
      return;
    case '3ds-session':
    case '3ds-method':
    case '3ds-authentication':
    case '3ds-challenge':
      world.sessions.apply(event);
  }
}

// The id comes from the place in the journal, so it needs no agreement between processes. The time of the start
// is in it: after a reset no old id comes back.
function addJob(world: World, facts: Pick<Job, 'nonce' | 'application' | 'createdAt'>): void {
  const { seed, at } = world.start;
  const number = world.jobs.length + 1;
  const id = uuidOf(seed, NAMESPACE.job, Math.floor(at / 2 ** 32), at % 2 ** 32, number);
  const job: Job = { ...facts, number, id, uploads: 0 };
  world.jobs.push(job);
  world.jobById.set(id, job);
}

// Two processes can write their lines the other way round; a list that is newest first must not show it. A clock
// that was set back is another matter.
const MOST_LATE_MS = 5000;

function addAudit(world: World, event: AuditEvent): void {
  const last = world.audit.at(-1)?.at ?? 0;
  const late = last > event.at && last - event.at < MOST_LATE_MS;
  world.audit.push(late ? { ...event, at: last } : event);
  if (last > event.at && !late) world.auditInOrder = false;
}

function addUpload(job: Job | undefined, event: UploadEvent): void {
  if (job === undefined) return;
  job.uploads += 1;
  job.upload = event;
  delete job.result;
}

function addResult(job: Job | undefined, event: ResultEvent): void {
  if (job !== undefined && job.uploads === event.upload) job.result ??= event;
}

/** A card token was created. Holds no number: of a published test card its places in the tables say enough. */
export interface TokenEvent {
  readonly type: 'token';
  readonly at: number;
  /** Tells the process that wrote the line which of the tokens is its own. */
  readonly nonce: string;
  /** Number of the application that created it. */
  readonly application: number;
  readonly firstSix: string;
  readonly lastFour: string;
  /** Digits of the number. */
  readonly length: number;
  /** 2 digits. */
  readonly month?: string;
  /** 4 digits. */
  readonly year?: string;
  /** Place in the test cards of the Account Updater. */
  readonly updaterCard?: number;
  /** Place in the test cards of 3-D Secure. */
  readonly threeDsCard?: number;
}

/** A card token that was created. */
export interface NewToken {
  readonly id: string;
  readonly created: TokenEvent;
}

/** Every card token that was created in a sandbox. */
class NewTokens {
  readonly #start: StartEvent;
  readonly #byId = new Map<string, NewToken>();
  readonly #byNonce = new Map<string, NewToken>();

  constructor(start: StartEvent) {
    this.#start = start;
  }

  /** All of them, oldest first. */
  all(): NewToken[] {
    return [...this.#byId.values()];
  }

  /** Finds a token by its id. */
  find(id: string): NewToken | undefined {
    return this.#byId.get(id);
  }

  /** The token that an event of this nonce made. */
  createdWith(nonce: string): NewToken | undefined {
    return this.#byNonce.get(nonce);
  }

  /** Takes one event in. */
  apply(created: TokenEvent): void {
    const { seed, at } = this.#start;
    const number = this.#byId.size + 1;
    const id = uuidOf(seed, NAMESPACE.newToken, Math.floor(at / 2 ** 32), at % 2 ** 32, number);
    const token: NewToken = { id, created };
    this.#byId.set(id, token);
    this.#byNonce.set(created.nonce, token);
  }
}

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
class Sessions {
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

// Pauses before the second attempt and those after it, in milliseconds of the sandbox's time.
const RETRY_PAUSES_MS: readonly number[] = [1000, 5000, 30_000, 120_000];

interface Progress {
  attempts: number;
  lastAt: number;
  done: boolean;
}

/** Which addresses are to hear of events, and what they have heard, as the journal tells it. */
class Deliveries {
  /** Time from which on an address hears of events, by address. */
  readonly addresses = new Map<string, number>();
  readonly #progress = new Map<string, Progress>();

  apply(event: WebhookEvent | DeliveryEvent): void {
    if (event.type === 'webhook') {
      if (!this.addresses.has(event.url)) this.addresses.set(event.url, event.at);
      return;
    }
    const name = nameOf(event.url, event.event);
    const before = this.#progress.get(name);
    const done = before?.done === true || isTaken(event.status);
    this.#progress.set(name, { attempts: (before?.attempts ?? 0) + 1, lastAt: event.at, done });
  }

  /** Whether an event is to be sent to an address now: not taken yet, attempts left, and the pause over. */
  isDue(url: string, event: string, now: number): boolean {
    const progress = this.#progress.get(nameOf(url, event));
    if (progress === undefined) return true;
    const pause = RETRY_PAUSES_MS[progress.attempts - 1];
    return !progress.done && pause !== undefined && now >= progress.lastAt + pause;
  }
}

/** Whether an answer says that the event was taken. */
export function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}

function nameOf(url: string, event: string): string {
  return `${event} ${url}`;
}
