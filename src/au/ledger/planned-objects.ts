import type { ObjectStore, StoredFile } from '../../client/store/store.ts';

/**
 * The objects of a place as a command that sends rows would leave them. What is created stays in memory, so that a dry run
 * and a command that only reads see what that command would see, and the place is only read.
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

  /** Returns the copies of these objects on this machine. They get none of what is only in memory. */
  copiesIn(copies: ObjectStore): ObjectStore {
    return {
      name: copies.name,
      create: async (name, bytes) => (this.#created.has(name) ? 'created' : copies.create(name, bytes)),
      read: (name, most) => copies.read(name, most),
      list: (prefix) => copies.list(prefix),
    };
  }
}
