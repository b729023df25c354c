// Selects the entries of one actor, by the id of the actor or the beginning of the id.

import { SvcError } from '../base/errors.ts';
import { nearest, typedWord } from '../base/security/typed-word.ts';
import { UUID } from '../schema/uuid.ts';

/** How many letters of an id may differ from a near one. */
const MAX_EDITS = 2;
/** The most ids of actors that are kept to find near ones. */
const MAX_KEPT = 1_000;
/** How many near ids are reported. */
const MAX_NEAR = 5;
/** How many actors of the same beginning or name are reported. */
const MAX_SHOWN = 10;

/** Selects the entries of one actor, given by its id or the beginning of its id. */
export class ActorFilter {
  /** The complete id in lower case; undefined if only its beginning is known. */
  readonly id: string | undefined;
  readonly #beginning: string;
  #matchedId: string | undefined;
  #isSeen = false;
  readonly #others = new Set<string>();

  constructor(idOrBeginning: string) {
    this.#beginning = idOrBeginning.toLowerCase();
    this.id = UUID.test(idOrBeginning) ? this.#beginning : undefined;
  }

  /** Notes the actor of an entry that was read, whether or not other filters hide the entry. */
  see(actorId: unknown): void {
    if (this.id !== undefined || this.#isSeen || typeof actorId !== 'string') return;
    const id = actorId.toLowerCase();
    this.#isSeen = id.startsWith(this.#beginning);
    if (this.#others.size < MAX_KEPT) this.#others.add(id);
  }

  /** Checks that an entry read had an actor with this beginning. @throws SvcError `usage` with similar ids */
  requireSeen(): void {
    if (this.id !== undefined || this.#isSeen) return;
    const { length } = this.#beginning;
    const isNear = (id: string): boolean => nearest(this.#beginning, [id.slice(0, length)], MAX_EDITS) !== undefined;
    const near = [...this.#others].filter(isNear).slice(0, MAX_NEAR);
    const similarActors = near.length === 0 ? '' : ` Actors with a similar id: ${near.join(', ')}.`;
    throw new SvcError('usage', `no entry read is by an actor whose id begins with ${this.#beginning}`, {
      hint: `The beginning of an id stands for an actor of the entries read: widen the time range, or give the whole id.${similarActors}`,
      facts: { near },
    });
  }

  /** Whether an id belongs to the actor. @throws SvcError `usage` if the ids of two actors have the same beginning */
  matches(actorId: unknown): boolean {
    if (typeof actorId !== 'string') return false;
    const id = actorId.toLowerCase();
    if (this.id !== undefined) return id === this.id;
    if (!id.startsWith(this.#beginning)) return false;
    this.#matchedId ??= id;
    if (this.#matchedId !== id) throw ambiguous(this.#beginning, [this.#matchedId, id]);
    return true;
  }
}

/** Returns the error for an id or a name that stands for several actors. */
export function ambiguous(typed: string, ids: readonly string[]): SvcError {
  return new SvcError(
    'usage',
    `--actor ${typedWord(typed, [])} is not one actor: ${ids.slice(0, MAX_SHOWN).join(', ')}`,
    { hint: 'Give the whole id.', facts: { candidates: ids } },
  );
}
