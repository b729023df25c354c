import { countText, parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { ownMember } from '../../schema/own-member.ts';

/** How a summary shows the actor of an entry, and a time in epoch milliseconds. */
export interface SummaryWords {
  readonly actorOf: (log: Log) => string;
  readonly timeOf: (at: number) => string;
}

/** Sums up the entries about one entity, which come oldest first, in constant memory. */
export class EntitySummary {
  entries = 0;
  /** The types under which entries name the entity. */
  readonly types = new Set<string>();
  #id: string;
  #created: Log | undefined;
  readonly #last = new Map<string, Log>();

  constructor(id: string) {
    this.#id = id;
  }

  add(log: Log): void {
    this.entries += 1;
    // The operator may have typed only the beginning of the id, or other letters than the service writes.
    if (log.entity_id) this.#id = log.entity_id;
    if (log.entity_type) this.types.add(log.entity_type);
    if (log.operation === 'create') this.#created ??= log;
    if (log.operation) this.#last.set(log.operation, log);
  }

  /** Returns the entity with the types that entries give it. */
  get entity(): string {
    return [[...this.types].join(' and '), this.#id].filter((part) => part !== '').join(' ');
  }

  /**
   * Returns the number of entries, the first creation that was read, and the last deletion; the last update or read if
   * there is no deletion.
   */
  text(words: SummaryWords): string {
    const last = ['delete', 'update', 'read'].find((operation) => this.#last.has(operation));
    const parts = [
      countText(this.entries, 'entry'),
      this.#created && `created ${doneBy(this.#created, words)}`,
      last && `last ${ownMember(PAST, last) ?? last} ${doneBy(this.#last.get(last), words)}`,
    ];
    return `${this.entity}: ${parts.filter(Boolean).join(', ')}`;
  }
}

const PAST: Readonly<Record<string, string>> = { delete: 'deleted', update: 'updated', read: 'read' };

function doneBy(log: Log | undefined, { actorOf, timeOf }: SummaryWords): string {
  if (log === undefined) return '';
  const at = parseTime(log.created_at);
  const actor = actorOf(log);
  const by = actor === '' ? '(the service recorded no actor)' : `by ${actor}`;
  return `${at === undefined ? 'at an unknown time' : timeOf(at)} ${by}`;
}
