import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { isAbsent, isSvcError, readFailure, SvcError, systemCodeOf, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { syncDirectory, whileBusy, writeFlushed } from '../../base/files/durable.ts';
import { withLock } from '../../base/files/lock.ts';
import { READ_WITHOUT_LINKS } from '../../base/files/own-file.ts';
import { linkIfFree, linkUnlessTaken, NO_LINKS } from '../../base/files/target.ts';
import {
  absentPlace,
  closedPlace,
  foreignObject,
  type ObjectStore,
  type ObjectStoreOptions,
  readOnlyPlace,
} from './objects.ts';
import type { StoredFile } from './store.ts';

/**
 * Objects in a directory, which machines may share. A complete and flushed draft beside the target gets the target's
 * name by a hard link, which fails on a taken name. A killed writer leaves at most a hidden draft.
 */
export class DirectoryObjects implements ObjectStore {
  readonly name: string;
  readonly #options: ObjectStoreOptions;

  /** `directory` is an absolute path. It is created with the first object, unless machines share it. */
  constructor(directory: string, options: ObjectStoreOptions) {
    this.name = directory;
    this.#options = options;
  }

  /**
   * The rights of a folder. In a directory that machines share, these are those of the directory, so that each user who may
   * use it can use all of it.
   */
  get #mode(): number {
    return this.#options.alone ? OWNER_ONLY : (fs.statSync(this.name).mode & 0o7077) | OWNER_ONLY;
  }

  async create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    const target = this.#at(name);
    const draft = path.join(path.dirname(target), `.${randomBytes(8).toString('hex')}`);
    try {
      this.#requirePlace();
      const mode = this.#mode;
      makeDirectory(path.dirname(target), mode, true);
      // An object is never changed, so that others need to read it only.
      writeFlushed(draft, bytes, 0o600 | (mode & 0o044));
      const isCreated = await this.#link(draft, target);
      // Another machine must not find the name again after a loss of power.
      syncDirectory(path.dirname(target));
      return isCreated ? 'created' : 'exists';
    } catch (error) {
      const { noun, alone } = this.#options;
      // A folder that cannot be made is an error of svc, whose cause is that of the system.
      const code = systemCodeOf(isSvcError(error) ? error.cause : error);
      if (!alone && READ_ONLY.has(code ?? '')) throw readOnlyPlace(this.name, noun, error);
      throw writeFailure(target, error);
    } finally {
      // Where a parent is a file, rmSync would fail, and hide why the draft was not written.
      if (fs.existsSync(draft)) whileBusy(() => fs.rmSync(draft, { force: true }));
    }
  }

  async read(name: string, most: number): Promise<Uint8Array | undefined> {
    const file = this.#at(name);
    let handle: fs.promises.FileHandle | undefined;
    try {
      // A link could lead anywhere, and opening a FIFO would block.
      if (!(await fs.promises.lstat(file)).isFile()) throw foreignObject(this.name, name, 'it is not a regular file');
      handle = await fs.promises.open(file, READ_WITHOUT_LINKS);
      const { size } = await handle.stat();
      if (size > most) throw foreignObject(this.name, name, `it has ${size} bytes`);
      return await handle.readFile();
    } catch (error) {
      if (!isAbsent(error)) throw this.#readFailure(name, error);
      this.#requirePlace();
      return undefined;
    } finally {
      await handle?.close();
    }
  }

  async *list(prefix: string): AsyncGenerator<StoredFile> {
    yield* this.#walk('', prefix);
  }

  *#walk(directory: string, prefix: string): Generator<StoredFile> {
    for (const { name, isDirectory } of this.#entries(directory)) {
      const at = `${directory}${name}`;
      if (isDirectory && (`${at}/`.startsWith(prefix) || prefix.startsWith(`${at}/`)))
        yield* this.#walk(`${at}/`, prefix);
      else if (!isDirectory && at.startsWith(prefix)) {
        const found = fs.lstatSync(this.#at(at), { throwIfNoEntry: false });
        if (found !== undefined) yield { path: at, bytes: found.size, changedAt: found.mtimeMs };
      }
    }
  }

  /** Returns what a directory contains, in order of name, without drafts. */
  #entries(directory: string): { name: string; isDirectory: boolean }[] {
    try {
      const found = fs.readdirSync(this.#at(directory), { withFileTypes: true });
      return found
        .filter(({ name }) => !name.startsWith('.'))
        .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      if (!isAbsent(error)) throw this.#readFailure(directory, error);
      this.#requirePlace();
      return [];
    }
  }

  /** Checks that a directory that machines share is there: it may be on a volume that is not mounted. */
  #requirePlace(): void {
    const { noun, alone } = this.#options;
    if (alone === undefined && !this.#isThere()) throw absentPlace(this.name, noun);
  }

  #isThere(): boolean {
    try {
      return fs.statSync(this.name).isDirectory();
    } catch (error) {
      if (isAbsent(error)) return false;
      throw this.#readFailure('', error);
    }
  }

  #readFailure(name: string, error: unknown): unknown {
    const { noun, alone } = this.#options;
    const isClosed = !alone && ['EACCES', 'EPERM'].includes(systemCodeOf(error) ?? '');
    return isClosed ? closedPlace(this.name, noun, name, error) : readFailure(this.#at(name), error);
  }

  async #link(draft: string, target: string): Promise<boolean> {
    const { noun, alone } = this.#options;
    try {
      return linkIfFree(draft, target);
    } catch (error) {
      if (!NO_LINKS.has(systemCodeOf(error) ?? '')) throw error;
      if (alone) return withLock(alone.file, alone.host, async () => linkUnlessTaken(draft, target));
      throw new SvcError(
        'config',
        `the file system of ${this.name} has no hard links, so machines cannot share a ${noun} there`,
        { hint: 'Use a directory on another file system, or a bucket (s3://bucket/prefix).', cause: error },
      );
    }
  }

  #at(name: string): string {
    return path.join(this.name, ...name.split('/'));
  }
}

const OWNER_ONLY = 0o700;

/** Error codes of the system for a directory that this machine may only read. */
const READ_ONLY: ReadonlySet<string> = new Set(['EACCES', 'EROFS']);
