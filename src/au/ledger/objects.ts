// Reads and creates the objects of a ledger in a directory or bucket, and keeps copies of them on this machine.

import { randomBytes } from 'node:crypto';
import { absentLedger, damagedLedger } from './damage.ts';
import { MAX_SET_BYTES } from './row-set.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { folderOf } from '../../base/files/names.ts';
import { ReadOnlyPlace } from '../../client/store/store-errors.ts';
import type { ObjectStore, Store, StoredFile } from '../../client/store/store.ts';

/** The largest size of an object other than a set of rows. */
export const MAX_ENTRY_BYTES = 64 * 1024;

/** The folder of the objects that test whether a store creates an object only once. */
const PROBES = 'probe/';

const PROBE = Buffer.from('svc tried here that an object is created only once.\n');

/** This machine's copies of the objects that it read. */
export type Copies = ObjectStore & Pick<Store, 'remove'>;

/** The objects of a tenant's ledger, and this machine's copies of them. Objects never change. */
export class LedgerFolder {
  /** The location in messages. */
  readonly place: string;
  readonly #objects: ObjectStore;
  readonly #copies: Copies | undefined;
  readonly #tenantFolder: string;
  #refusal: ReadOnlyPlace | undefined;

  constructor(objects: ObjectStore, tenant: string, copies: Copies | undefined) {
    this.place = objects.name;
    this.#objects = objects;
    this.#copies = copies;
    this.#tenantFolder = folderOf(tenant);
  }

  /** Tests the store. If it is read-only for this machine, it cannot be tested and gets no entry from this command. */
  async try(): Promise<void> {
    try {
      await tryPlace(this.#objects, this.#tenantFolder);
    } catch (error) {
      if (!(error instanceof ReadOnlyPlace)) throw error;
      this.#refusal = error;
    }
  }

  /** Whether this machine may only read the objects. */
  get isReadOnly(): boolean {
    return this.#refusal !== undefined;
  }

  /** Checks that this machine may write, before a command creates a job for whose claim there is no place. @throws ReadOnlyPlace */
  requireWritable(): void {
    if (this.#refusal) throw this.#refusal;
  }

  /** Returns the name of an object with the folder of the tenant. */
  fullName(name: string): string {
    return `${this.#tenantFolder}/${name}`;
  }

  /** Returns the name of an object for messages, with its location. */
  shownName(name: string): string {
    return `${this.place}/${this.fullName(name)}`;
  }

  /** Reads an object. @throws SvcError `config` for an object that svc did not write */
  async read(name: string, maxBytes = MAX_ENTRY_BYTES): Promise<Uint8Array | undefined> {
    try {
      return await this.#objects.read(this.fullName(name), maxBytes);
    } catch (error) {
      if (isSvcError(error, 'checksum_mismatch')) throw damagedLedger(this.shownName(name), error.message);
      throw error;
    }
  }

  /** Creates an object if its name is free. @throws as `ObjectStore.create` */
  async create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    this.requireWritable();
    return this.#objects.create(this.fullName(name), bytes);
  }

  /** Creates an object. Returns false if the name has other bytes; the same bytes may come from a request whose response was lost. */
  async put(name: string, bytes: Uint8Array): Promise<boolean> {
    if ((await this.create(name, bytes)) === 'created') return true;
    const winner = await this.read(name, MAX_SET_BYTES);
    if (winner === undefined) throw this.notShownError(name);
    return Buffer.compare(winner, bytes) === 0;
  }

  /** Checks with an existing object that the store honors `If-None-Match`. @throws SvcError `config` */
  async requireCondition(name: string, bytes: Uint8Array): Promise<void> {
    await requireCondition(this.#objects, this.fullName(name), bytes);
  }

  /** Returns the error for an object that exists, but cannot be read. */
  notShownError(name: string): SvcError {
    const message = `${this.place}: ${this.fullName(name)} exists, and is not shown; nothing was sent`;
    return new SvcError('server', message, { retryable: true });
  }

  /** Reads an object from this machine's copies if the copy is sound, or else from the store, and keeps a copy. */
  async get(name: string, maxBytes: number, isSound: (kept: Uint8Array) => boolean): Promise<Uint8Array | undefined> {
    const kept = await this.readCopy(name, maxBytes);
    if (kept !== undefined && isSound(kept)) return kept;
    const bytes = await this.read(name, maxBytes);
    if (bytes !== undefined && isSound(bytes)) await this.keep(name, bytes);
    return bytes;
  }

  /** Reads this machine's copy of an object; undefined if it has none or cannot read it. */
  async readCopy(name: string, maxBytes = MAX_ENTRY_BYTES): Promise<Uint8Array | undefined> {
    try {
      return await this.#copies?.read(this.fullName(name), maxBytes);
    } catch (error) {
      if (isSvcError(error)) return undefined;
      throw error;
    }
  }

  /** Keeps a copy. A copy that cannot be written only costs another read. */
  async keep(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#copies?.create(this.fullName(name), bytes);
    } catch (error) {
      if (!isSvcError(error)) throw error;
    }
  }

  /** Replaces a copy, or removes it if `bytes` is undefined. */
  async replaceCopy(name: string, bytes: Uint8Array | undefined): Promise<void> {
    try {
      await this.#copies?.remove(this.fullName(name));
    } catch (error) {
      if (!isSvcError(error)) throw error;
    }
    if (bytes !== undefined) await this.keep(name, bytes);
  }

  /** Whether this machine keeps copies. A machine's own ledger has none. */
  get hasCopies(): boolean {
    return this.#copies !== undefined;
  }

  /** Lists the objects whose name begins with `prefix`. A list of a bucket may lag. */
  async list(prefix: string): Promise<ReadonlyMap<string, StoredFile>> {
    const listed = new Map<string, StoredFile>();
    for await (const file of this.#objects.list(this.fullName(prefix)))
      listed.set(file.path.slice(this.#tenantFolder.length + 1), file);
    return listed;
  }

  /**
   * Returns the cycles that have entries, with the number of the last entry that the ledger's list shows. A list may lack new
   * cycles, and the ledger may have lost some: those of which this machine has copies count too, and can be the only ones asked for.
   */
  async cycles(among: 'all' | 'copies' = 'all'): Promise<ReadonlyMap<string, number>> {
    const cycles = new Map<string, number>();
    for (const objects of among === 'all' ? [this.#objects, this.#copies] : [this.#copies])
      for await (const { path } of objects?.list(this.fullName('cycles/')) ?? []) {
        const [, , name, entry = ''] = path.split('/');
        const number = entryNumber(entry);
        if (name === undefined || number === 0) continue;
        cycles.set(name, Math.max(cycles.get(name) ?? 0, objects === this.#objects ? number : 0));
      }
    return cycles;
  }
}

/** Returns the number of an entry from its name in the folder of its cycle; 0 for any other object. */
export function entryNumber(name: string): number {
  return Number(/^(\d{8})\.json$/.exec(name)?.[1] ?? 0);
}

/** A store for a dry run: creates objects only in memory, and reads them together with those of the real store. */
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

  async read(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    return this.#created.get(name) ?? (await this.#place.read(name, maxBytes));
  }

  async *list(prefix: string): AsyncGenerator<StoredFile> {
    for await (const file of this.#place.list(prefix)) if (!this.#created.has(file.path)) yield file;
    for (const [path, { byteLength: bytes }] of this.#created) if (path.startsWith(prefix)) yield { path, bytes };
  }

  /** Returns this machine's copies, which get no object that exists only in memory. */
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
 * Creates an existing object again. A store that responds `created` ignores `If-None-Match`, and two machines could both claim
 * and pay for the same rows.
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
 * Tests whether a store creates an object only once. The test object stays for the next test, since svc deletes nothing in a
 * ledger.
 * @throws SvcError `config` for a store that creates it twice
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
 * Checks that a ledger of which this machine has copies is not empty, as the directory of a volume that is not mounted.
 * @throws SvcError `config`
 */
export async function requireNotEmpty(
  objects: ObjectStore,
  tenant: string,
  copies: ObjectStore | undefined,
): Promise<void> {
  const copiedObject = copies && (await firstIn(copies, `${folderOf(tenant)}/cycles/`));
  if (copiedObject === undefined || (await isThere(objects, copiedObject))) return;
  const top = `${folderOf(tenant)}/`;
  for await (const { path } of objects.list(top)) if (!path.startsWith(`${top}${PROBES}`)) return;
  throw absentLedger(objects.name, copies?.name);
}

/** Tells whether a store has an object, sound or not. */
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
