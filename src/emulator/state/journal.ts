import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { type EventOf, type JournalEvent, readEvent } from './events.ts';

/** The append-only journal that processes share. Each line is one write to a file opened for appending, so lines never mix. */
export class Journal {
  readonly #path: string;
  #file: { descriptor: number; inode: number; read: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Creates the journal unless it exists. If several processes try, exactly one succeeds. */
  begin(start: EventOf<'start'>): void {
    const draft = `${this.#path}.${randomUUID()}`;
    fs.writeFileSync(draft, `${JSON.stringify(start)}\n`, { mode: 0o600, flag: 'wx' });
    linkNew(draft, this.#path);
  }

  /** Reads the events since the last read, or after a reset all events (`fresh`). Returns undefined without a journal. */
  read(): { fresh: boolean; events: JournalEvent[] } | undefined {
    const inode = fs.statSync(this.#path, { throwIfNoEntry: false })?.ino;
    if (inode === undefined) return undefined;
    const fresh = this.#file?.inode !== inode;
    if (fresh) this.#open();
    if (this.#file === undefined) return undefined;
    const { text, end } = completeLines(this.#file.descriptor, this.#file.read);
    this.#file.read = end;
    return { fresh, events: text.split('\n').flatMap((line) => (line === '' ? [] : (readEvent(line) ?? []))) };
  }

  /** Adds an event. Requires an earlier `read`. */
  append(event: JournalEvent): void {
    if (this.#file === undefined) throw new Error('the journal is not open');
    // The leading newline ends an incomplete line that a killed process may have left.
    const line = Buffer.from(`\n${JSON.stringify(event)}\n`);
    if (fs.writeSync(this.#file.descriptor, line) < line.length) throw new Error('the journal cannot grow');
  }

  /** Closes the file; a later `read` opens it again. */
  close(): void {
    if (this.#file !== undefined) fs.closeSync(this.#file.descriptor);
    this.#file = undefined;
  }

  #open(): void {
    this.close();
    const descriptor = fs.openSync(this.#path, APPEND | fs.constants.O_RDWR, 0o600);
    this.#file = { descriptor, inode: fs.fstatSync(descriptor).ino, read: 0 };
  }
}

/** The flags to append to a file of the sandbox, never through a link: it may lead to any file. Windows lacks the last one. */
export const APPEND = fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_NOFOLLOW;

/** Links a complete draft to its name, unless the name is taken. */
function linkNew(draft: string, path: string): void {
  try {
    fs.linkSync(draft, path);
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/** Reads the text from an offset up to the last line end, and returns the offset of that end. */
function completeLines(descriptor: number, from: number): { text: string; end: number } {
  const size = fs.fstatSync(descriptor).size;
  if (size <= from) return { text: '', end: from };
  const buffer = Buffer.alloc(size - from);
  const length = fs.readSync(descriptor, buffer, 0, buffer.length, from);
  const end = buffer.subarray(0, length).lastIndexOf(0x0a) + 1;
  return { text: buffer.toString('utf8', 0, end), end: from + end };
}

export type StatePaths = ReturnType<typeof statePaths>;

/** Returns the paths below a state directory; `files` belongs to jobs. */
export function statePaths(directory: string) {
  return {
    directory,
    journal: join(directory, 'journal.jsonl'),
    ledger: join(directory, 'ledger.jsonl'),
    files: join(directory, 'files'),
    /** A directory for each tenant after the first, named by its number. */
    tenants: join(directory, 'tenants'),
  };
}

/** Returns the directories of the tenants after the first. */
export function furtherTenants(directory: string): string[] {
  const { tenants } = statePaths(directory);
  return entriesIn(tenants)
    .filter(hasTenantName)
    .map(({ name }) => join(tenants, name));
}

/** Counts the tenants of a sandbox; undefined if no sandbox has used the directory. */
export function tenantsIn(directory: string): number | undefined {
  return startIn(directory) && 1 + furtherTenants(directory).length;
}

/** Whether an entry may be the directory of a tenant. Other programs leave files there, such as .DS_Store. */
function hasTenantName(entry: fs.Dirent): boolean {
  return entry.isDirectory() && /^\d+$/.test(entry.name);
}

/** Returns the origin of the data in a directory; undefined if no sandbox has used the directory. */
export function startIn(directory: string): EventOf<'start'> | undefined {
  const { journal } = statePaths(directory);
  const [line = ''] = isFile(journal) ? startOf(journal).split('\n', 1) : [];
  const event = readEvent(line);
  return event?.type === 'start' ? event : undefined;
}

/** Creates a private state directory. Throws if the directory contains other files than a sandbox's. */
export function prepareDirectory(paths: StatePaths): void {
  fs.mkdirSync(paths.directory, { recursive: true, mode: 0o700 });
  if (directoryUse(paths.directory) === 'foreign')
    throw new Error(`${paths.directory} contains other files than a sandbox's`);
  if ((fs.statSync(paths.directory).mode & 0o077) !== 0) fs.chmodSync(paths.directory, 0o700);
  fs.mkdirSync(paths.files, { recursive: true, mode: 0o700 });
}

/** The names of a sandbox's files: its journal, also before it is complete, and the record of its requests. */
const SANDBOX_FILE = /^(?:journal\.jsonl(?:\.[0-9a-f-]{36})?|ledger\.jsonl)$/;
/** The names of a sandbox's folders, with that of the buckets that an earlier build kept. */
const SANDBOX_FOLDER = /^(?:files|objects|tenants)$/;

/**
 * Tells whether a directory belongs to a sandbox, belongs to a sandbox whose journal is damaged, contains other files
 * (`foreign`), or is unused.
 */
export function directoryUse(directory: string): 'sandbox' | 'damaged' | 'foreign' | 'unused' {
  const { journal, ledger, files, tenants } = statePaths(directory);
  // Opening a pipe would wait for ever, and a link may lead to any file.
  if ([journal, ledger].some((path) => isThere(path) && !isFile(path))) return 'foreign';
  if (startIn(directory) !== undefined) return 'sandbox';
  const entries = entriesIn(directory);
  if (!entries.every((entry) => (entry.isDirectory() ? SANDBOX_FOLDER : SANDBOX_FILE).test(entry.name)))
    return 'foreign';
  // Folders of these names may be anybody's, but not the files of jobs and the directories of tenants.
  if (!entriesIn(files).every(({ name }) => JOB_FILE.test(name))) return 'foreign';
  const isTenant = (entry: fs.Dirent): boolean =>
    hasTenantName(entry) && directoryUse(join(tenants, entry.name)) !== 'foreign';
  if (!entriesIn(tenants).every(isTenant)) return 'foreign';
  // A loss of power may have emptied the journal.
  if (isFile(journal)) return 'damaged';
  // A reset deletes the journal while a sandbox that runs may still store files, begin tenants and record requests.
  const isOwn = ({ name }: fs.Dirent): boolean => {
    const path = join(directory, name);
    if (path === files || path === tenants) return true;
    return SANDBOX_FOLDER.test(name) ? entriesIn(path).length === 0 : beginsAsOwn(startOf(path));
  };
  return entries.every(isOwn) ? 'unused' : 'foreign';
}

/** How a journal and a record of requests begin. */
const BEGINNINGS = ['{"at":', '{"method":', '{"type":'];

/** Whether a file is a sandbox's by its start, of which a kill or a loss of power may have left less, or zeros. */
function beginsAsOwn(start: string): boolean {
  const written = start.replace(/^\0+/, '');
  return BEGINNINGS.some((beginning) => written.startsWith(beginning) || beginning.startsWith(written));
}

const JOB_FILE = /^(?:(?:request|result)-.*\.csv|[0-9a-f-]{36}\.draft)$/;

function isThere(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isFile(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function entriesIn(directory: string): fs.Dirent[] {
  return fs.existsSync(directory) ? fs.readdirSync(directory, { withFileTypes: true }) : [];
}

function startOf(path: string): string {
  const descriptor = fs.openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(MAX_START_BYTES);
    const length = fs.readSync(descriptor, buffer, 0, buffer.length, 0);
    return buffer.toString('utf8', 0, length);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Larger than the first event of a journal. */
const MAX_START_BYTES = 4096;

/** Deletes all state of a sandbox. Sandboxes that run on the directory start over. */
export function resetSandbox(directory: string): void {
  const { journal, files, tenants, ledger } = statePaths(directory);
  // Running sandboxes keep writing to the same file.
  if (fs.existsSync(ledger)) fs.truncateSync(ledger);
  // The journal is deleted last, because it shows that the other files are a sandbox's.
  for (const path of [files, join(directory, 'objects'), tenants, journal])
    fs.rmSync(path, { recursive: true, force: true });
}
