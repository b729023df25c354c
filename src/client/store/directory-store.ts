import fs from 'node:fs';
import path from 'node:path';
import { isAbsent, readFailure as unreadable, SvcError, systemCodeOf, writeFailure } from '../../base/errors.ts';
import { makeDirectory } from '../../base/files/directory.ts';
import { Draft } from '../../base/files/draft.ts';
import { syncDirectory } from '../../base/files/durable.ts';
import { READ_WITHOUT_LINKS } from '../../base/files/own-file.ts';
import { linkUnlessTaken, moveIntoPlace } from '../../base/files/target.ts';
import {
  damagedFile,
  type FileStore,
  type LocalFile,
  MAX_TEXT_BYTES,
  type StoredFile,
  type StoreContent,
  type StoreHost,
  workAlone,
} from './store.ts';

const READ_BYTES = 1024 * 1024;

type DirectoryHost = Pick<StoreHost, 'pid' | 'isAlive' | 'clock' | 'signal' | 'onWarning'>;

/** A store in a directory. Files are written in a hidden folder and then moved to their final names. */
export class DirectoryStore implements FileStore {
  readonly name: string;
  readonly workDirectory: string;
  readonly isRemote: boolean = false;
  readonly #host: DirectoryHost;
  readonly #content: StoreContent;
  readonly #lock: string;

  /** `directory` is an absolute path. It is created when the lock is first taken. */
  constructor(directory: string, host: DirectoryHost, content: StoreContent) {
    const { writer } = content;
    this.name = directory;
    this.#content = content;
    this.#lock = path.join(directory, writer === '' ? '.lock' : `.${writer}.lock`);
    this.workDirectory = path.join(directory, writer === '' ? '.work' : `.${writer}`);
    this.#host = host;
  }

  async *list(prefix: string, after = ''): AsyncGenerator<StoredFile> {
    for await (const file of this.#walk('', prefix)) if (file.path > after) yield file;
  }

  async find(file: string): Promise<StoredFile | undefined> {
    const at = this.#at(file);
    let handle: fs.promises.FileHandle | undefined;
    try {
      // As in a list, what is below a link is not of the store, and a folder is no file.
      const folders = file.split('/').slice(0, -1);
      for (const depth of folders.keys())
        if (!(await fs.promises.lstat(this.#at(folders.slice(0, depth + 1).join('/')))).isDirectory()) return undefined;
      const found = await fs.promises.lstat(at);
      if (found.isDirectory()) return undefined;
      const irregular = irregularity(found);
      if (irregular !== undefined) return { path: file, bytes: found.size, irregular };
      handle = await fs.promises.open(at, READ_WITHOUT_LINKS);
      return { path: file, bytes: (await handle.stat()).size };
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw readFailure(at, error);
    } finally {
      await handle?.close();
    }
  }

  async names(): Promise<readonly string[]> {
    return this.#names('');
  }

  async *read(file: string): AsyncGenerator<Uint8Array> {
    let handle: fs.promises.FileHandle | undefined;
    try {
      handle = await this.#open(file);
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES));
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    } catch (error) {
      throw readFailure(this.#at(file), error);
    } finally {
      await handle?.close();
    }
  }

  async readRange(file: string, from: number, length: number): Promise<Uint8Array> {
    let handle: fs.promises.FileHandle | undefined;
    try {
      handle = await this.#open(file);
      const { size } = await handle.stat();
      // A forged record or index can name any size, so the size is checked before memory is allocated.
      if (from < 0 || length < 0 || from + length > size) throw this.#damaged(file, 'it is too short');
      const bytes = Buffer.allocUnsafe(length);
      for (let at = 0; at < length;) {
        const { bytesRead } = await handle.read(bytes, at, length - at, from + at);
        if (bytesRead === 0) throw this.#damaged(file, 'it is too short');
        at += bytesRead;
      }
      return bytes;
    } catch (error) {
      throw readFailure(this.#at(file), error);
    } finally {
      await handle?.close();
    }
  }

  async readText(file: string): Promise<string | undefined> {
    let handle: fs.promises.FileHandle | undefined;
    try {
      handle = await this.#open(file);
      const { size } = await handle.stat();
      if (size > MAX_TEXT_BYTES) throw this.#damaged(file, `it has ${size} bytes`);
      return await handle.readFile('utf8');
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw readFailure(this.#at(file), error);
    } finally {
      await handle?.close();
    }
  }

  async create(file: string, content: LocalFile | string): Promise<boolean> {
    const target = this.#at(file);
    try {
      makeDirectory(path.dirname(target));
      if (typeof content !== 'string') return commit(content.path, target);
      return await this.#withText(content, (draft) => commit(draft, target));
    } catch (error) {
      throw writeFailure(target, error);
    }
  }

  async replace(file: string, text: string): Promise<void> {
    await this.#withText(text, (draft) => moveIntoPlace(draft, this.#at(file), true));
  }

  async remove(file: string): Promise<void> {
    try {
      // Where `rm` may not remove a file, it takes it for a directory, and its error hides the reason.
      await fs.promises.unlink(this.#at(file));
    } catch (error) {
      if (!isAbsent(error)) throw removeFailure(this.#at(file), error);
    }
    // The folder of a day is removed with its last file.
    await fs.promises.rmdir(path.dirname(this.#at(file))).catch(() => undefined);
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

  // Sorts a directory by its name with a slash, so that paths are in the same order as in the list of a bucket.
  async *#walk(directory: string, prefix: string): AsyncGenerator<StoredFile> {
    for (const name of this.#names(directory)) {
      const at = `${directory}${name}`;
      if (directory === '' && name.startsWith('.')) continue;
      if (name.endsWith('/')) {
        if (at.startsWith(prefix) || prefix.startsWith(at)) yield* this.#walk(at, prefix);
      } else if (at.startsWith(prefix)) {
        const found = fs.lstatSync(this.#at(at), { throwIfNoEntry: false });
        if (found) yield { path: at, bytes: found.size, irregular: irregularity(found) };
      }
    }
  }

  #names(directory: string): string[] {
    try {
      const found = fs.readdirSync(this.#at(directory), { withFileTypes: true });
      return found.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
    } catch (error) {
      if (isAbsent(error)) return [];
      throw readFailure(this.#at(directory), error);
    }
  }

  // Opens regular files only: a link could lead anywhere, and opening a FIFO would block.
  async #open(file: string): Promise<fs.promises.FileHandle> {
    const at = this.#at(file);
    const irregular = irregularity(await fs.promises.lstat(at));
    if (irregular !== undefined) throw this.#damaged(file, `it is ${irregular}`);
    return fs.promises.open(at, READ_WITHOUT_LINKS);
  }

  /** Writes and flushes a temporary file for `use`, which moves it to its final name. Removes the file if `use` did not. */
  async #withText<T>(text: string, use: (file: string) => T): Promise<T> {
    const draft = await Draft.begin(path.join(this.workDirectory, 'text'));
    try {
      await draft.write(text);
      await draft.seal();
      return use(draft.path);
    } finally {
      await draft.discard();
    }
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

function commit(draft: string, target: string): boolean {
  if (!linkUnlessTaken(draft, target)) return false;
  syncDirectory(path.dirname(target));
  return true;
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

function readFailure(file: string, error: unknown): unknown {
  if (!isAbsent(error)) return unreadable(file, error);
  return new SvcError('not_found', `${file} does not exist`, { cause: error });
}
