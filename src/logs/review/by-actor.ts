import { type ActorLabels, actorText } from '../actor.ts';
import type { ReviewRow } from './review-row.ts';

/** What one actor did, as it is said in a summary. */
export interface ActorShare {
  /** The actor's name, or its type and short id. */
  readonly actor: string;
  readonly count: number;
  /** The number of entries of each kind, the most frequent first. */
  readonly kinds: readonly (readonly [kind: string, count: number])[];
}

/** Groups rows by their actors, the most active first. `kindOf` says what is counted, such as the type of entity. */
export function byActor(
  rows: readonly ReviewRow[],
  labels: ActorLabels,
  kindOf: (row: ReviewRow) => string,
): ActorShare[] {
  const groups = new Map<string, { actor: string; count: number; kinds: Map<string, number> }>();
  for (const row of rows) {
    // Two actors with the same text are two groups.
    const key = JSON.stringify([row.actor_type, row.actor_id]);
    const group = groups.get(key) ?? { actor: actorText(row, labels) || 'no actor', count: 0, kinds: new Map() };
    groups.set(key, group);
    group.count += row.count;
    const kind = kindOf(row) || 'others';
    group.kinds.set(kind, (group.kinds.get(kind) ?? 0) + row.count);
  }
  return [...groups.values()]
    .toSorted((one, other) => other.count - one.count)
    .map(({ actor, count, kinds }) => ({ actor, count, kinds: [...kinds].toSorted(([, a], [, b]) => b - a) }));
}

/** Returns what a deletion deleted: the type of the entity. */
export function deletedKind({ entity_type: type }: ReviewRow): string {
  return type ?? '';
}

/** Returns what a change did: its operation and the type of the entity. */
export function changedKind({ operation, entity_type: type }: ReviewRow): string {
  return [operation, type].filter((part) => part !== null).join(' ');
}
