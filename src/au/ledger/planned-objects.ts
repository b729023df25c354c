import type { ObjectStore } from '../../client/store/objects.ts';
import type { StoredFile } from '../../client/store/store.ts';

/**
 * The objects of a place as a command would leave them. What it creates stays in memory, so that a dry run sees what the
 * command itself would see, and the place is only read.
 */
export class PlannedObjects implements ObjectStore {
  readonly #place: ObjectStore;
  readonly #created = new Map<string, Uint8Array>();

  constructor(place: ObjectStore) {
    this.#place = place;
  }

  get name(): string {
    return this.#place.name;
  }

  async create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    if ((await this.read(name, Infinity)) !== undefined) return 'exists';
    this.#created.set(name, Uint8Array.from(bytes));
    return 'created';
  }

  async read(name: string, most: number): Promise<Uint8Array | undefined> {
    return this.#created.get(name) ?? (await this.#place.read(name, most));
  }

  async *list(prefix: string): AsyncGenerator<StoredFile> {
    for await (const file of this.#place.list(prefix)) if (!this.#created.has(file.path)) yield file;
    for (const [path, { byteLength: bytes }] of this.#created) if (path.startsWith(prefix)) yield { path, bytes };
  }
}
