import path from 'node:path';
import { makeDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { readOwnFileSync } from '../../base/files/own-file.ts';
import { directoryOf, type PathsHost } from '../../cli/config/paths.ts';
import { MAX_INDEX_BYTES } from '../archive/index/segment-index.ts';

/** The indexes in the cache of this machine, by the hashes of their segments: a search never writes into an archive. */
export class IndexCache {
  #directory: string | undefined;

  constructor(system: PathsHost) {
    const cache = directoryOf(system, 'cache');
    this.#directory = cache && path.join(cache, 'index');
  }

  /** Whether an index can be kept here, as far as is known. */
  get isUsable(): boolean {
    return this.#directory !== undefined;
  }

  read(segment: string): Uint8Array | undefined {
    if (this.#directory === undefined) return undefined;
    try {
      return readOwnFileSync(this.#fileOf(this.#directory, segment), MAX_INDEX_BYTES);
    } catch {
      return undefined;
    }
  }

  write(segment: string, index: Uint8Array): void {
    if (this.#directory === undefined) return;
    const file = this.#fileOf(this.#directory, segment);
    try {
      makeDirectory(path.dirname(file));
      writeFileAtomicSync(file, index);
    } catch {
      this.#directory = undefined;
    }
  }

  #fileOf(directory: string, segment: string): string {
    return path.join(directory, segment.slice(0, 2), `${segment}.idx`);
  }
}
