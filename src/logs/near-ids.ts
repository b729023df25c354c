import { SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';

const MOST_KEPT = 5;
const SHORTER_THAN_UUID = /^[0-9a-f-]{6,35}$/i;

/** Whether an id may be only the beginning of a UUID, which is what tables show. */
export function mayBeBeginning(id: string): boolean {
  return SHORTER_THAN_UUID.test(id);
}

/** Remembers whether the requested entity was found, and otherwise ids that begin with the requested one. */
export class NearIds {
  readonly #requested: string | undefined;
  readonly #near = new Set<string>();
  #isFound = false;

  constructor(requested: string | undefined) {
    this.#requested = requested?.toLowerCase();
  }

  see(id: string | null | undefined): void {
    if (this.#requested === undefined || typeof id !== 'string' || this.#isFound) return;
    const lower = id.toLowerCase();
    if (lower === this.#requested) this.#isFound = true;
    else if (this.#near.size < MOST_KEPT && lower.startsWith(this.#requested)) this.#near.add(id);
  }

  /** Reports near ids if no entry has the requested id. @throws SvcError `usage` if the id is too short for a UUID */
  report({ notices }: Pick<Context, 'notices'>): void {
    const requested = this.#requested;
    if (requested === undefined || this.#isFound) return;
    const near = [...this.#near];
    const message = `no entry read is about the entity ${requested}`;
    const found = near.length === 0 ? '' : `ids that begin so: ${near.join(', ')}`;
    if (mayBeBeginning(requested))
      throw new SvcError('usage', message, {
        hint:
          near.length === 0
            ? 'Narrow tables show the beginning of an id; --wide shows the whole one, which is needed here.'
            : `Give the whole id; ${found}`,
        facts: { near },
      });
    if (near.length > 0) notices.note(`${message}; ${found}`);
  }
}
