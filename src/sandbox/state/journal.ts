import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type JournalEvent, readEvent, type StartEvent } from './events.ts';

/**
 * The append-only record that every sandbox process of a directory shares. Each line goes out in one write to a
 * file opened for appending, so lines of several processes never mix.
 */
export class Journal {
  readonly #path: string;
  #file: { descriptor: number; inode: number; read: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Begins a journal unless one is there: of several processes exactly one line wins. */
  begin(start: StartEvent): void {
    const draft = `${this.#path}.${randomUUID()}`;
    writeFileSync(draft, `${JSON.stringify(start)}\n`, { mode: 0o600, flag: 'wx' });
    try {
      linkSync(draft, this.#path);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    } finally {
      rmSync(draft);
    }
  }

  /**
   * The events since the last look. `fresh` tells that they begin with the first line, at the first look or
   * after a reset. Undefined when there is no journal.
   */
  read(): { fresh: boolean; events: JournalEvent[] } | undefined {
    const inode = inodeOf(this.#path);
    if (inode === undefined) return undefined;
    const fresh = this.#file?.inode !== inode;
    if (fresh) this.#open();
    const file = this.#file;
    if (file === undefined) return undefined;
    const { text, end } = wholeLines(file.descriptor, file.read);
    file.read = end;
    return { fresh, events: text.split('\n').map(readEvent).filter(isThere) };
  }

  /** Adds an event. Call `read` first: the journal must be open. */
  append(event: JournalEvent): void {
    if (this.#file === undefined) throw new Error('the journal is not open');
    // The leading line end closes a half line that a killed process may have left.
    const line = Buffer.from(`\n${JSON.stringify(event)}\n`);
    if (writeSync(this.#file.descriptor, line) < line.length) throw new Error('the journal cannot grow');
  }

  /** Closes the file; a later `read` opens it anew. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.descriptor);
    this.#file = undefined;
  }

  #open(): void {
    this.close();
    const descriptor = openSync(this.#path, 'a+', 0o600);
    this.#file = { descriptor, inode: fstatSync(descriptor).ino, read: 0 };
  }
}

/** The text from an offset up to the last line end, and where that is. */
function wholeLines(descriptor: number, from: number): { text: string; end: number } {
  const size = fstatSync(descriptor).size;
  if (size <= from) return { text: '', end: from };
  const buffer = Buffer.alloc(size - from);
  const length = readSync(descriptor, buffer, 0, buffer.length, from);
  const end = buffer.subarray(0, length).lastIndexOf(0x0a) + 1;
  return { text: buffer.toString('utf8', 0, end), end: from + end };
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function isThere(event: JournalEvent | undefined): event is JournalEvent {
  return event !== undefined;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Paths of a sandbox's state. */
export interface StatePaths {
  readonly directory: string;
  readonly journal: string;
  readonly ledger: string;
  /** Request and result files. */
  readonly files: string;
  /** What the buckets hold. */
  readonly objects: string;
}

/** The paths below a state directory. */
export function statePaths(directory: string): StatePaths {
  return {
    directory,
    journal: join(directory, 'journal.jsonl'),
    ledger: join(directory, 'ledger.jsonl'),
    files: join(directory, 'files'),
    objects: join(directory, 'objects'),
  };
}

/** Makes the directory, for its owner alone. Throws when it holds other things than a sandbox. */
export function prepareDirectory(paths: StatePaths): void {
  mkdirSync(paths.directory, { recursive: true, mode: 0o700 });
  if (!existsSync(paths.journal) && readdirSync(paths.directory).some((name) => !isOurs(name)))
    throw new Error(`${paths.directory} holds other files than a sandbox's`);
  if ((statSync(paths.directory).mode & 0o077) !== 0) chmodSync(paths.directory, 0o700);
  mkdirSync(paths.files, { recursive: true, mode: 0o700 });
}

/** Forgets everything that a sandbox knows. Sandboxes that run on the directory start anew. */
export function resetSandbox(directory: string): void {
  const paths = statePaths(directory);
  for (const path of [paths.journal, paths.files, paths.objects])
    rmSync(path, { recursive: true, force: true });
  // Running sandboxes go on writing to the same file.
  if (existsSync(paths.ledger)) truncateSync(paths.ledger);
}

function isOurs(name: string): boolean {
  return /^(journal\.jsonl|ledger\.jsonl|files|objects)/.test(name);
}
