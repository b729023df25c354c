import { isoTime, parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';

/** A deletion of one entity. Absent members are null; the time is RFC 3339. */
export type DeletedEntity = Readonly<
  Record<'entity_type' | 'entity_id' | 'actor_type' | 'actor_id', string | null> & Record<'created_at', string>
>;

/** The most deletions that are kept; the others are only counted. */
const MAX_KEPT = 1_000;

/** Keeps the first deletions of a day by time, in constant memory. Entries may come in any order. */
export class DeletedEntities {
  #kept: { readonly at: number; readonly entity: DeletedEntity }[] = [];

  add({ entity_type, entity_id, actor_type, actor_id, ...log }: Log): void {
    const at = parseTime(log.created_at);
    if (log.operation !== 'delete' || at === undefined) return;
    const entity = {
      created_at: isoTime(at),
      entity_type: entity_type ?? null,
      entity_id: entity_id ?? null,
      actor_type: actor_type ?? null,
      actor_id: actor_id ?? null,
    };
    this.#kept.push({ at, entity });
    if (this.#kept.length >= 2 * MAX_KEPT) this.#kept = this.#first();
  }

  /** Returns the first thousand deletions, in order of time. */
  list(): DeletedEntity[] {
    return this.#first().map(({ entity }) => entity);
  }

  #first() {
    return this.#kept
      .toSorted((one, other) => one.at - other.at || byText(one.entity, other.entity))
      .slice(0, MAX_KEPT);
  }
}

// Deletions of one second are sorted by their members, so that the order of the segments does not matter.
function byText(one: DeletedEntity, other: DeletedEntity): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
