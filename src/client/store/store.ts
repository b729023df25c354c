// What a directory and a bucket have in common as places for files.

import type { LockHost } from '../../base/files/lock.ts';
import type { System } from '../../base/system.ts';
import type { Trace } from '../http/trace.ts';

export interface StoredFile {
  /** The path below the top of the store, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** The time of the last change in epoch milliseconds, if the list contains times. */
  readonly changedAt?: number | undefined;
  /** Describes a path that is not a regular file, such as 'a symbolic link', and must not be opened. */
  readonly irregular?: string | undefined;
}

/** A flushed file on this machine, to be moved into a store. `sha256` is hexadecimal. */
export interface LocalFile {
  /** The path on this machine. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * A place for objects that are created once and never changed. Paths are relative, with `/`. If several writers, on any
 * machines, create the same object, exactly one succeeds, without a lock.
 */
export interface ObjectStore {
  /** The location in messages: the directory, or `s3://bucket/prefix`. */
  readonly name: string;
  /** Whether a response showed that the bucket keeps versions. Some stores then ignore the condition of a write. */
  readonly isVersioned?: boolean | undefined;
  /**
   * Creates an object durably if its name is free, completely or not at all. `exists` may mean that an earlier attempt of the
   * same call succeeded and its response was lost: read the object to find out.
   * @throws ReadOnlyPlace if this machine may not create objects there
   * @throws SvcError `config` if the place does not support such conditional writes; `network`, `server` if the result is
   *   unknown
   */
  create(path: string, content: Uint8Array): Promise<'created' | 'exists'>;
  /** Reads an object of at most `most` bytes; undefined if it does not exist. @throws SvcError `checksum_mismatch` otherwise */
  read(path: string, most: number): Promise<Uint8Array | undefined>;
  /** Lists files whose path begins with `prefix`, in order of path. A file that was just created may be missing. */
  list(prefix: string): AsyncIterable<StoredFile>;
}

/** A directory, or a bucket with a prefix, with further operations for one writer at a time. */
export interface Store extends ObjectStore {
  /** The directory for preparing files for `create`. The directory exists only while the writer has the lock. */
  readonly workDirectory: string;
  /** Whether the store is a bucket: listing it takes many requests, and the lock does not stop writers on other machines. */
  readonly isRemote: boolean;
  /** Creates a file. `exists` means that another writer created it. May move a local file instead of copying it. */
  create(path: string, content: LocalFile | Uint8Array | string): Promise<'created' | 'exists'>;
  /** Writes a small text file, and replaces an existing one. */
  put(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Lists files in order of path; with `after`, only later paths. A missing directory is empty. */
  list(prefix: string, after?: string): AsyncIterable<StoredFile>;
  /** Finds a file by its path; undefined if it does not exist. */
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

/** The maximum size of a text file, in bytes. svc writes no larger text, and a larger one must not fill the memory. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Reads a text file; undefined if it does not exist. @throws SvcError `checksum_mismatch` if it is irregular or too large */
export async function readText(store: Pick<Store, 'read'>, path: string): Promise<string | undefined> {
  const bytes = await store.read(path, MAX_TEXT_BYTES);
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

export function isLocalFile(content: LocalFile | Uint8Array | string): content is LocalFile {
  return typeof content === 'object' && 'sha256' in content;
}

export type StoreHost = LockHost &
  Pick<System, 'env' | 'cwd'> & {
    /** Returns the local directory for the locks and drafts of buckets, which only `lock` needs. */
    readonly bucketWork?: (() => string) | undefined;
    /** Called once for each problem that does not end the command. */
    readonly onWarning?: ((text: string) => void) | undefined;
    readonly trace?: Trace | undefined;
  };

/** What a store contains, and who writes to it. */
export interface StoreContent {
  /** The word for the content in messages, such as `archive`. */
  readonly noun: string;
  /**
   * Who may write at the same time. `one`: only the process with the lock; a place without conditional writes is used with a
   * warning. `machine`: all processes of this machine. `machines`: processes of several machines; a place without conditional
   * writes is refused, and a directory must exist already.
   */
  readonly writers: 'one' | 'machine' | 'machines';
  /** The name of the lock. Writers with different locks may work at the same time. */
  readonly lock?: string | undefined;
  /** The advice about a damaged file. */
  readonly damageHint?: string | undefined;
}
