import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Chance } from './random.ts';

// Taken before any world begins: these are the machine's own.
const real = { ...fs };

/** A name that was made, moved or removed, and the directories that must be flushed before it stays so. */
interface NameChange {
  readonly directories: Set<number>;
  readonly undo: () => void;
  /** The file that had the name before. */
  readonly kept?: string | undefined;
}

/**
 * What a machine that loses its power loses of its disk: bytes of files that were not flushed since they were written,
 * and names in directories that were not. What was flushed stays.
 */
export class UnflushedChanges {
  /** Files that have another name here until it is settled that they lost theirs. */
  readonly #kept: string;
  readonly #root: string;
  #names: NameChange[] = [];
  /** What was flushed of files that were changed since, by inode. */
  readonly #contents = new Map<number, Buffer>();
  readonly #paths = new Map<number, string>();
  #count = 0;

  /** `root` is the disk; `kept` a directory on the same file system, outside it. */
  constructor(root: string, kept: string) {
    this.#root = root;
    this.#kept = kept;
    real.mkdirSync(kept);
  }

  /** Notes a call before it changes the disk. Returns what notes its success. */
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

  /** The power is gone: chance says how much of what was not flushed is lost, the newest names first. */
  lose(chance: Chance): void {
    for (const path of filesBelow(this.#root)) {
      const content = this.#contents.get(real.statSync(path).ino);
      if (content !== undefined && chance.happens(0.7)) real.writeFileSync(path, content);
    }
    const first = chance.happens(0.5) ? 0 : chance.between(0, this.#names.length);
    for (const { undo } of this.#names.slice(first).toReversed()) undo();
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
    return () =>
      this.#note(
        [source, target],
        () => {
          real.mkdirSync(dirname(source), { recursive: true });
          if (real.existsSync(target)) real.renameSync(target, source);
          if (kept !== undefined) real.renameSync(kept, target);
        },
        kept,
      );
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

  /** Gives a file a second name under which it outlives its first. */
  #keep(path: string): string | undefined {
    if (real.lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    const kept = join(this.#kept, String((this.#count += 1)));
    real.linkSync(path, kept);
    return kept;
  }

  #note(paths: readonly string[], undo: () => void, kept?: string): void {
    if (!paths.every((path) => path.startsWith(this.#root))) return;
    const directories = new Set(paths.map((path) => real.statSync(dirname(path)).ino));
    this.#names.push({ directories, undo, kept });
  }
}

function nothing(): void {}

function isSettled({ directories }: NameChange): boolean {
  return directories.size === 0;
}

/** The descriptor in what names one: a number or a file handle. */
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
