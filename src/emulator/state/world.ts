import type { JobStatus } from '../../schema/account-updater.ts';
import { UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';
import { HOUR_MS } from '../../schema/durations.ts';
import { NAMESPACE, uuidOf } from '../seed/random.ts';
import type { CreationEvent, EventOf, JournalEvent } from './events.ts';

/** The state of a sandbox, computed from its journal. */
export interface World {
  readonly start: EventOf<'start'>;
  readonly tenantId: string;
  clockOffset: number;
  readonly jobs: Created<EventOf<'job'>, Job>;
  /** Oldest first, unless the clock was set back. */
  readonly audit: EventOf<'audit'>[];
  auditInOrder: boolean;
  /** Oldest first. */
  readonly tenantChanges: EventOf<'tenant'>[];
  deleted?: EventOf<'tenant-deleted'>;
  /** Webhook addresses, each with the time from which it receives events. */
  readonly webhooks: Map<string, number>;
  /** The delivery state of an event to an address, by `deliveryName`. */
  readonly deliveries: Map<string, { readonly attempts: number; readonly lastAt: number; readonly accepted: boolean }>;
  readonly tokens: Created<EventOf<'token'>, Entity<EventOf<'token'>>>;
  readonly sessions: Created<EventOf<'3ds-session'>, Session>;
  /** The authenticated sessions, in the order of their authentications. */
  readonly authenticated: Session[];
  /** The outcomes set for authentications, the newest first. */
  outcomes: SetOutcome[];
}

/** An outcome that was set. */
export interface SetOutcome {
  readonly text: string;
  /** The number of authentications before the outcome was set. */
  readonly since: number;
}

/** Returns a job id that is not a UUID. */
function plainJobId(uuid: string): string {
  return `job_${uuid.replaceAll('-', '').slice(0, 26).toUpperCase()}`;
}

/** Creates the state for a journal that contains only its first event. */
export function newWorld(start: EventOf<'start'>): World {
  return {
    start,
    tenantId: start.tenantId,
    clockOffset: 0,
    jobs: new Created(start, NAMESPACE.job, (entity) => ({
      ...entity,
      id: start.jobIds === 'plain' ? plainJobId(entity.id) : entity.id,
      uploads: 0,
    })),
    audit: [],
    auditInOrder: true,
    tenantChanges: [],
    webhooks: new Map(),
    deliveries: new Map(),
    tokens: new Created(start, NAMESPACE.newToken, (entity) => entity),
    sessions: new Created(start, NAMESPACE.session, (entity) => ({ ...entity, answers: [] })),
    authenticated: [],
    outcomes: [],
  };
}

/** An entity that an event created, such as a job. */
export interface Entity<Event extends CreationEvent> {
  /** The number of the entity, counted from 1 in the order of the journal. */
  readonly number: number;
  readonly id: string;
  readonly created: Event;
}

/** An Account Updater job. Its status also depends on the time. */
export interface Job extends Entity<EventOf<'job'>> {
  /** The number of uploaded request files. The last file counts. */
  uploads: number;
  upload?: EventOf<'upload'>;
  /** The result of the last upload. */
  result?: EventOf<'result'>;
}

export interface Session extends Entity<EventOf<'3ds-session'>> {
  /** The first visit of the method page. */
  visit?: EventOf<'3ds-method'>;
  /** The first notification that the method is completed. */
  notified?: EventOf<'3ds-method'>;
  authentication?: EventOf<'3ds-authentication'>;
  /** Oldest first. */
  readonly answers: EventOf<'3ds-challenge'>[];
}

/** Applies an event to the state. */
export function apply(world: World, event: JournalEvent): void {
  switch (event.type) {
    case 'start':
      return;
    case 'clock':
      world.clockOffset = event.offset;
      return;
    case 'job':
      return world.jobs.add(event);
    case 'upload':
      return addUpload(world.jobs.find(event.job), event);
    case 'result':
      return addResult(world.jobs.find(event.job), event);
    case 'audit':
      return addAudit(world, event);
    case 'tenant':
      world.tenantChanges.push(event);
      return;
    case 'tenant-deleted':
      world.deleted ??= event;
      return;
    case 'webhook':
      if (!world.webhooks.has(event.url)) world.webhooks.set(event.url, event.at);
      return;
    case 'delivery':
      return addDelivery(world, event);
    case 'token':
      return world.tokens.add(event);
    case '3ds-session':
      return world.sessions.add(event);
    case '3ds-method':
    case '3ds-authentication':
    case '3ds-challenge':
      return addToSession(world, world.sessions.find(event.session), event);
    case 'outcomes':
      world.outcomes = [...event.texts.map((text) => ({ text, since: world.authenticated.length })), ...world.outcomes];
      return;
    case 'outcomes-cleared':
      world.outcomes = [];
      return;
  }
}

/** The entities that the events of one type created. */
class Created<Event extends CreationEvent, Item extends Entity<Event>> {
  /** Oldest first. */
  readonly all: Item[] = [];
  readonly #byId = new Map<string, Item>();
  readonly #start: EventOf<'start'>;
  readonly #namespace: number;
  readonly #itemOf: (entity: Entity<Event>) => Item;

  constructor(start: EventOf<'start'>, namespace: number, itemOf: (entity: Entity<Event>) => Item) {
    this.#start = start;
    this.#namespace = namespace;
    this.#itemOf = itemOf;
  }

  // The id depends on the position in the journal, so that all processes compute the same id, and on the time of the start, so
  // that ids differ after a reset.
  add(created: Event): void {
    const { seed, at } = this.#start;
    const number = this.all.length + 1;
    const id = uuidOf(seed, this.#namespace, Math.floor(at / 2 ** 32), at % 2 ** 32, number);
    const item = this.#itemOf({ number, id, created });
    this.all.push(item);
    this.#byId.set(item.id, item);
  }

  find(id: string | undefined): Item | undefined {
    return this.#byId.get(id ?? '');
  }

  /** Returns the entity that the event with this nonce created. */
  createdWith(nonce: string): Item {
    const item = this.all.findLast(({ created }) => created.nonce === nonce);
    if (item === undefined) throw new Error('the journal lost an event');
    return item;
  }
}

// Two processes may write events out of order by up to this time; a list of logs must not show that. A larger step back means
// that the clock was set back.
const MAX_REORDER_MS = 5000;

function addAudit(world: World, event: EventOf<'audit'>): void {
  const last = world.audit.at(-1)?.at ?? 0;
  const late = last > event.at && last - event.at < MAX_REORDER_MS;
  world.audit.push(late ? { ...event, at: last } : event);
  if (last > event.at && !late) world.auditInOrder = false;
}

function addUpload(job: Job | undefined, event: EventOf<'upload'>): void {
  if (job === undefined) return;
  job.uploads += 1;
  job.upload = event;
  delete job.result;
}

function addResult(job: Job | undefined, event: EventOf<'result'>): void {
  if (job !== undefined && job.uploads === event.upload) job.result ??= event;
}

function addDelivery({ deliveries }: World, { url, event, at, status }: EventOf<'delivery'>): void {
  const name = deliveryName(url, event);
  const before = deliveries.get(name);
  const accepted = before?.accepted === true || isAccepted(status);
  deliveries.set(name, { attempts: (before?.attempts ?? 0) + 1, lastAt: at, accepted });
}

type SessionChange = EventOf<'3ds-method' | '3ds-authentication' | '3ds-challenge'>;

function addToSession({ authenticated }: World, session: Session | undefined, event: SessionChange): void {
  if (session === undefined) return;
  if (event.type === '3ds-authentication') {
    if (session.authentication === undefined) authenticated.push(session);
    session.authentication ??= event;
  } else if (event.type === '3ds-challenge') session.answers.push(event);
  else if (event.browser === undefined) session.notified ??= event;
  else session.visit ??= event;
}

export function deliveryName(url: string, event: string): string {
  return `${event} ${url}`;
}

/** Whether a status means that the webhook accepted the event. */
export function isAccepted(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Returns a job's status at a time. `removed` means that no request file was uploaded within an hour. */
export function jobStatus(job: Job, now: number): JobStatus | 'removed' {
  if (job.upload === undefined) return now < uploadDeadline(job) ? 'pending' : 'removed';
  const age = now - job.upload.at;
  if (age < job.upload.pickup) return 'pending';
  if (age < job.upload.processing || job.result === undefined) return 'processing';
  return job.result.errors.length > 0 ? 'failed' : 'completed';
}

/** Whether a job's file is due for processing and has no result yet. */
export function isDue({ upload, result }: Job, now: number): boolean {
  return upload !== undefined && result === undefined && now - upload.at >= upload.processing;
}

export function uploadDeadline({ created }: Job): number {
  return created.at + UPLOAD_LIFE_MS;
}

// The service's documentation says that a session expires, but not when.
const SESSION_LIFE_MS = HOUR_MS;

/** Returns the time at which a session expires: not before the time limit of its decoupled challenge. */
export function sessionExpiry({ created, authentication }: Session): number {
  const { at = 0, decoupledLimit = 0 } = authentication ?? {};
  return Math.max(created.at + SESSION_LIFE_MS, at + decoupledLimit);
}

/** Finds a session that has not expired. */
export function findSession({ sessions }: World, id: string | undefined, now: number): Session | undefined {
  const session = sessions.find(id);
  return session !== undefined && now < sessionExpiry(session) ? session : undefined;
}
