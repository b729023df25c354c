import { randomBytes } from 'node:crypto';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { type ObjectStore, ReadOnlyPlace, type StoredFile } from '../../client/store/store.ts';
import { folderOf } from '../folder-of.ts';
import { damagedLedger } from './damage.ts';

/** The most bytes of an object that is no set of rows. */
export const MAX_ENTRY_BYTES = 64 * 1024;

/** The folder of what places are tried with. */
export const PROBES = 'probe/';

const PROBE = Buffer.from('svc tried here that an object is created only once.\n');

/** Reads an object of a ledger. @throws SvcError `config` for one that svc did not write */
export async function readObject(objects: ObjectStore, name: string, most: number): Promise<Uint8Array | undefined> {
  try {
    return await objects.read(name, most);
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) throw damagedLedger(`${objects.name}/${name}`, error.message);
    throw error;
  }
}

/** Reads this machine's copy of an object. One that cannot be read is of no use. */
export async function readCopy(
  copies: ObjectStore | undefined,
  name: string,
  most: number,
): Promise<Uint8Array | undefined> {
  try {
    return await copies?.read(name, most);
  } catch (error) {
    if (isSvcError(error)) return undefined;
    throw error;
  }
}

/** Keeps a copy. Without one, the object is read again. */
export async function writeCopy(copies: ObjectStore | undefined, name: string, bytes: Uint8Array): Promise<void> {
  try {
    await copies?.create(name, bytes);
  } catch (error) {
    if (!isSvcError(error)) throw error;
  }
}

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

/**
 * Creates what exists once more: a store that answers `created` ignores the condition, and would let two machines pay.
 * @throws SvcError `config` for such a store
 */
export async function requireCondition(objects: ObjectStore, name: string, bytes: Uint8Array): Promise<void> {
  if ((await objects.create(name, bytes)) === 'exists') return;
  const why = objects.isVersioned ? ' while its versioning is on' : '';
  throw new SvcError(
    'config',
    `${objects.name} replaces objects that exist${why}, so machines cannot share a ledger there; nothing was sent`,
    {
      hint: objects.isVersioned
        ? 'Suspend the versioning of the bucket, or use a store that honors If-None-Match with versioning.'
        : 'Use a store that honors If-None-Match, or a directory that all machines see.',
    },
  );
}

/**
 * Tries with a new object whether a place creates nothing twice. The object stays there, since svc deletes nothing in
 * a ledger's place, and is tried again the next time.
 * @throws SvcError `config` for a place that creates it twice
 */
export async function tryPlace(objects: ObjectStore, tenant?: string): Promise<void> {
  const prefix = tenant === undefined ? PROBES : `${folderOf(tenant)}/${PROBES}`;
  let name = await firstIn(objects, prefix);
  if (name === undefined) {
    name = `${prefix}${randomBytes(8).toString('hex')}`;
    await objects.create(name, PROBE);
  }
  await requireCondition(objects, name, PROBE);
}

/** Tries the place of a ledger. Returns the place, which takes nothing from a machine that may create nothing there. */
export async function triedPlace(objects: ObjectStore, tenant: string): Promise<ObjectStore> {
  try {
    await tryPlace(objects, tenant);
    return objects;
  } catch (error) {
    if (error instanceof ReadOnlyPlace) return new ReadOnlyObjects(objects, error);
    throw error;
  }
}

/** The objects of a place that takes nothing from this machine. */
class ReadOnlyObjects implements ObjectStore {
  readonly name: string;
  readonly refusal: ReadOnlyPlace;
  readonly #place: ObjectStore;

  constructor(place: ObjectStore, refusal: ReadOnlyPlace) {
    this.name = place.name;
    this.refusal = refusal;
    this.#place = place;
  }

  create(): Promise<never> {
    return Promise.reject(this.refusal);
  }

  read(name: string, most: number): Promise<Uint8Array | undefined> {
    return this.#place.read(name, most);
  }

  list(prefix: string): AsyncIterable<StoredFile> {
    return this.#place.list(prefix);
  }
}

/** Tells whether a place takes nothing from this machine. */
export function isReadOnly(objects: ObjectStore): boolean {
  return objects instanceof ReadOnlyObjects;
}

/** Refuses a place that takes nothing, before a command creates a job or asks the service for what it writes there. */
export function requireWritable(objects: ObjectStore): void {
  if (objects instanceof ReadOnlyObjects) throw objects.refusal;
}

/** Returns the name of the first object whose name begins with `prefix`. */
export async function firstIn(objects: ObjectStore, prefix: string): Promise<string | undefined> {
  for await (const { path } of objects.list(prefix)) return path;
  return undefined;
}

/** Returns the names of the cycles that have entries below the folder of a ledger. A list of a bucket may lag. */
export async function cyclesIn(objects: ObjectStore, top: string): Promise<readonly string[]> {
  const prefix = `${top}/cycles/`;
  const names = new Set<string>();
  for await (const { path } of objects.list(prefix)) {
    const [name = '', entry = ''] = path.slice(prefix.length).split('/');
    if (/^\d{8}\.json$/.test(entry)) names.add(name);
  }
  return [...names];
}

export function notShown({ name: place }: ObjectStore, name: string): SvcError {
  return new SvcError('server', `${place}: ${name} exists, and is not shown; nothing was sent`, { retryable: true });
}
