import { TEST_CARDS } from '../data/account-updater-cards.ts';
import { SANDBOX_KEYS } from '../keys.ts';
import { cardToken } from './cards.ts';
import { mix, NAMESPACE, uuidOf } from './random.ts';

/** A kind of entity in the sandbox's tenant. */
export interface EntityKind {
  readonly value: string;
  readonly displayName: string;
  /** How many entities the made-up logs are about. */
  readonly count: number;
  /** Share of the made-up logs, out of the sum of all weights. */
  readonly weight: number;
  /** The id of entity `index`. */
  id(seed: number, index: number): string;
}

/** Everything that a log can be about; GET /logs/entity-types answers these. */
export const ENTITY_KINDS: readonly EntityKind[] = [
  kind('application', 'Application', SANDBOX_KEYS.length, 10, (seed, index) =>
    applicationId(seed, index + 1),
  ),
  kind('bank', 'Bank', 40, 8, (seed, index) => uuidOf(seed, NAMESPACE.bank, index)),
  kind('card', 'Card', TEST_CARDS.length, 30, cardToken),
  kind('log', 'Log', 0, 0, () => ''),
  kind('proxy', 'Proxy', 6, 12, (seed, index) => uuidOf(seed, NAMESPACE.proxy, index)),
  kind('tenant', 'Tenant', 1, 4, tenantId),
  kind('token', 'Token', 400, 30, (seed, index) => uuidOf(seed, NAMESPACE.token, index)),
  kind('webhook', 'Webhook', 3, 3, (seed, index) => uuidOf(seed, NAMESPACE.webhook, index)),
  kind('account_updater_job', 'Account Updater Job', 0, 0, () => ''),
  kind('3ds_session', '3DS Session', 0, 0, () => ''),
];

/** The id of the sandbox's tenant. */
export function tenantId(seed: number): string {
  return uuidOf(seed, NAMESPACE.tenant);
}

/** The id of the user that owns the tenant. */
export function ownerId(seed: number): string {
  return uuidOf(seed, NAMESPACE.user);
}

/** The id of an application by its number, counted from 1. */
export function applicationId(seed: number, number: number): string {
  return uuidOf(seed, NAMESPACE.application, number);
}

/** Chooses a kind by weight. */
export function kindOf(hash: number): EntityKind | undefined {
  return KIND_BY_WEIGHT[hash % KIND_BY_WEIGHT.length];
}

/** Chooses an entity of a kind. */
export function entityId(kind: EntityKind, seed: number, hash: number): string {
  return idsOf(kind, seed)[mix(hash) % kind.count] ?? '';
}

const idsBySeed = new WeakMap<EntityKind, Map<number, readonly string[]>>();

// Logs name the same few entities over and over, so their ids are made once.
function idsOf(kind: EntityKind, seed: number): readonly string[] {
  const known = idsBySeed.get(kind) ?? new Map<number, readonly string[]>();
  idsBySeed.set(kind, known);
  let ids = known.get(seed);
  if (ids === undefined) {
    ids = Array.from({ length: kind.count }, (_, index) => kind.id(seed, index));
    known.set(seed, ids);
  }
  return ids;
}

const KIND_BY_WEIGHT = ENTITY_KINDS.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));

function kind(
  value: string,
  displayName: string,
  count: number,
  weight: number,
  id: EntityKind['id'],
): EntityKind {
  return { value, displayName, count, weight, id };
}
