import { randomBytes } from 'node:crypto';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { type ObjectStore, ReadOnlyPlace, type Store, type StoredFile } from '../../client/store/store.ts';
import { folderOf } from '../../base/files/names.ts';
import { absentLedger, damagedLedger } from './damage.ts';
import { MAX_SET_BYTES } from './row-set.ts';

/** The most bytes of an object that is no set of rows. */
export const MAX_ENTRY_BYTES = 64 * 1024;

/** The folder of what places are tried with. */
const PROBES = 'probe/';

const PROBE = Buffer.from('svc tried here that an object is created only once.\n');

/** The copies that a machine keeps of what it read in a place. */
export type Copies = ObjectStore & Pick<Store, 'remove'>;

/** The objects of a tenant's ledger in a place, and the copies that this machine has of them, because they never change. */
export class LedgerFolder {
  /** The location in messages. */
  readonly place: string;
  readonly #objects: ObjectStore;
  readonly #copies: Copies | undefined;
  readonly #top: string;
  #refusal: ReadOnlyPlace | undefined;

  constructor(objects: ObjectStore, tenant: string, copies: Copies | undefined) {
    this.place = objects.name;
    this.#objects = objects;
    this.#copies = copies;
    this.#top = folderOf(tenant);
  }

  /** Tries the place. One that takes nothing from this machine was not tried, and must get no entry even if it takes one. */
  async try(): Promise<void> {
    try {
      await tryPlace(this.#objects, this.#top);
    } catch (error) {
      if (!(error instanceof ReadOnlyPlace)) throw error;
      this.#refusal = error;
    }
  }

  /** Whether the place takes nothing from this machine. */
  get isReadOnly(): boolean {
    return this.#refusal !== undefined;
  }

  /** Refuses such a place before a command creates a job or asks the service for what it writes there. @throws ReadOnlyPlace */
  requireWritable(): void {
    if (this.#refusal) throw this.#refusal;
  }

  /** Returns the name of an object in the place. */
  nameOf(name: string): string {
    return `${this.#top}/${name}`;
  }

  /** Returns the place of an object in messages. */
  shown(name: string): string {
    return `${this.place}/${this.nameOf(name)}`;
  }

  /** Reads an object. @throws SvcError `config` for one that svc did not write */
  async read(name: string, most = MAX_ENTRY_BYTES): Promise<Uint8Array | undefined> {
    try {
      return await this.#objects.read(this.nameOf(name), most);
    } catch (error) {
      if (isSvcError(error, 'checksum_mismatch')) throw damagedLedger(this.shown(name), error.message);
      throw error;
    }
  }

  /** Creates an object under the condition that its name is free. @throws as `ObjectStore.create` */
  async create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    this.requireWritable();
    return this.#objects.create(this.nameOf(name), bytes);
  }

  /** Creates an object, and tells whether it is there: what took the name may be this very object, whose first response was lost. */
  async put(name: string, bytes: Uint8Array): Promise<boolean> {
    if ((await this.create(name, bytes)) === 'created') return true;
    const winner = await this.read(name, MAX_SET_BYTES);
    if (winner === undefined) throw this.notShown(name);
    return Buffer.compare(winner, bytes) === 0;
  }

  /** Checks that the place honors the condition, with an object that exists. @throws SvcError `config` if it does not */
  async requireCondition(name: string, bytes: Uint8Array): Promise<void> {
    await requireCondition(this.#objects, this.nameOf(name), bytes);
  }

  /** Returns the error for an object that exists and is not shown. */
  notShown(name: string): SvcError {
    const message = `${this.place}: ${this.nameOf(name)} exists, and is not shown; nothing was sent`;
    return new SvcError('server', message, { retryable: true });
  }

  /** Reads an object from this machine's copies if it has a sound one, or else from the place, and keeps a copy. */
  async get(name: string, most: number, isSound: (kept: Uint8Array) => boolean): Promise<Uint8Array | undefined> {
    const kept = await this.readCopy(name, most);
    if (kept !== undefined && isSound(kept)) return kept;
    const bytes = await this.read(name, most);
    if (bytes !== undefined && isSound(bytes)) await this.keep(name, bytes);
    return bytes;
  }

  /** Reads this machine's copy of an object. One that cannot be read is of no use. */
  async readCopy(name: string, most = MAX_ENTRY_BYTES): Promise<Uint8Array | undefined> {
    try {
      return await this.#copies?.read(this.nameOf(name), most);
    } catch (error) {
      if (isSvcError(error)) return undefined;
      throw error;
    }
  }

  /** Keeps a copy. Without one, the object is read again. */
  async keep(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#copies?.create(this.nameOf(name), bytes);
    } catch (error) {
      if (!isSvcError(error)) throw error;
    }
  }

  /** Keeps a copy in place of one of another history, or none. Without it, the object is read again. */
  async replaceCopy(name: string, bytes: Uint8Array | undefined): Promise<void> {
    try {
      await this.#copies?.remove(this.nameOf(name));
    } catch (error) {
      if (!isSvcError(error)) throw error;
    }
    if (bytes !== undefined) await this.keep(name, bytes);
  }

  /** Whether this machine keeps copies. What it has alone, it reads from its place. */
  get hasCopies(): boolean {
    return this.#copies !== undefined;
  }

  /** Lists the objects whose name begins with `prefix`. A list of a bucket may lag. */
  async list(prefix: string): Promise<ReadonlyMap<string, StoredFile>> {
    const listed = new Map<string, StoredFile>();
    for await (const file of this.#objects.list(this.nameOf(prefix)))
      listed.set(file.path.slice(this.#top.length + 1), file);
    return listed;
  }

  /** Returns the names of the cycles that have entries, here or among the copies of this machine. */
  async cycles(among: 'place' | 'copies' = 'place'): Promise<readonly string[]> {
    const names = new Set<string>();
    for await (const { path } of (among === 'place' ? this.#objects : this.#copies)?.list(this.nameOf('cycles/')) ??
      []) {
      const [, , name, entry = ''] = path.split('/');
      if (name !== undefined && /^\d{8}\.json$/.test(entry)) names.add(name);
    }
    return [...names];
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
  copiesIn(copies: Copies): Copies {
    return {
      name: copies.name,
      create: async (name, bytes) => (this.#created.has(name) ? 'created' : copies.create(name, bytes)),
      read: (name, most) => copies.read(name, most),
      list: (prefix) => copies.list(prefix),
      remove: async () => undefined,
    };
  }
}

/**
 * Creates what exists once more: a store that answers `created` ignores the condition, and would let two machines pay.
 * @throws SvcError `config` for such a store
 */
async function requireCondition(objects: ObjectStore, name: string, bytes: Uint8Array): Promise<void> {
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

/**
 * Checks that a place has something of the ledger of which this machine has copies: an empty one is what a volume leaves that
 * is not mounted.
 * @throws SvcError `config`
 */
export async function requireSeen(
  objects: ObjectStore,
  tenant: string,
  copies: ObjectStore | undefined,
): Promise<void> {
  const known = copies && (await firstIn(copies, `${folderOf(tenant)}/cycles/`));
  if (known === undefined || (await isThere(objects, known))) return;
  const top = `${folderOf(tenant)}/`;
  for await (const { path } of objects.list(top)) if (!path.startsWith(`${top}${PROBES}`)) return;
  throw absentLedger(objects.name, copies?.name);
}

/** Tells whether there is something under a name, whatever it is. */
async function isThere(objects: ObjectStore, name: string): Promise<boolean> {
  try {
    return (await objects.read(name, MAX_SET_BYTES)) !== undefined;
  } catch (error) {
    if (isSvcError(error, 'checksum_mismatch')) return true;
    throw error;
  }
}

/** Returns the name of the first object whose name begins with `prefix`. */
async function firstIn(objects: ObjectStore, prefix: string): Promise<string | undefined> {
  for await (const { path } of objects.list(prefix)) return path;
  return undefined;
}
