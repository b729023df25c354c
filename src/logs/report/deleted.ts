// Collects deleted entities, and entries without a readable time.

import { isoTime } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { Log } from '../../schema/log.ts';
import { entityText } from '../actor.ts';
import { entryTime } from '../archive/records/record.ts';

/** Entries without a readable time, and the entities that some of them deleted. */
export interface Timeless {
  readonly entries: number;
  readonly deleted: readonly Pick<Log, 'entity_type' | 'entity_id'>[];
}

const MAX_NAMED = 3;

/** Returns the number of entries without a readable time, and the entities that they deleted, in words. */
export function timelessText({ entries, deleted }: Timeless): string {
  const names = deleted.slice(0, MAX_NAMED).map((entity) => entityText(entity) || 'something without a name');
  const more = deleted.length > MAX_NAMED ? ' …' : '';
  const named = names.length === 0 ? '' : `; deleted among them: ${names.join(', ')}${more}`;
  return `${countText(entries, 'entry')} without a readable time (created_at), which 'svc logs search' shows last${named}`;
}

/** A deletion of one entity. Absent members, and a time that is not readable, are null; the time is RFC 3339. */
export type DeletedEntity = Readonly<
  Record<'created_at' | 'entity_type' | 'entity_id' | 'actor_type' | 'actor_id', string | null>
>;

/** The most deletions that are kept; the others are only counted. */
const MAX_KEPT = 1_000;

/** Keeps the first deletions of a day, in constant memory: those without a readable time, then by time. Entries may come in any order. */
export class DeletedEntities {
  #kept: { readonly at: number; readonly entity: DeletedEntity }[] = [];

  add({ entity_type, entity_id, actor_type, actor_id, ...log }: Log): void {
    if (log.operation !== 'delete') return;
    const at = entryTime(log);
    const entity = {
      created_at: isoTime(at) ?? null,
      entity_type: entity_type ?? null,
      entity_id: entity_id ?? null,
      actor_type: actor_type ?? null,
      actor_id: actor_id ?? null,
    };
    this.#kept.push({ at: at ?? -Infinity, entity });
    if (this.#kept.length >= 2 * MAX_KEPT) this.#kept = this.#first();
  }

  /** Returns the first thousand deletions. */
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

/** Returns a warning about entries without a readable time and the entities that they deleted; none without such entries. */
export function timelessWarnings({
  timeless: entries,
  deleted,
}: {
  readonly timeless: number;
  readonly deleted: readonly DeletedEntity[];
}): string[] {
  if (entries === 0) return [];
  const text = timelessText({ entries, deleted: deleted.filter(({ created_at: at }) => at === null) });
  return [`may be of this day: ${text}`];
}
