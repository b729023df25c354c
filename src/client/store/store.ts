import fs from 'node:fs';
import { isSvcError, SvcError, writeFailure } from '../../base/errors.ts';
import { type LockHost, type LockOptions, withLock } from '../../base/files/lock.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import type { System } from '../../base/system.ts';
import type { Trace } from '../http/exchange.ts';

/** A file in a store: its path below the store's top, with `/`, and its size. */
export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  /** When it was last changed, in epoch milliseconds, where the list says so. */
  readonly changedAt?: number | undefined;
  /** Set if the path is not a regular file, such as 'a symbolic link'. It must not be opened. */
  readonly irregular?: string | undefined;
}

/** A written and flushed file on this machine, to be moved into a store. `sha256` is hexadecimal. */
export interface LocalFile {
  /** The path on this machine. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * A place for objects that are created once and never changed. Paths are relative, with `/`. Of several writers on any
 * machines, one creates an object, without a lock.
 */
export interface ObjectStore {
  /** The location in messages: the directory, or `s3://bucket/prefix`. */
  readonly name: string;
  /** Whether the response to a write showed that the bucket keeps versions. Some stores then ignore the condition. */
  readonly isVersioned?: boolean | undefined;
  /**
   * Creates an object durably if its name is free, completely or not at all. `exists` may be due to an earlier attempt of
   * this very call whose response was lost: reading the object tells.
   * @throws ReadOnlyPlace if this machine may create nothing there
   * @throws SvcError `config` if the place cannot create objects under this condition; `network`, `server` if it is not
   *   known whether the object was created
   */
  create(path: string, content: Uint8Array): Promise<'created' | 'exists'>;
  /** Reads an object of at most `most` bytes; undefined if there is none. @throws SvcError `checksum_mismatch` for anything else */
  read(path: string, most: number): Promise<Uint8Array | undefined>;
  /** Lists files whose path begins with `prefix`, in order of path. One that was just created may be missing. */
  list(prefix: string): AsyncIterable<StoredFile>;
}

/** A directory or a bucket with a prefix, with all that one writer at a time may do in it. */
export interface Store extends ObjectStore {
  /** The directory in which files are prepared for `create`. It exists only while the writer has the lock. */
  readonly workDirectory: string;
  /** Whether the store is a bucket: listing it takes many requests, and the lock does not stop writers on other machines. */
  readonly isRemote: boolean;
  /** Creates a file as above. `exists` means that another writer's file is there. A local file may be moved. */
  create(path: string, content: LocalFile | Uint8Array | string): Promise<'created' | 'exists'>;
  /** Writes a small text, whether or not the file exists. */
  put(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** As above; with `after`, only paths after it. An absent directory is empty. */
  list(prefix: string, after?: string): AsyncIterable<StoredFile>;
  /** Looks a file up by its name, since a list may come from a cache; undefined if there is none. */
  find(path: string): Promise<StoredFile | undefined>;
  /** Lists the names at the top level. Names of directories end with a slash. */
  names(): Promise<readonly string[]>;
  /** Reads a file of any size. @throws SvcError `not_found`, `checksum_mismatch` if it is not a regular file */
  stream(path: string): AsyncIterable<Uint8Array>;
  /** Reads exactly `length` bytes of a file, starting at `from`. @throws SvcError as `stream`, `checksum_mismatch` if it is too short */
  readRange(path: string, from: number, length: number): Promise<Uint8Array>;
  /** Runs `work` as the only writer on this machine. @throws SvcError `config` naming the other writer */
  lock<T>(work: () => Promise<T>): Promise<T>;
}

/** The largest text that is read in one piece, in bytes. svc writes no larger one, and it must not fill the memory. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Reads a text file; undefined if there is none. @throws SvcError `checksum_mismatch` if it is irregular or too large */
export async function readText(store: Pick<Store, 'read'>, path: string): Promise<string | undefined> {
  const bytes = await store.read(path, MAX_TEXT_BYTES);
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

export function isLocalFile(content: LocalFile | Uint8Array | string): content is LocalFile {
  return typeof content === 'object' && 'sha256' in content;
}

/** The number of files removed at a time. */
const REMOVALS = 8;

/** The errors of a store about a single file that cannot be removed, such as one under a legal hold. */
const KEPT = ['forbidden', 'local', 'rejected'] as const;

/** Removes files, and returns the error of each that cannot be removed. @throws any other error */
export async function removeAll(store: Store, paths: readonly string[]): Promise<ReadonlyMap<string, SvcError>> {
  const kept = new Map<string, SvcError>();
  const remove = async (path: string): Promise<void> => {
    try {
      await store.remove(path);
    } catch (error) {
      if (!isSvcError(error, ...KEPT)) throw error;
      kept.set(path, error);
    }
  };
  for await (const _ of sideBySide(paths, REMOVALS, remove));
  return kept;
}

/** Removes a file that is harmless. It stays where the store does not allow removing it. */
export async function removeIfAllowed(store: Store, path: string): Promise<void> {
  await removeAll(store, [path]);
}

export type StoreHost = LockHost &
  Pick<System, 'env' | 'cwd'> & {
    /** Returns the local directory for the locks and drafts of buckets. Needed for a lock only. */
    readonly bucketWork?: (() => string) | undefined;
    /** Called once for each problem that does not end the command. */
    readonly onWarning?: ((text: string) => void) | undefined;
    readonly trace?: Trace | undefined;
  };

/** What a store contains, in the words of messages, and who writes it. */
export interface StoreContent {
  /** Such as `archive`. */
  readonly noun: string;
  /**
   * Who writes at a time. `one`: the process that has the lock, so that a place which could create a file twice is used with
   * a warning. `machine`: any processes of this machine. `machines`: any processes of all of them, so that such a place is
   * refused, and a directory has to be there already.
   */
  readonly writers: 'one' | 'machine' | 'machines';
  /** The name of the lock, where writers do not stop those that have another one. */
  readonly lock?: string | undefined;
  /** The advice about a damaged file. */
  readonly damageHint?: string | undefined;
}

/** Returns the error for a file that is not what svc wrote. */
export function damagedFile(
  file: string,
  problem: string,
  { damageHint: hint }: Pick<StoreContent, 'damageHint'> = {},
): SvcError {
  return new SvcError('checksum_mismatch', `${file} is damaged: ${problem}`, { hint, facts: { path: file } });
}

const LOCK_WAIT_MS = 2_000;

/**
 * Runs a writer's work while no other writer on this machine runs. The work directory is empty at the beginning and
 * removed at the end.
 * @throws SvcError `config` if another writer keeps the lock for 2 s, `local`
 */
export function workAlone<T>(
  { name, workDirectory }: Store,
  {
    noun,
    lock,
    onWithoutLinks,
  }: { readonly noun: string; readonly lock: string } & Pick<LockOptions, 'onWithoutLinks'>,
  host: LockHost,
  work: () => Promise<T>,
): Promise<T> {
  // Each file of a store is created by one writer only, so two of them damage nothing.
  const options = { waitMs: LOCK_WAIT_MS, what: `the ${noun} ${name}`, endsAtRestart: true, onWithoutLinks };
  return withLock(lock, host, () => inDirectory(workDirectory, work), options);
}

async function inDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    // A killed writer may have left the directory.
    fs.rmSync(directory, { recursive: true, force: true });
    fs.mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    throw writeFailure(directory, error);
  }
  try {
    return await work();
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

/** The error for a place in which this machine may create nothing. */
export class ReadOnlyPlace extends SvcError {}

/** Returns the error for a place that this machine may only read. `why` is what the place said. */
export function readOnlyPlace(place: string, noun: string, cause: unknown, why = ''): ReadOnlyPlace {
  const said = why === '' ? '' : ` (${why})`;
  return new ReadOnlyPlace('config', `this machine may only read the ${noun} in ${place}${said}; nothing was sent`, {
    hint: 'Allow it to create files there (in a bucket s3:PutObject, and the use of the key that encrypts it), or run the command on a machine that may.',
    cause,
  });
}

/** Returns the error for a shared directory with a part that another user made and this user may not read. */
export function closedPlace(place: string, noun: string, name: string, cause: unknown): SvcError {
  return new SvcError(
    'config',
    `this user may not read the ${noun} in ${place}: ${name === '' ? 'the directory' : name} is closed to it`,
    {
      hint: 'Let its owner open all of the directory to those who share it, for example with chmod -R g+rwX,g+s.',
      facts: { path: name },
      cause,
    },
  );
}

/** The error for a shared directory that is not there. */
export class AbsentPlace extends SvcError {}

/** Returns the error for a shared directory that is not there. Another one in its place would not have what others wrote. */
export function absentPlace(place: string, noun: string): AbsentPlace {
  return new AbsentPlace('config', `there is no directory ${place}, which is set for the ${noun}; nothing was sent`, {
    hint: `If it is on a volume, mount it. Only if no machine has used this ${noun} yet, make the directory.`,
    facts: { path: place },
  });
}
