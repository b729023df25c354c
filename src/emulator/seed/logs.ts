import type { Log } from '../../schema/log.ts';
import { TEST_CARDS } from '../vault/test-cards.ts';
import { hex, kept, mix, NAMESPACE, uuidFromHex, uuidOf } from './random.ts';

/** Everything that a log can be about: the response of GET /logs/entity-types. */
export const ENTITY_KINDS = [
  kind('application', 'Application', 6, 10, (seed, index) => applicationId(seed, index + 1)),
  kind('bank', 'Bank', 40, 8, (seed, index) => uuidOf(seed, NAMESPACE.bank, index)),
  kind('card', 'Card', TEST_CARDS.length, 30, cardToken),
  kind('log', 'Log', 0, 0, () => ''),
  kind('proxy', 'Proxy', 6, 12, (seed, index) => uuidOf(seed, NAMESPACE.proxy, index)),
  kind('tenant', 'Tenant', 1, 4, tenantId),
  kind('token', 'Token', 400, 30, (seed, index) => uuidOf(seed, NAMESPACE.token, index)),
  kind('webhook', 'Webhook', 3, 3, (seed, index) => uuidOf(seed, NAMESPACE.webhook, index)),
  kind('account_updater_job', 'Account Updater Job', 0, 0, () => ''),
  kind('threeds_session', '3DS Session', 0, 0, () => ''),
];

export function tenantId(seed: number): string {
  return uuidOf(seed, NAMESPACE.tenant);
}

export function ownerId(seed: number): string {
  return uuidOf(seed, NAMESPACE.user);
}

/** The id of an application by its number, counted from 1. */
export function applicationId(seed: number, number: number): string {
  return uuidOf(seed, NAMESPACE.application, number);
}

function kindOf(hash: number): EntityKind | undefined {
  return KIND_BY_WEIGHT[hash % KIND_BY_WEIGHT.length];
}

function entityId(kind: EntityKind, seed: number, hash: number): string {
  return idsOf(kind)(seed)[mix(hash) % kind.count] ?? '';
}

// Logs name the same few entities over and over, so their ids are made once.
const idsOf = kept((kind: EntityKind) =>
  kept((seed: number) => Array.from({ length: kind.count }, (_, index) => kind.id(seed, index))),
);

const KIND_BY_WEIGHT = ENTITY_KINDS.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));

type EntityKind = ReturnType<typeof kind>;
type IdOf = (seed: number, index: number) => string;

/** The generated logs are about so many entities of the kind; the weight is its share of them, out of the sum of all. */
function kind(value: string, displayName: string, count: number, weight: number, id: IdOf) {
  return { value, displayName, count, weight, id };
}

/** The seed of a sandbox that was not given one. The shipped example file is made from it. */
export const DEFAULT_SEED = 1;

/** The token of a test card in a sandbox of this seed. `index` is the card's position in `TEST_CARDS`. */
export function cardToken(seed: number, index: number): string {
  return uuidOf(seed, NAMESPACE.card, index);
}

/** Where a token comes from: the vault's test cards, or a row of a job's result. */
export type CardOrigin =
  | { readonly kind: 'seeded'; readonly index: number }
  | { readonly kind: 'derived'; readonly index: number; readonly job: number; readonly row: number };

/**
 * The token that a job's row yields. The id itself says, in a disguised and checked form, what it stands for
 * (job number below 2^24, row below 2^24, card below 2^8), so hundreds of thousands need no storage.
 */
export function derivedToken(seed: number, job: number, row: number, index: number): string {
  const check = mix(seed, NAMESPACE.derivedCard, job, row, index);
  const second = mix(check, seed, row, job);
  const first = (((job << 8) | index) ^ mix(seed, check, second, 0)) >>> 0;
  const middle = (row ^ mix(seed, check, second, 1)) & 0xffffff;
  return uuidFromHex(hex(first, 8) + hex(middle, 6) + hex(check, 8) + hex(second, 8));
}

/** Finds what a token stands for; undefined for a token that this sandbox never made. */
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

const seededTokens = kept((seed: number) => new Map(TEST_CARDS.map((_, index) => [cardToken(seed, index), index])));

// A little less than the day that logs are kept, so that the first ones do not vanish at once.
const SPREAD_MS = 23.5 * 3_600_000;

/** The generated logs of the day before `start`, each computed from its number alone: 0 is the oldest. */
export function seededLogs(seed: number, start: number, count: number) {
  const people = peopleOf(seed);
  const slot = SPREAD_MS / Math.max(count, 1);
  /** Milliseconds, whole seconds; never falls from one number to the next. */
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
    /** What the log is about, without making the log. */
    entityTypeOf: (number: number): string => kindOf(hashOf(seed, content(number)))?.value ?? '',
    entityIdOf(number: number): string {
      const hash = hashOf(seed, content(number));
      const kind = kindOf(hash);
      return kind === undefined ? '' : entityId(kind, seed, hash);
    },
    logOf: (number: number): Log => makeLog(seed, people, content(number), timeOf(number)),
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
