// The entity that a filter names, by its id or by the beginning of its id.

import { SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import type { Log } from '../schema/log.ts';

/** How many near ids are reported. */
const MAX_NEAR = 5;
/** The most entries that wait for the end of the read, which shows whether only one entity has the beginning. */
const MAX_HELD = 10_000;
const SHORTER_THAN_UUID = /^[0-9a-f-]{1,35}$/i;
const BEGINNING = /^[0-9a-f]{8}(?:-[0-9a-f-]{0,26})?$/i;

/** Whether an id may be only the beginning of a UUID, which is what tables show. */
export function mayBeBeginning(id: string): boolean {
  return SHORTER_THAN_UUID.test(id);
}

/** Whether an id stands for the one entity whose UUID begins so: it has the eight digits that tables show, or more. */
export function isUsableBeginning(id: string): boolean {
  return BEGINNING.test(id);
}

/** The entity that a filter names by its id or by the beginning of its id, which the entries read complete. */
export class RequestedEntity {
  readonly #typed: string | undefined;
  readonly #requested: string | undefined;
  readonly #isBeginning: boolean;
  readonly #near = new Set<string>();
  /** The types of entries about the entity that have another type than the requested one. */
  readonly #otherTypes = new Set<string>();
  #isFound = false;
  #hasType = false;

  constructor(typed: string | undefined) {
    this.#typed = typed;
    this.#requested = typed?.toLowerCase();
    this.#isBeginning = typed !== undefined && isUsableBeginning(typed);
  }

  /** Notes the entity of an entry that was read, and the type of the entity unless it is the requested one. */
  see(id: string | null | undefined, otherType?: string): void {
    if (this.#requested === undefined || typeof id !== 'string' || (this.#isFound && this.#hasType)) return;
    const lower = id.toLowerCase();
    if (!lower.startsWith(this.#requested)) return;
    if (lower === this.#requested) this.#isFound = true;
    else if (!this.#isFound && this.#near.size < MAX_NEAR) this.#near.add(id);
    if (lower !== this.#requested && !this.#isBeginning) return;
    if (otherType === undefined) this.#hasType = true;
    else this.#otherTypes.add(otherType);
  }

  /** Whether an entry may be about the entity, by its id alone. */
  accepts(id: string | null | undefined): boolean {
    const lower = id?.toLowerCase();
    if (this.#requested === undefined || lower === this.#requested) return true;
    return this.#isBeginning && !this.#isFound && lower?.startsWith(this.#requested) === true;
  }

  /** Holds accepted entries until all are read, so that none is shown of several entities. @throws SvcError `usage` for several */
  only(batches: AsyncIterable<readonly Log[]>): AsyncIterable<readonly Log[]> {
    return this.#isBeginning ? this.#heldBack(batches) : batches;
  }

  async *#heldBack(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    let heldBack: Log[] = [];
    for await (const batch of batches) {
      heldBack = heldBack.concat(batch);
      this.#requireOne();
      if (heldBack.length < MAX_HELD) continue;
      yield heldBack;
      heldBack = [];
    }
    yield heldBack.filter(({ entity_id: id }) => this.accepts(id));
  }

  /**
   * Says which entity was meant, or reports near ids if no entry has the requested one.
   * @throws SvcError `usage` if several entities, or none, have an id that begins so, or the entity has another type
   */
  report({ notices }: Pick<Context, 'notices'>): void {
    const requested = this.#requested;
    if (requested === undefined) return;
    this.#requireOne();
    this.#requireType(requested);
    if (this.#isFound) return;
    const near = [...this.#near];
    if (this.#isBeginning && near.length === 1) return notices.note(`${this.#typed} is ${near.join('')}`);
    const message = `no entry read is about the entity ${requested}`;
    const similarIds = near.length === 0 ? '' : `ids that begin so: ${near.join(', ')}`;
    if (mayBeBeginning(requested))
      throw new SvcError('usage', message, { hint: this.#hint(similarIds), facts: { near } });
    if (near.length > 0) notices.note(`${message}; ${similarIds}`);
  }

  #hint(found: string): string {
    if (found !== '') return `Give at least eight digits; ${found}`;
    return this.#isBeginning
      ? 'An id as tables show it stands for an entity among the entries read: read more of the log, or give the whole id.'
      : 'Give at least eight digits of an id, as tables show them, or the whole id.';
  }

  #requireType(requested: string): void {
    if (this.#hasType || this.#otherTypes.size === 0) return;
    const types = [...this.#otherTypes].join(', ');
    throw new SvcError('usage', `the entries about the entity ${requested} are of another type: ${types}`, {
      hint: 'Leave out --entity-type, or give this type.',
      facts: { entity_types: [...this.#otherTypes] },
    });
  }

  #requireOne(): void {
    if (!this.#isBeginning || this.#isFound || this.#near.size < 2) return;
    const near = [...this.#near];
    throw new SvcError('usage', `several entities have an id that begins with ${this.#requested}`, {
      hint: `Give one of these: ${near.join(', ')}`,
      facts: { near },
    });
  }
}
