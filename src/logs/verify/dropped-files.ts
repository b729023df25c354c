import type { Store } from '../../client/store/store.ts';
import { filesNamedBy, namedKinds } from '../archive/records/named-files.ts';
import { type ArchiveRecord, isDroppedBy } from '../archive/records/record.ts';

/** The files that records name and later records drop. */
export class DroppedFiles {
  #named: string[] = [];
  readonly #dropped = new Set<string>();

  add(record: ArchiveRecord): void {
    for (const { path } of filesNamedBy(record).segments) this.#named.push(path);
    if (record.kind !== 'dropped') return;
    for (const path of this.#named) if (isDroppedBy(record, path)) this.#dropped.add(path);
    this.#named = this.#named.filter((path) => !this.#dropped.has(path));
  }

  /** Returns the files that are still there, since retention could not remove them, was killed, or is at work. */
  async stillThere(store: Store): Promise<string[]> {
    const found: string[] = [];
    if (this.#dropped.size === 0) return found;
    for await (const { path } of namedKinds(store))
      if (this.#dropped.has(path) && (await store.find(path)) !== undefined) found.push(path);
    return found;
  }
}
