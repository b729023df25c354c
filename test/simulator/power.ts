import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Chance } from '../support/chance.ts';

// The machine's own functions, copied before any world replaces them.
const real = { ...fs };

/** A name that was created, moved or removed, and the directories that must be flushed to make this permanent. */
interface NameChange {
  readonly directories: Set<number>;
  /** Undoes the change in the directories that were not flushed. */
  readonly undo: (unflushed: ReadonlySet<number>) => void;
  /** The link that keeps the file which had the name before. */
  readonly kept?: string | undefined;
}

/**
 * The changes that a disk loses with its power: bytes written to files since their last flush, and names changed in
 * directories since theirs.
 */
export class UnflushedChanges {
  /** The directory with links to removed and replaced files, which a loss of power may bring back. */
  readonly #kept: string;
  readonly #root: string;
  #names: NameChange[] = [];
  /** The flushed contents of files that were changed since, by inode. */
  readonly #contents = new Map<number, Buffer>();
  readonly #paths = new Map<number, string>();
  #count = 0;

  /** `root` is the disk, and `kept` a new directory outside it on the same file system. */
  constructor(root: string, kept: string) {
    this.#root = root;
    this.#kept = kept;
    real.mkdirSync(kept);
  }

  /** Notes a call before it changes the disk. Returns a function to call with its result. */
  before(name: string, holder: unknown, [first, second]: readonly unknown[]): (result: unknown) => void {
    const handle = numberOf(holder);
    if (handle !== undefined) {
      this.#beforeChange(handle);
      return nothing;
    }
    if (typeof first === 'string' && ['open', 'writeFile', 'appendFile', 'copyFile'].includes(name)) {
      const path = name === 'copyFile' ? String(second) : first;
      if (name === 'open' && !mayWrite(second)) return (result) => this.#opened(path, result);
      return this.#beforeWrite(path);
    }
    switch (name) {
      case 'link':
      case 'symlink':
        return () => this.#made(String(second));
      case 'mkdir':
        return real.existsSync(String(first)) ? nothing : () => this.#made(String(first));
      case 'rename':
        return this.#beforeRename(String(first), String(second));
      case 'unlink':
      case 'rm':
        return this.#beforeRemoval(String(first));
      default:
        this.#beforeChange(numberOf(first));
        return nothing;
    }
  }

  /** Notes that a call flushed a file or a directory. */
  flushed(holder: unknown, [first]: readonly unknown[]): void {
    const descriptor = numberOf(holder) ?? numberOf(first);
    if (descriptor === undefined) return;
    const stat = real.fstatSync(descriptor);
    if (!stat.isDirectory()) return void this.#contents.delete(stat.ino);
    for (const { directories } of this.#names) directories.delete(stat.ino);
    for (const { kept } of this.#names.filter(isSettled)) if (kept) real.rmSync(kept, { force: true });
    this.#names = this.#names.filter((change) => !isSettled(change));
  }

  /** Undoes unflushed changes as chance decides: contents of some files, and the newest changes of names. */
  lose(chance: Chance): void {
    for (const path of filesBelow(this.#root)) {
      const content = this.#contents.get(real.statSync(path).ino);
      if (content !== undefined && chance.happens(0.7)) real.writeFileSync(path, content);
    }
    const first = chance.happens(0.5) ? 0 : chance.between(0, this.#names.length);
    for (const { undo, directories } of this.#names.slice(first).toReversed()) undo(directories);
    this.settle();
  }

  /** Makes all changes permanent. */
  settle(): void {
    for (const { kept } of this.#names) if (kept) real.rmSync(kept, { force: true });
    this.#names = [];
    this.#contents.clear();
  }

  #beforeWrite(path: string): (result: unknown) => void {
    const stat = real.statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() && !this.#contents.has(stat.ino)) this.#contents.set(stat.ino, real.readFileSync(path));
    return (result) => {
      this.#opened(path, result);
      if (stat !== undefined) return;
      this.#made(path);
      this.#contents.set(real.statSync(path).ino, Buffer.alloc(0));
    };
  }

  #opened(path: string, result: unknown): void {
    const descriptor = numberOf(result);
    if (descriptor !== undefined) this.#paths.set(descriptor, path);
  }

  #beforeChange(descriptor: number | undefined): void {
    const path = this.#paths.get(descriptor ?? -1);
    if (descriptor === undefined || path === undefined) return;
    const { ino } = real.fstatSync(descriptor);
    if (this.#contents.has(ino) || real.statSync(path, { throwIfNoEntry: false })?.ino !== ino) return;
    this.#contents.set(ino, real.readFileSync(path));
  }

  #made(path: string): void {
    const absolute = resolve(path);
    this.#note([absolute], () => real.rmSync(absolute, { recursive: true, force: true }));
  }

  #beforeRename(from: string, to: string): () => void {
    const source = resolve(from);
    const target = resolve(to);
    const kept = this.#keep(target);
    const undo = (unflushed: ReadonlySet<number>): void => {
      real.mkdirSync(dirname(source), { recursive: true });
      // Once the new directory is flushed, the file has its new name, and at most the old one too.
      if (!unflushed.has(real.statSync(dirname(target)).ino)) return linkAgain(target, source);
      if (real.existsSync(target)) real.renameSync(target, source);
      if (kept !== undefined) real.renameSync(kept, target);
    };
    return () => this.#note([source, target], undo, kept);
  }

  #beforeRemoval(path: string): () => void {
    const absolute = resolve(path);
    const kept = this.#keep(absolute);
    if (kept === undefined) return nothing;
    return () =>
      this.#note(
        [absolute],
        () => {
          real.mkdirSync(dirname(absolute), { recursive: true });
          if (!real.existsSync(absolute)) real.renameSync(kept, absolute);
        },
        kept,
      );
  }

  /** Links a file under a second name, so that it outlives its first. Returns that name; undefined for no file. */
  #keep(path: string): string | undefined {
    if (real.lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    const kept = join(this.#kept, String((this.#count += 1)));
    real.linkSync(path, kept);
    return kept;
  }

  #note(paths: readonly string[], undo: NameChange['undo'], kept?: string): void {
    if (!paths.every((path) => path.startsWith(this.#root))) return;
    const directories = new Set(paths.map((path) => real.statSync(dirname(path)).ino));
    this.#names.push({ directories, undo, kept });
  }
}

function nothing(): void {}

function linkAgain(from: string, to: string): void {
  if (real.lstatSync(from, { throwIfNoEntry: false })?.isFile() && !real.existsSync(to)) real.linkSync(from, to);
}

function isSettled({ directories }: NameChange): boolean {
  return directories.size === 0;
}

/** Returns the descriptor that a number or a file handle stands for; undefined for other values. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const inside: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'fd') : undefined;
  return typeof inside === 'number' ? inside : undefined;
}

function mayWrite(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0;
  return typeof flags === 'string' && flags !== 'r';
}

function filesBelow(directory: string): string[] {
  const entries = real.readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
