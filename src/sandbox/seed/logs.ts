import type { Log } from '../../schema/log.ts';
import { applicationId, entityId, kindOf, ownerId, tenantId } from './entities.ts';
import { mix, NAMESPACE } from './random.ts';

/** The generated logs, each computed from its number alone: 0 is the oldest. A million cost nothing. */
export interface SeededLogs {
  readonly count: number;
  /** Milliseconds, whole seconds; never falls from one number to the next. */
  timeOf(number: number): number;
  /** What the log is about, without making the log. */
  entityTypeOf(number: number): string;
  entityIdOf(number: number): string;
  logOf(number: number): Log;
}

// A little less than the day that logs are kept, so that the first ones do not vanish at once.
const SPREAD_MS = 23.5 * 3_600_000;

/** The logs of the day before `start`, in milliseconds. */
export function seededLogs(seed: number, start: number, count: number): SeededLogs {
  const people = peopleOf(seed);
  const slot = SPREAD_MS / Math.max(count, 1);
  const timeOf = (number: number): number => {
    const place = isPaired(seed, number) ? number - 1 : number;
    const within = mix(seed, NAMESPACE.log, place, 1) / 2 ** 32;
    return Math.floor((start - SPREAD_MS + (place + within) * slot) / 1000) * 1000;
  };
  const isTwin = (number: number): boolean => isPaired(seed, number) && mix(seed, NAMESPACE.log, number, 3) % 6 === 0;
  const content = (number: number): number => (isTwin(number) ? number - 1 : number);
  return {
    count,
    timeOf,
    entityTypeOf: (number) => kindOf(hashOf(seed, content(number)))?.value ?? '',
    entityIdOf(number) {
      const hash = hashOf(seed, content(number));
      const kind = kindOf(hash);
      return kind === undefined ? '' : entityId(kind, seed, hash);
    },
    logOf: (number) => makeLog(seed, people, content(number), timeOf(number)),
  };
}

function peopleOf(seed: number) {
  const applications = [1, 2].map((number) => applicationId(seed, number));
  return { tenant: tenantId(seed), owner: ownerId(seed), applications };
}

// Every other log may share its second with the one before, and now and then equals it in every field.
function isPaired(seed: number, number: number): boolean {
  return number % 2 === 1 && mix(seed, NAMESPACE.log, number, 2) % 3 === 0;
}

type People = ReturnType<typeof peopleOf>;

function makeLog(seed: number, people: People, number: number, time: number): Log {
  const hash = hashOf(seed, number);
  const kind = kindOf(hash);
  const operation = OPERATIONS[mix(hash, 1) % OPERATIONS.length] ?? 'read';
  return {
    tenant_id: people.tenant,
    ...actorOf(people, mix(hash, 2)),
    entity_type: kind?.value,
    entity_id: kind && entityId(kind, seed, hash),
    operation,
    message: `${kind?.displayName} ${PAST[operation]}`,
    created_at: isoSeconds(time),
  };
}

const PAST = { create: 'created', update: 'updated', read: 'read', delete: 'deleted' } as const;
const OPERATIONS = ['read', 'read', 'read', 'read', 'create', 'create', 'update', 'delete'] as const;

function actorOf(people: People, hash: number): Pick<Log, 'actor_id' | 'actor_type'> {
  const share = hash % 20;
  if (share === 0) return {};
  if (share < 5) return { actor_id: people.owner, actor_type: 'user' };
  return { actor_id: people.applications[hash % 2], actor_type: 'application' };
}

function hashOf(seed: number, number: number): number {
  return mix(seed, NAMESPACE.log, number);
}

/** ISO 8601 in whole seconds, as logs carry it. */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
