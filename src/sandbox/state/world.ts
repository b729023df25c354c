import { NAMESPACE, uuidOf } from '../seed/random.ts';
import { Sessions } from '../three-ds/sessions.ts';
import { NewTokens } from '../vault/tokens.ts';
import { Deliveries } from '../webhooks/deliveries.ts';
import type {
  AuditEvent,
  JournalEvent,
  ResultEvent,
  StartEvent,
  TenantDeletedEvent,
  TenantEvent,
  UploadEvent,
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
