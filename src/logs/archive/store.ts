import fs from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { SvcError, writeFailure } from '../../base/errors.ts';
import { type LockHost, withLock } from '../../base/files/lock.ts';
import type { System } from '../../base/system.ts';
import type { Trace } from '../../client/http/exchange.ts';

/** A file of an archive: its path below the archive's top, with `/`, and its size. */
export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  /** Set if the path is not a regular file, such as 'a symbolic link'. It must not be opened. */
  readonly irregular?: string | undefined;
}

/** The largest accepted record or head in bytes. svc writes no larger one, and it must not fill the memory. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** A written and flushed file on this machine, to be moved into an archive. `sha256` is hexadecimal. */
export interface LocalFile {
  /** The path on this machine. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A directory or a bucket with a prefix. Paths are relative, with `/`. */
export interface ArchiveStore {
  /** The location in messages: the directory, or `s3://bucket/prefix`. */
  readonly name: string;
  /** The directory in which files are prepared for `create`. It exists only while the writer has the lock. */
  readonly workDirectory: string;
  /** Whether the store is a bucket: listing it takes many requests, and the lock does not stop writers on other machines. */
  readonly isRemote: boolean;
  /** Lists files whose path begins with `prefix`, in order of path; with `after`, only paths after it. An absent archive is empty. */
  list(prefix: string, after?: string): AsyncIterable<StoredFile>;
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

/** The number of segments read at a time: one more than the threads that decompress them, of which Node has four. */
export const READERS = Math.min(availableParallelism(), 4) + 1;

/** Works on up to `most` items at a time, and yields the results in the order of the items. */
export async function* sideBySide<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  most: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const doing = work(item);
      // When the reader stops early, nobody else handles a rejection.
      doing.catch(() => undefined);
      underWay.push(doing);
      const first = underWay.length >= most ? underWay.shift() : undefined;
      if (first) yield await first;
    }
    for (let first = underWay.shift(); first; first = underWay.shift()) yield await first;
  } finally {
    await Promise.allSettled(underWay);
  }
}

export type StoreHost = Pick<System, 'env' | 'platform' | 'home' | 'cwd' | 'pid' | 'isAlive' | 'clock' | 'signal'> & {
  /** Called once for each problem that does not end the command. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly trace?: Trace | undefined;
};

/** The kinds of writers. Each has its own lock, since a follower keeps that of the archive, and reviews are signed meanwhile. */
export type WriterKind = 'archive' | 'review';

/**
 * Opens an archive without reading it: a directory, or `s3://bucket/prefix`.
 * @throws SvcError `usage`; `key_missing`, `config` for a bucket
 */
export async function openArchiveStore(
  host: StoreHost,
  location: string,
  writer: WriterKind = 'archive',
): Promise<ArchiveStore> {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(location)?.[1];
  if (scheme?.toLowerCase() === 's3') {
    const { S3Store } = await import('../s3/store.ts');
    return new S3Store(location, host, writer);
  }
  if (/^s3:/i.test(location))
    throw new SvcError('usage', 'a bucket is written as s3://bucket/prefix, with two slashes', {
      hint: 'For a directory of this name, put ./ before it.',
    });
  if (scheme !== undefined)
    throw new SvcError('usage', `an archive cannot be kept at ${scheme}://`, {
      hint: 'Name a directory, or s3://bucket/prefix.',
    });
  const { DirectoryStore } = await import('./directory-store.ts');
  return new DirectoryStore(path.resolve(host.cwd, location), host, writer);
}

const LOCK_WAIT_MS = 2_000;

/**
 * Runs a writer's work while no other writer on this machine runs. The work directory is empty at the beginning and
 * removed at the end.
 * @throws SvcError `config` if another writer keeps the lock for 2 s, `local`
 */
export function workAlone<T>(
  { name, workDirectory }: ArchiveStore,
  lock: string,
  host: LockHost,
  work: () => Promise<T>,
): Promise<T> {
  const options = { waitMs: LOCK_WAIT_MS, what: `the archive ${name}` };
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
