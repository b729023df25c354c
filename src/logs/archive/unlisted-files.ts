import type { Finding } from './chain.ts';
import { INDEX, indexNumber } from './index/ref.ts';
import { type ArchiveRecord, isHidden, MANIFEST, partNumber, sideNumber } from './record.ts';
import { filesOf } from './side-files.ts';
import type { ArchiveStore, StoredFile } from './store.ts';

/** The prefix of all paths of segments. */
export const SEGMENTS = 'tenant=';

/** The files of an archive that no record read so far lists. */
export class UnlistedFiles {
  readonly #store: ArchiveStore;
  readonly #files = new Map<string, StoredFile>();

  private constructor(store: ArchiveStore) {
    this.#store = store;
  }

  /** Lists all files of the kinds that records name: segments, files of the index, and files beside the records. */
  static async of(store: ArchiveStore): Promise<UnlistedFiles> {
    const unlisted = new UnlistedFiles(store);
    for await (const file of namedFiles(store)) if (!isHidden(file.path)) unlisted.#files.set(file.path, file);
    return unlisted;
  }

  get isEmpty(): boolean {
    return this.#files.size === 0;
  }

  /** The total size of the segments among the files. */
  get segmentBytes(): number {
    const segments = [...this.#files.values()].filter(({ path }) => path.startsWith(SEGMENTS));
    return segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Removes the files that a record lists, except its segments. */
  removeOthersOf(record: ArchiveRecord): void {
    for (const { path } of filesOf(record)) this.#files.delete(path);
    if (record.kind === 'segments') for (const { path } of record.index ?? []) this.#files.delete(path);
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  /** Removes a listed file, and returns it. A file that was absent at first may have been written since, so it is looked up. */
  async take(path: string): Promise<StoredFile | undefined> {
    let found = this.#files.get(path);
    this.#files.delete(path);
    if (found !== undefined) return found;
    for await (const file of this.#store.list(path)) if (file.path === path) found = file;
    return found;
  }

  /** Returns a finding for each remaining file. `newest` is the number of the newest record. */
  findings(newest: number): Finding[] {
    return [...this.#files.values()].map(({ path, irregular }) => {
      if (irregular !== undefined)
        return { problem: 'unlisted', path, message: `it is ${irregular}, and no record lists it` };
      const words = 'no record lists it: a killed run left it; the next commit to the archive removes it';
      return { problem: 'unlisted', path, message: numberOf(path) > newest ? words : 'no record lists it' };
    });
  }
}

async function* namedFiles(store: ArchiveStore): AsyncGenerator<StoredFile> {
  yield* store.list(SEGMENTS);
  yield* store.list(INDEX);
  for await (const file of store.list(MANIFEST, `${MANIFEST}a`)) if (!Number.isNaN(sideNumber(file.path))) yield file;
}

/** Returns the number of the record that a file was written for; NaN for any other file. */
function numberOf(path: string): number {
  if (path.startsWith(SEGMENTS)) return partNumber(path);
  return path.startsWith(INDEX) ? indexNumber(path) : sideNumber(path);
}
