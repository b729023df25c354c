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
  /** Set where it is not a regular file, such as 'a symbolic link': it must not be opened. */
  readonly irregular?: string | undefined;
}

/** The largest record or head, in bytes: a larger one was not written by svc, and must not fill the memory. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** A file on this machine to be moved into an archive: written and flushed. `sha256` is hexadecimal. */
export interface LocalFile {
  /** Where it is on this machine. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A directory, or a bucket below a prefix. Paths are relative, with `/`. */
export interface ArchiveStore {
  /** For messages: the directory, or `s3://bucket/prefix`. */
  readonly name: string;
  /** Where files are prepared for `create`; it exists, and belongs to the writer, while the lock is held. */
  readonly workDirectory: string;
  /** Set for a bucket: listing all of it takes many requests, and writers on other machines are not locked out. */
  readonly isRemote: boolean;
  /** All files whose path begins with `prefix`, in order of path; with `after`, those behind it. Nothing where there is no archive. */
  list(prefix: string, after?: string): AsyncIterable<StoredFile>;
  /** The names at the top, those of directories with a slash at their end. */
  names(): Promise<readonly string[]>;
  /** A file's bytes. @throws SvcError `not_found`, `checksum_mismatch` for what is no regular file */
  read(path: string): AsyncIterable<Uint8Array>;
  /** So many of a file's bytes from a place on, all of them. @throws SvcError as `read`; `checksum_mismatch`: it has fewer */
  readRange(path: string, from: number, length: number): Promise<Uint8Array>;
  /** A small file's text, or undefined where there is none. @throws SvcError `checksum_mismatch`: no regular file, or too large */
  readText(path: string): Promise<string | undefined>;
  /** Creates a file durably, whole or not at all; false when it exists. A local file may be moved. */
  create(path: string, content: LocalFile | string): Promise<boolean>;
  replace(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Runs `work` as the only writer on this machine. @throws SvcError `config` naming the other one */
  lock<T>(work: () => Promise<T>): Promise<T>;
}

/** How many segments are read at a time: one more than there are threads to decompress them, of which Node has four. */
export const READERS = Math.min(availableParallelism(), 4) + 1;

/** Works on a few items at a time, and gives the results in the order of the items. */
export async function* sideBySide<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  most: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const doing = work(item);
      // If the reader stops, nothing handles it any more.
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
  /** Called, once each, with problems that are no reason to end. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly trace?: Trace | undefined;
};

/**
 * Opens an archive without reading it: a directory, or `s3://bucket/prefix`.
 * @throws SvcError `usage`; `key_missing`, `config` for a bucket
 */
export async function openArchiveStore(host: StoreHost, location: string): Promise<ArchiveStore> {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(location)?.[1];
  if (scheme?.toLowerCase() === 's3') {
    const { S3Store } = await import('../s3/store.ts');
    return new S3Store(location, host);
  }
  if (scheme !== undefined)
    throw new SvcError('usage', `an archive cannot be kept at ${scheme}://`, {
      hint: 'Name a directory, or s3://bucket/prefix.',
    });
  const { DirectoryStore } = await import('./directory-store.ts');
  return new DirectoryStore(path.resolve(host.cwd, location), host);
}

const LOCK_WAIT_MS = 2_000;

/**
 * Runs a writer's work while no other one on this machine does. Its directory is empty at the beginning, and removed at
 * the end.
 * @throws SvcError `config` when another one works for 2 s, `local`
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
    // A killed writer may have left it.
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
