import type { Log } from '../schema/log.ts';
import { UUID } from '../schema/uuid.ts';

type Maybe = string | null | undefined;

/** What an entry, or a count of entries, says about who acted. */
export interface Actor {
  readonly actor_id?: Maybe;
  readonly actor_type?: Maybe;
}

/** Names of actors as people read them, by id. */
export type ActorLabels = ReadonlyMap<string, string>;

const NO_LABELS: ActorLabels = new Map();
const ID_LENGTH = 8;
/** A longer type is cut in a narrow table, so that the id beside it is not. */
const MAX_TYPE = 16;

/**
 * Returns an actor as every view shows it: its name if it is known, else its type and the beginning of its id, such as
 * `user a20690bc`. Returns an empty text if the entry names no actor.
 */
export function actorText({ actor_id: id, actor_type: type }: Actor, labels = NO_LABELS): string {
  const label = id ? labels.get(id) : undefined;
  if (label !== undefined) return label;
  if (id) return type ? `${type} ${shortId(id)}` : shortId(id);
  return type ? `${type} without an id` : '';
}

/** Returns an actor with its whole id, for `--wide` and for pages: its name or its type, and the id. */
export function wholeActorText(actor: Actor, labels = NO_LABELS): string {
  const { actor_id: id, actor_type: type } = actor;
  if (!id) return actorText(actor, labels);
  return [labels.get(id) ?? type, id].filter(Boolean).join(' ');
}

/** Returns an entity in the same form: its type, cut if it is long, and the beginning of its id. */
export function entityText({ entity_id: id, entity_type: type }: Pick<Log, 'entity_id' | 'entity_type'>): string {
  const short = type && type.length > MAX_TYPE ? `${type.slice(0, MAX_TYPE - 1)}…` : type;
  return [short, id ? shortId(id) : undefined].filter(Boolean).join(' ');
}

/** Returns the first eight characters of a UUID, and another id whole. */
export function shortId(id: string): string {
  return UUID.test(id) ? id.slice(0, ID_LENGTH) : id;
}

/**
 * Returns the labels for names. A name that two applications share, or that looks like a type with an id, is followed by
 * the beginning of its id, so that no application passes for another actor.
 */
export function labelsOf(names: Iterable<readonly [id: string, name: string]>): ActorLabels {
  const all = [...names];
  const uses = new Map<string, number>();
  for (const [, name] of all) uses.set(name, (uses.get(name) ?? 0) + 1);
  const isUnclear = (name: string): boolean => (uses.get(name) ?? 0) > 1 || /[0-9a-f]{8}$/i.test(name);
  return new Map(all.map(([id, name]) => [id, isUnclear(name) ? `${name} (${shortId(id)})` : name]));
}
