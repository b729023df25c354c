// A store in a directory.

import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { SvcError, isAbsent, isSvcError, readFailure, systemCodeOf, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { syncDirectory, whileBusy, writeFlushed } from '../../base/files/durable.ts';
import { withLock } from '../../base/files/lock.ts';
import { READ_WITHOUT_LINKS } from '../../base/files/own-file.ts';
import { NO_LINKS, linkIfFree, linkUnlessTaken, moveIntoPlace } from '../../base/files/target.ts';
import { absentPlace, closedPlace, damagedFile, readOnlyPlace } from './store-errors.ts';
import {
  type LocalFile,
  type Store,
  type StoreContent,
  type StoreHost,
  type StoredFile,
  isLocalFile,
} from './store.ts';
import { workAlone } from './work-alone.ts';

const READ_BYTES = 1024 * 1024;
const OWNER_ONLY = 0o700;
/** Folders that systems keep at the top of a volume, and that most users may not read. They are not part of the store. */
const OF_VOLUME: ReadonlySet<string> = new Set(['lost+found/', 'system volume information/', '$recycle.bin/']);

/** System error codes for a directory that this machine may only read. */
const READ_ONLY: ReadonlySet<string> = new Set(['EACCES', 'EROFS']);

/**
 * A store in a directory, which machines may share. A file is written to a draft and flushed, then gets its name by a hard
 * link, which fails if the name is taken. A killed writer leaves at most a hidden draft.
 */
export class DirectoryStore implements Store {
  readonly name: string;
  readonly workDirectory: string;
  readonly isRemote: boolean = false;
  readonly #host: Pick<StoreHost, 'pid' | 'isAlive' | 'clock' | 'signal' | 'onWarning'>;
  readonly #content: StoreContent;
  readonly #lock: string;

  /** `directory` is an absolute path. Its first writer creates the directory, unless machines share it. */
  constructor(
    directory: string,
    host: Pick<StoreHost, 'pid' | 'isAlive' | 'clock' | 'signal' | 'onWarning'>,
    content: StoreContent,
  ) {
    const { lock = '' } = content;
    this.name = directory;
    this.#content = content;
    this.#lock = path.join(directory, lock === '' ? '.lock' : `.${lock}.lock`);
    this.workDirectory = path.join(directory, lock === '' ? '.work' : `.${lock}`);
    this.#host = host;
  }

  async create(file: string, content: LocalFile | Uint8Array | string): Promise<'created' | 'exists'> {
    const target = this.#at(file);
    try {
      this.#requirePlace();
      const mode = this.#mode;
      makeDirectory(path.dirname(target), mode, true);
      const isCreated = isLocalFile(content)
        ? await this.#link(content.path, target)
        : // Nobody changes an object, so other users get at most the right to read.
          await this.#withDraft(target, content, 0o600 | (mode & 0o044), (draft) => this.#link(draft, target));
      // Flushed, so that the name stays taken after a power loss.
      syncDirectory(path.dirname(target));
      return isCreated ? 'created' : 'exists';
    } catch (error) {
      // `makeDirectory` throws an SvcError, whose cause is the system's error.
      const code = systemCodeOf(isSvcError(error) ? error.cause : error);
      const { noun, writers } = this.#content;
      if (writers === 'machines' && READ_ONLY.has(code ?? '')) throw readOnlyPlace(this.name, noun, error);
      throw writeFailure(target, error);
    }
  }

  async put(file: string, text: string): Promise<void> {
    const target = this.#at(file);
    try {
      await this.#withDraft(target, text, 0o600, (draft) => moveIntoPlace(draft, target, true));
    } catch (error) {
      throw writeFailure(target, error);
    }
  }

  async remove(file: string): Promise<void> {
    try {
      // Not `fs.rm`: if it may not remove a file, its error is about a directory and hides the reason.
      await fs.promises.unlink(this.#at(file));
    } catch (error) {
      if (!isAbsent(error)) throw removeFailure(this.#at(file), error);
    }
    // The last file of a day takes the day's folder with it.
    await fs.promises.rmdir(path.dirname(this.#at(file))).catch(() => undefined);
  }

  async read(file: string, most: number): Promise<Uint8Array | undefined> {
    try {
      return await this.#withFile(file, (handle, size) => {
        if (size > most) throw this.#damaged(file, `it has ${size} bytes`);
        return handle.readFile();
      });
    } catch (error) {
      if (!isSvcError(error, 'not_found')) throw error;
      this.#requirePlace();
      return undefined;
    }
  }

  async readRange(file: string, from: number, length: number): Promise<Uint8Array> {
    return this.#withFile(file, async (handle, size) => {
      // A forged record can name any size, so the size is checked before memory is allocated.
      if (from < 0 || length < 0 || from + length > size) throw this.#damaged(file, 'it is too short');
      const bytes = Buffer.allocUnsafe(length);
      for (let at = 0; at < length;) {
        const { bytesRead } = await handle.read(bytes, at, length - at, from + at);
        if (bytesRead === 0) throw this.#damaged(file, 'it is too short');
        at += bytesRead;
      }
      return bytes;
    });
  }

  async *stream(file: string): AsyncGenerator<Uint8Array> {
    let handle: fs.promises.FileHandle | undefined;
    try {
      handle = await this.#open(file);
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES));
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    } catch (error) {
      throw this.#readFailure(file, error);
    } finally {
      await handle?.close();
    }
  }

  async *list(prefix: string, after = ''): AsyncGenerator<StoredFile> {
    for (const file of this.#walk('', prefix)) if (file.path > after) yield file;
  }

  async find(file: string): Promise<StoredFile | undefined> {
    const at = this.#at(file);
    try {
      // As in `list`, files below a link are not part of the store.
      const folders = file.split('/').slice(0, -1);
      for (const depth of folders.keys())
        if (!(await fs.promises.lstat(this.#at(folders.slice(0, depth + 1).join('/')))).isDirectory()) return undefined;
      const found = await fs.promises.lstat(at);
      if (found.isDirectory()) return undefined;
      const irregular = irregularity(found);
      if (irregular !== undefined) return { path: file, bytes: found.size, irregular };
      return await this.#withFile(file, async (_, bytes) => ({ path: file, bytes }));
    } catch (error) {
      if (isAbsent(error) || isSvcError(error, 'not_found')) return undefined;
      throw this.#readFailure(file, error);
    }
  }

  async names(): Promise<readonly string[]> {
    return this.#names('');
  }

  async lock<T>(work: () => Promise<T>): Promise<T> {
    const { noun } = this.#content;
    const onWithoutLinks = (): void =>
      this.#host.onWarning?.(
        `${this.name}: its file system has no hard links, so its lock may not stop other machines: let only one write to the ${noun}, or use a bucket (s3://bucket/prefix)`,
      );
    try {
      makeDirectory(this.name);
    } catch (error) {
      const code = error instanceof SvcError ? systemCodeOf(error.cause) : undefined;
      throw code === 'EEXIST' || code === 'ENOTDIR' ? this.#noDirectory() : error;
    }
    return workAlone(this, { noun, lock: this.#lock, onWithoutLinks }, this.#host, work);
  }

  /**
   * The permissions of new folders. In a shared directory, folders get the permissions of the directory itself, so that every
   * user of the directory can use all of it.
   */
  get #mode(): number {
    if (this.#content.writers !== 'machines') return OWNER_ONLY;
    return (fs.statSync(this.name).mode & 0o7077) | OWNER_ONLY;
  }

  /** Writes and flushes a draft, calls `use` to give the draft its final name, and removes the draft if it is still there. */
  async #withDraft<T>(
    target: string,
    content: Uint8Array | string,
    mode: number,
    use: (draft: string) => T | Promise<T>,
  ): Promise<T> {
    const hidden = `.${randomBytes(8).toString('hex')}`;
    const folder = this.#content.writers === 'one' ? this.workDirectory : path.dirname(target);
    const draft = path.join(folder, hidden);
    try {
      writeFlushed(draft, content, mode);
      return await use(draft);
    } finally {
      // If a parent is a file, rmSync would fail and hide the reason why the draft was not written.
      if (fs.existsSync(draft)) whileBusy(() => fs.rmSync(draft, { force: true }));
    }
  }

  async #link(draft: string, target: string): Promise<boolean> {
    const { noun, writers } = this.#content;
    if (writers === 'one') return linkUnlessTaken(draft, target);
    try {
      return linkIfFree(draft, target);
    } catch (error) {
      if (!NO_LINKS.has(systemCodeOf(error) ?? '')) throw error;
      if (writers === 'machine') return withLock(this.#lock, this.#host, async () => linkUnlessTaken(draft, target));
      throw new SvcError(
        'config',
        `the file system of ${this.name} has no hard links, so machines cannot share a ${noun} there`,
        { hint: 'Use a directory on another file system, or a bucket (s3://bucket/prefix).', cause: error },
      );
    }
  }

  // Sorts directories with a slash at the end of their names, so that paths come in the same order as in a bucket.
  *#walk(directory: string, prefix: string): Generator<StoredFile> {
    for (const name of this.#names(directory)) {
      const at = `${directory}${name}`;
      // Skips drafts. A single writer keeps drafts at the top only; a hidden file in a folder is foreign, and is listed.
      if (name.startsWith('.') && (directory === '' || this.#content.writers !== 'one')) continue;
      if (name.endsWith('/')) {
        if (at.startsWith(prefix) || prefix.startsWith(at)) yield* this.#walk(at, prefix);
      } else if (at.startsWith(prefix)) {
        const found = fs.lstatSync(this.#at(at), { throwIfNoEntry: false });
        if (found) yield { path: at, bytes: found.size, changedAt: found.mtimeMs, irregular: irregularity(found) };
      }
    }
  }

  #names(directory: string): string[] {
    try {
      const found = fs.readdirSync(this.#at(directory), { withFileTypes: true });
      const names = found.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
      return names.filter((name) => directory !== '' || !OF_VOLUME.has(name.toLowerCase())).toSorted();
    } catch (error) {
      if (!isAbsent(error)) throw this.#readFailure(directory, error);
      this.#requirePlace();
      return [];
    }
  }

  async #withFile<T>(file: string, use: (handle: fs.promises.FileHandle, size: number) => Promise<T>): Promise<T> {
    let handle: fs.promises.FileHandle | undefined;
    try {
      handle = await this.#open(file);
      const { size } = await handle.stat();
      return await use(handle, size);
    } catch (error) {
      throw this.#readFailure(file, error);
    } finally {
      await handle?.close();
    }
  }

  // Opens only regular files: a link could lead anywhere, and opening a FIFO would block.
  async #open(file: string): Promise<fs.promises.FileHandle> {
    const at = this.#at(file);
    const irregular = irregularity(await fs.promises.lstat(at));
    if (irregular !== undefined) throw this.#damaged(file, `it is ${irregular}`);
    return fs.promises.open(at, READ_WITHOUT_LINKS);
  }

  /** Checks that a shared directory exists: it may be on a volume that is not mounted. */
  #requirePlace(): void {
    const { noun, writers } = this.#content;
    if (writers === 'machines' && !this.#isThere()) throw absentPlace(this.name, noun);
  }

  #isThere(): boolean {
    try {
      return fs.statSync(this.name).isDirectory();
    } catch (error) {
      if (isAbsent(error)) return false;
      throw this.#readFailure('', error);
    }
  }

  #readFailure(file: string, error: unknown): unknown {
    const { noun, writers } = this.#content;
    if (isAbsent(error)) return new SvcError('not_found', `${this.#at(file)} does not exist`, { cause: error });
    const isClosed = writers === 'machines' && ['EACCES', 'EPERM'].includes(systemCodeOf(error) ?? '');
    return isClosed ? closedPlace(this.name, noun, file, error) : readFailure(this.#at(file), error);
  }

  #damaged(file: string, problem: string): SvcError {
    return damagedFile(file, problem, this.#content);
  }

  #noDirectory(): SvcError {
    return new SvcError('local', `${this.name} is not a directory`, {
      hint: `Name a directory for the ${this.#content.noun}, or move the file away.`,
    });
  }

  #at(file: string): string {
    return path.join(this.name, ...file.split('/'));
  }
}

function irregularity(found: fs.Stats): string | undefined {
  if (found.isFile()) return undefined;
  if (found.isSymbolicLink()) return 'a symbolic link';
  if (found.isDirectory()) return 'a directory';
  if (found.isFIFO()) return 'a FIFO';
  return found.isSocket() ? 'a socket' : 'a device';
}

function removeFailure(file: string, error: unknown): SvcError {
  return new SvcError('local', `${file} cannot be removed (${systemCodeOf(error) ?? 'unknown'})`, {
    hint: 'Check whether something holds it (lsattr), its permissions and those of its folder.',
    cause: error,
  });
}
