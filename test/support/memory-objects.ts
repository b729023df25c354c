import { SvcError } from '../../src/base/errors.ts';
import { damagedFile } from '../../src/client/store/store-errors.ts';
import type { ObjectStore, StoredFile } from '../../src/client/store/store.ts';

/**
 * What happens to an attempt to create an object. `lost`: the store creates it, and the response never comes. `repeated`:
 * so it does, and the store's client tries again and finds its own object. `refused`: the request never arrives.
 */
export type CreateFault = 'lost' | 'repeated' | 'refused';

/** Objects in memory, with faults and a list of all requests. Several ledgers can share one. */
export class MemoryObjects implements ObjectStore {
  readonly name = 'memory';
  readonly objects = new Map<string, Uint8Array>();
  /** The requests so far, such as `read tenant/begun.json`. */
  requests: string[] = [];
  /** Whether the store replaces objects that exist, as some do that do not know the condition. */
  ignoresCondition = false;
  /** When objects were changed, in lists. */
  readonly changedAt = new Map<string, number>();
  /** Objects that lists leave out. */
  readonly unlisted = new Set<string>();
  /** Called before each attempt to create an object. */
  onCreate: ((name: string) => CreateFault | undefined) | undefined;

  async create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    await this.#request(`create ${name}`);
    const fault = this.onCreate?.(name);
    if (fault === 'refused') throw noResponse();
    if (this.objects.has(name) && !this.ignoresCondition) return 'exists';
    this.objects.set(name, Uint8Array.from(bytes));
    if (fault === 'lost') throw noResponse();
    return fault === 'repeated' ? 'exists' : 'created';
  }

  async read(name: string, most: number): Promise<Uint8Array | undefined> {
    await this.#request(`read ${name}`);
    const bytes = this.objects.get(name);
    if (bytes !== undefined && bytes.byteLength > most) throw damagedFile(name, `it has ${bytes.byteLength} bytes`);
    return bytes && Uint8Array.from(bytes);
  }

  async *list(prefix: string): AsyncGenerator<StoredFile> {
    await this.#request(`list ${prefix}`);
    for (const [path, { byteLength: bytes }] of this.objects)
      if (path.startsWith(prefix) && !this.unlisted.has(path))
        yield { path, bytes, changedAt: this.changedAt.get(path) };
  }

  async remove(name: string): Promise<void> {
    this.objects.delete(name);
  }

  /** Returns the text of an object. */
  text(name: string): string {
    return Buffer.from(this.objects.get(name) ?? []).toString();
  }

  /** Writes an object as another program would: without a condition and without a request. */
  put(name: string, text: string | Uint8Array): void {
    this.objects.set(name, Buffer.from(text));
  }

  /** Lets others run first, as a request over a network does. */
  async #request(request: string): Promise<void> {
    this.requests.push(request);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function noResponse(): SvcError {
  return new SvcError('network', 'no response from the store');
}
