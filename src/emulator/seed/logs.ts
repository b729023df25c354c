import { HOUR_MS } from '../../schema/durations.ts';
import type { Log } from '../../schema/log.ts';
import { MONTH_CARDS, TEST_CARDS } from './test-cards.ts';
import { hex, memoized, mix, NAMESPACE, uuidFromHex, uuidOf } from './random.ts';

/**
 * The kinds of entities in logs, as GET /logs/entity-types lists them. Value and display name consist of letters, as
 * published, and of underscores.
 */
export const ENTITY_KINDS = [
  kind('application', 'Application', 6, 10, (seed, index) => applicationId(seed, index + 1)),
  kind('bank', 'Bank', 40, 8, (seed, index) => uuidOf(seed, NAMESPACE.bank, index)),
  kind('card', 'Card', TEST_CARDS.length, 30, cardToken),
  kind('log', 'Log', 0, 0, () => ''),
  kind('proxy', 'Proxy', 6, 12, (seed, index) => uuidOf(seed, NAMESPACE.proxy, index)),
  kind('tenant', 'Tenant', 1, 4, () => ''),
  kind('token', 'Token', 400, 30, (seed, index) => uuidOf(seed, NAMESPACE.token, index)),
  kind('webhook', 'Webhook', 3, 3, (seed, index) => uuidOf(seed, NAMESPACE.webhook, index)),
  kind('account_updater_job', 'AccountUpdaterJob', 0, 0, () => ''),
  kind('threeds_session', 'ThreeDSSession', 0, 0, () => ''),
];

/**
 * Returns the id of a tenant created at a time. A reset leads to another id, so that facts that a client remembers of the
 * deleted tenant, such as submitted files, do not count for the new one.
 */
export function newTenantId(seed: number, start: number): string {
  return uuidOf(seed, NAMESPACE.tenant, Math.floor(start / 2 ** 32), start % 2 ** 32);
}

export function ownerId(seed: number): string {
  return uuidOf(seed, NAMESPACE.user);
}

/** Returns the id of an application by its number, counted from 1. */
export function applicationId(seed: number, number: number): string {
  return uuidOf(seed, NAMESPACE.application, number);
}

function kindOf(hash: number): EntityKind | undefined {
  return KIND_BY_WEIGHT[hash % KIND_BY_WEIGHT.length];
}

function entityId(kind: EntityKind, { seed, tenant }: People, hash: number): string {
  if (kind.value === 'tenant') return tenant;
  return idsOf(kind)(seed)[mix(hash) % kind.count] ?? '';
}

// Logs name the same few entities repeatedly, so their ids are computed once.
const idsOf = memoized((kind: EntityKind) =>
  memoized((seed: number) => Array.from({ length: kind.count }, (_, index) => kind.id(seed, index))),
);

const KIND_BY_WEIGHT = ENTITY_KINDS.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));

type EntityKind = ReturnType<typeof kind>;
type IdOf = (seed: number, index: number) => string;

/** Declares a kind of entity: `count` entities occur in generated logs, and `weight` is the kind's share of the logs. */
function kind(value: string, displayName: string, count: number, weight: number, id: IdOf) {
  return { value, displayName, count, weight, id };
}

/** The default seed, from which the tokens in the shipped example file are made. */
export const DEFAULT_SEED = 1;

/** Returns the seed of a tenant's data. `seed` is the seed of the first tenant. */
export function seedOf(seed: number, tenant: number): number {
  return tenant === 1 ? seed : mix(seed, tenant);
}

/** Returns the token of a test card in a sandbox with this seed. `index` is the card's position in `TEST_CARDS`. */
export function cardToken(seed: number, index: number): string {
  return uuidOf(seed, NAMESPACE.card, index);
}

/** Returns the token of a card of the ordinary month in a sandbox with this seed. `row` is its row in `MONTH_CARDS`. */
export function monthToken(seed: number, row: number): string {
  return uuidOf(seed, NAMESPACE.monthCard, row);
}

/** The origin of a token: a test card of the vault, or a row of a job's result. */
export type CardOrigin =
  | { readonly kind: 'seeded'; readonly index: number }
  | { readonly kind: 'derived'; readonly index: number; readonly job: number; readonly row: number };

/**
 * Returns the token that a job creates for a row. The id encodes job, row and card (below 2^24, 2^24 and 2^8) with a
 * checksum, so that hundreds of thousands of tokens need no storage.
 */
export function derivedToken(seed: number, job: number, row: number, index: number): string {
  const check = mix(seed, NAMESPACE.derivedCard, job, row, index);
  const second = mix(check, seed, row, job);
  const first = (((job << 8) | index) ^ mix(seed, check, second, 0)) >>> 0;
  const middle = (row ^ mix(seed, check, second, 1)) & 0xffffff;
  return uuidFromHex(hex(first, 8) + hex(middle, 6) + hex(check, 8) + hex(second, 8));
}

/** Returns the origin of a token; undefined for a token that this sandbox did not make. */
export function originOfToken(seed: number, token: string): CardOrigin | undefined {
  const seeded = seededTokens(seed).get(token);
  return seeded === undefined ? readDerived(seed, token) : { kind: 'seeded', index: seeded };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;

function readDerived(seed: number, token: string): CardOrigin | undefined {
  if (!UUID.test(token)) return undefined;
  const digits = token.slice(0, 8) + token.slice(9, 13) + token.slice(15, 18) + token.slice(20, 23) + token.slice(24);
  const word = (from: number, to: number): number => Number.parseInt(digits.slice(from, to), 16);
  const check = word(14, 22);
  const second = word(22, 30);
  const first = (word(0, 8) ^ mix(seed, check, second, 0)) >>> 0;
  const row = (word(8, 14) ^ mix(seed, check, second, 1)) & 0xffffff;
  const job = first >>> 8;
  const index = first & 0xff;
  return derivedToken(seed, job, row, index) === token ? { kind: 'derived', index, job, row } : undefined;
}

const seededTokens = memoized(
  (seed: number) =>
    new Map([
      ...TEST_CARDS.map((_, index) => [cardToken(seed, index), index] as const),
      ...MONTH_CARDS.map((index, row) => [monthToken(seed, row), index] as const),
    ]),
);

// Slightly less than the retention of a day, so that the oldest logs do not expire at once.
const SPREAD_MS = 23.5 * HOUR_MS;

/** Returns the generated logs of the day before a tenant's start. Each log is computed from its number; 0 is the oldest. */
export function seededLogs({ seed, at: start, logs: count }: LogOrigin, tenant: string) {
  const people = peopleOf(seed, tenant);
  const slot = SPREAD_MS / Math.max(count, 1);
  /** Returns the time of a log in milliseconds, in whole seconds, never decreasing with the number. */
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
    /** Returns the entity type of a log without computing the whole log. */
    entityTypeOf: (number: number): string => kindOf(logHashOf(seed, content(number)))?.value ?? '',
    entityIdOf(number: number): string {
      const hash = logHashOf(seed, content(number));
      const kind = kindOf(hash);
      return kind === undefined ? '' : entityId(kind, people, hash);
    },
    logOf: (number: number): Log => makeLog(people, content(number), timeOf(number)),
  };
}

/** The facts from which logs are generated, besides the tenant's id. */
interface LogOrigin {
  readonly seed: number;
  readonly at: number;
  /** The number of logs. */
  readonly logs: number;
}

function peopleOf(seed: number, tenant: string) {
  const applications = [1, 2].map((number) => applicationId(seed, number));
  return { seed, tenant, owner: ownerId(seed), applications };
}

// As at the service, some pairs of logs share a second, and some of these pairs are equal in every field.
function isPaired(seed: number, number: number): boolean {
  return number % 2 === 1 && mix(seed, NAMESPACE.log, number, 2) % 3 === 0;
}

type People = ReturnType<typeof peopleOf>;

function makeLog(people: People, number: number, time: number): Log {
  const hash = logHashOf(people.seed, number);
  const kind = kindOf(hash);
  const operation = OPERATIONS[mix(hash, 1) % OPERATIONS.length] ?? 'read';
  return {
    tenant_id: people.tenant,
    ...actorOf(people, mix(hash, 2)),
    entity_type: kind?.value,
    entity_id: kind && entityId(kind, people, hash),
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

function logHashOf(seed: number, number: number): number {
  return mix(seed, NAMESPACE.log, number);
}

/** Formats a time as logs contain it: ISO 8601 in whole seconds. */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
