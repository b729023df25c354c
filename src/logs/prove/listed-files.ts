// Finds files of an archive that no record lists.

import type { Store, StoredFile } from '../../client/store/store.ts';
import type { Finding } from '../archive/records/chain.ts';
import {
  type ArchiveRecord,
  filesNamedBy,
  isHidden,
  namedKinds,
  recordPath,
  SEGMENTS,
  writtenFor,
} from '../archive/records/record.ts';
import { INDEX, indexPath, isFirstIndex, segmentIndexedAt } from '../archive/segment-index.ts';

/** The files of an archive that none of the records read so far lists. */
export class UnlistedFiles {
  readonly #store: Store;
  readonly #files = new Map<string, StoredFile>();

  private constructor(store: Store) {
    this.#store = store;
  }

  /** Lists all files of the kinds that records name, segments and files beside the records, and indexes without their segment. */
  static async of(store: Store): Promise<UnlistedFiles> {
    const unlisted = new UnlistedFiles(store);
    const files = unlisted.#files;
    for await (const file of namedKinds(store)) if (!isHidden(file.path)) files.set(file.path, file);
    for await (const file of store.list(INDEX)) {
      const hasSegment = files.has(segmentIndexedAt(file.path) ?? '') || isFirstIndex(file.path);
      if (!hasSegment && !isHidden(file.path)) files.set(file.path, file);
    }
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
    for (const { path } of filesNamedBy(record).side) this.#files.delete(path);
  }

  /** Whether all files belong to one record, which a run may be about to commit. */
  areOf(sequence: number): boolean {
    return [...this.#files.values()].every(({ path, irregular }) => !irregular && writtenFor(path) === sequence);
  }

  /** Forgets removed files, such as the files of a run that another run overtook. */
  async forgetRemoved(): Promise<void> {
    for (const { path } of this.#files.values())
      if ((await this.#store.find(path)) === undefined) this.#files.delete(path);
  }

  /** Removes a segment that a record lists, with its index. */
  remove(path: string): void {
    this.#files.delete(path);
    this.#files.delete(indexPath(path));
  }

  /** Removes a segment from the list and returns its file. A file that the list lacks is looked up, because the list may be older. */
  async take(path: string): Promise<StoredFile | undefined> {
    const file = this.#files.get(path);
    this.remove(path);
    return file ?? this.#store.find(path);
  }

  /**
   * Returns a finding for each remaining file. `newest` is the number of the newest record, and `written` that of the newest
   * one that is more than a review or what killed runs left. The next run adds what is in files of that one and later ones.
   */
  findings(newest: number, written: number): Finding[] {
    const files = [...this.#files.values()];
    const cut = `no record lists it: the records from ${recordPath(newest + 1)} on are missing`;
    const isCut = files.some(({ path }) => writtenFor(path) > newest + 1);
    return files.map(({ path, irregular }) => {
      const number = writtenFor(path);
      const problem = 'unlisted';
      if (irregular !== undefined) return { problem, path, message: `it is ${irregular}, and no record lists it` };
      if (isCut && number > newest) return { problem, path, message: cut, cause: 'missing records' };
      if (number >= written) return { problem, path, message: LEFT_BY_RUN, cause: 'run' };
      return { problem, path, message: 'no record lists it' };
    });
  }
}

/** Whether a file only lies in the archive: neither missing records nor a killed run explain it. */
export function isStray({ problem, cause }: Finding): boolean {
  return problem === 'unlisted' && cause === undefined;
}

/** Why no record lists a file that belongs to the next record. */
export const LEFT_BY_RUN =
  'no record lists it: a killed run left it, or a run is writing it; the next run of svc logs archive adds what is in it';
