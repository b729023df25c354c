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

/** The largest text that is read in one piece, in bytes. svc writes no larger one, and it must not fill the memory. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** A written and flushed file on this machine, to be moved into a store. `sha256` is hexadecimal. */
export interface LocalFile {
  /** The path on this machine. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A directory or a bucket with a prefix. Paths are relative, with `/`. */
export interface FileStore {
  /** The location in messages: the directory, or `s3://bucket/prefix`. */
  readonly name: string;
  /** The directory in which files are prepared for `create`. It exists only while the writer has the lock. */
  readonly workDirectory: string;
  /** Whether the store is a bucket: listing it takes many requests, and the lock does not stop writers on other machines. */
  readonly isRemote: boolean;
  /** Lists files whose path begins with `prefix`, in order of path; with `after`, only paths after it. An absent directory is empty. */
  list(prefix: string, after?: string): AsyncIterable<StoredFile>;
  /** Looks a file up by its name, since a list may come from a cache; undefined if there is none. */
  find(path: string): Promise<StoredFile | undefined>;
  /** Lists the names at the top level. Names of directories end with a slash. */
  names(): Promise<readonly string[]>;
  /** Reads a file. @throws SvcError `not_found`, `checksum_mismatch` if it is not a regular file */
  read(path: string): AsyncIterable<Uint8Array>;
  /** Reads exactly `length` bytes of a file, starting at `from`. @throws SvcError as `read`, `checksum_mismatch` if it is too short */
  readRange(path: string, from: number, length: number): Promise<Uint8Array>;
  /** Reads a small text file; undefined if there is none. @throws SvcError `checksum_mismatch` if it is irregular or too large */
  readText(path: string): Promise<string | undefined>;
  /** Creates a file durably, completely or not at all. Returns false if it exists. A local file may be moved. */
  create(path: string, content: LocalFile | string): Promise<boolean>;
  replace(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Runs `work` as the only writer on this machine. @throws SvcError `config` naming the other writer */
  lock<T>(work: () => Promise<T>): Promise<T>;
}

/** The number of files removed at a time. */
const REMOVALS = 8;

/** The errors of a store about a single file that cannot be removed, such as one under a legal hold. */
const KEPT = ['forbidden', 'local', 'rejected'] as const;

/** Removes files, and returns the error of each that cannot be removed. @throws any other error */
export async function removeAll(store: FileStore, paths: readonly string[]): Promise<ReadonlyMap<string, SvcError>> {
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
export async function removeIfAllowed(store: FileStore, path: string): Promise<void> {
  await removeAll(store, [path]);
}

export type StoreHost = Pick<System, 'env' | 'cwd' | 'pid' | 'isAlive' | 'clock' | 'signal'> & {
  /** Returns the local directory for the locks and drafts of buckets. */
  readonly bucketWork: () => string;
  /** Called once for each problem that does not end the command. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly trace?: Trace | undefined;
};

/** What a store contains, in the words of messages, and who writes it. */
export interface StoreContent {
  /** Such as `archive`. */
  readonly noun: string;
  /** A name for writers of their own, whose lock does not stop the others. Empty for the usual ones. */
  readonly writer: string;
  /** The advice about a damaged file. */
  readonly damageHint: string;
}

/** Returns the error for a file that is not what svc wrote. */
export function damagedFile(file: string, problem: string, { damageHint }: StoreContent): SvcError {
  return new SvcError('checksum_mismatch', `${file} is damaged: ${problem}`, {
    hint: damageHint,
    facts: { path: file },
  });
}

const LOCK_WAIT_MS = 2_000;

/**
 * Runs a writer's work while no other writer on this machine runs. The work directory is empty at the beginning and
 * removed at the end.
 * @throws SvcError `config` if another writer keeps the lock for 2 s, `local`
 */
export function workAlone<T>(
  { name, workDirectory }: FileStore,
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
