import { shortHash } from './file.ts';
import { FilterBuilder } from './filter.ts';
import type { BuiltColumn } from './write.ts';

/** What an index has to know of the entries of a column. */
export class ColumnContent {
  entries = 0;
  #first: number | null = null;
  #last: number | null = null;
  readonly #filter = new FilterBuilder();

  add(at: number | undefined, entityId?: string | null, actorId?: string | null): void {
    this.entries += 1;
    if (at !== undefined) {
      this.#first = Math.min(this.#first ?? at, at);
      this.#last = Math.max(this.#last ?? at, at);
    }
    if (typeof entityId === 'string') this.#filter.add(entityId);
    if (typeof actorId === 'string') this.#filter.add(actorId);
  }

  /** The column with all its entries; `bytes` are those in the file. */
  built(bytes: Uint8Array): BuiltColumn {
    const { sizeClass, words } = this.#filter.finish();
    const filter = new Uint8Array(words.buffer);
    const hashes = [shortHash(bytes), shortHash(filter)] as const;
    return { info: [bytes.length, this.entries, this.#first, this.#last, sizeClass, ...hashes], filter };
  }
}
