import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

const DRAFT_ENDING = '.draft';

// Long enough that no upload of a live process is taken away.
const STALE_MS = 2 * 3_600_000;

/** Where the store keeps its objects. A file is written as a draft and renamed when it is whole. */
export class StoreFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The file of an object. Two objects of a job differ by their folder, here by their name. */
  path(object: string): string {
    const area = object.includes('/results/') ? 'result' : 'request';
    return join(this.#directory, `${area}-${basename(object)}`);
  }

  /** A path for a file that is not whole yet. */
  draft(): string {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    return join(this.#directory, `${randomUUID()}${DRAFT_ENDING}`);
  }

  /** Removes a draft, if it is still there. */
  discard(draft: string): void {
    rmSync(draft, { force: true });
  }

  /** Removes drafts that killed processes left. `now` is the file system's time. */
  sweep(now: number): void {
    for (const name of readdirSync(this.#directory)) {
      const path = join(this.#directory, name);
      if (name.endsWith(DRAFT_ENDING) && isOlder(path, now - STALE_MS)) rmSync(path, { force: true });
    }
  }
}

function isOlder(path: string, time: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.mtimeMs < time;
}
