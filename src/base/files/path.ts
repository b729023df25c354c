import fs from 'node:fs';
import os from 'node:os';
import nodePath from 'node:path';
import { SvcError, systemCodeOf, writeFailure } from '../errors.ts';
import type { Clock } from '../system.ts';

// What may be at the path of a file besides the file itself, and what a path may be called.

/** What is found where a file is to be written. */
export type Target =
  /** A regular file, or nothing yet; `path` is free of links, so that a link stays one. */
  | { readonly kind: 'file'; readonly path: string }
  /** A named pipe, or a device: bytes pass straight through. */
  | { readonly kind: 'pipe' | 'device'; readonly path: string };

/** Inspects a target before any request. @throws SvcError `usage` when it exists and may not be overwritten */
export async function inspectTarget(path: string, overwrite: boolean): Promise<Target> {
  refuseWindowsName(path);
  const stat = await fs.promises.stat(path).catch(() => undefined);
  if (stat?.isFIFO()) return { kind: 'pipe', path };
  if (stat?.isCharacterDevice()) return { kind: 'device', path };
  if (stat && !stat.isFile()) throw new SvcError('usage', `${path} is not a file`, { hint: 'Give a file name.' });
  if (!overwrite && (stat || isTaken(path))) throw existsError(path);
  try {
    await fs.promises.access(nodePath.dirname(path), fs.constants.W_OK);
  } catch (error) {
    throw writeFailure(path, error);
  }
  return { kind: 'file', path: stat ? await fs.promises.realpath(path) : path };
}

/**
 * Gives a finished file its name, in one step. Without `overwrite` a file that appeared meanwhile stays.
 * @throws SvcError `usage` when the name is taken, `local` when the disk refuses
 */
export function moveIntoPlace(draft: string, target: string, overwrite: boolean): void {
  try {
    if (!overwrite && !linkUnlessTaken(draft, target)) throw existsError(target);
    if (overwrite) whileBusy(() => fs.renameSync(draft, target));
    syncDirectory(nodePath.dirname(target));
  } catch (error) {
    throw writeFailure(target, error);
  }
}

/** Makes a new file whose content is on the disk before anything else gets to know of it. */
export function writeFlushed(file: string, data: string | Uint8Array, mode = 0o600): void {
  const descriptor = fs.openSync(file, 'wx', 0o600);
  try {
    fs.fchmodSync(descriptor, mode);
    fs.writeFileSync(descriptor, data);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Codes of a file system without hard links; `EISDIR` is that of exFAT on Windows. */
export const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EISDIR']);

/**
 * Gives a flushed file its name if that is free, and takes the old one away; false when it is taken. Of several writers,
 * on other machines too, one gets the name, which a rename would not let the others notice.
 */
export function linkUnlessTaken(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    if (!NO_LINKS.has(systemCodeOf(error) ?? '')) throw error;
    // A file system without links: check and rename, with a moment in between.
    if (isTaken(to)) return false;
    whileBusy(() => fs.renameSync(from, to));
  }
  whileBusy(() => fs.rmSync(from, { force: true }));
  return true;
}

/** Whether this user may run a file, or enter a directory. */
export function isExecutable(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Makes the names in a directory durable. Not every file system lets a directory be synced; that is no failure. */
export function syncDirectory(directory: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = fs.openSync(directory, 'r');
    fs.fsyncSync(descriptor);
  } catch (error) {
    if (systemCodeOf(error) === 'EIO') throw error;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

// A link that leads nowhere is in the way too.
function isTaken(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function existsError(path: string): SvcError {
  return new SvcError('usage', `${path} exists`, { hint: 'Give another name, or allow it to be replaced.' });
}

const BUSY: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'EBUSY']);
const LONGEST_PAUSE_MS = 640;

/**
 * Runs what renames, links or removes a file. Windows refuses that while a virus scanner, an indexer or a reader has
 * the file open, as a rule for a moment: there it is tried again for a second.
 */
export function whileBusy<T>(change: () => T, platform = os.platform(), pause = sleep): T {
  for (let ms = 10; ; ms *= 2) {
    try {
      return change();
    } catch (error) {
      if (platform !== 'win32' || ms > LONGEST_PAUSE_MS || !BUSY.has(systemCodeOf(error) ?? '')) throw error;
      pause(ms);
    }
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

// A device, whatever its ending; a stream within a file, or a pattern; a dot or space at the end, which is dropped.
const MISREAD = [
  /^(?:con|prn|aux|nul(?= *\.)|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) *(?:\.|$)/i,
  /[<>:"|?*]|[^ -~\u00A0-\uFFFF]/,
  /^(?!\.{1,2}$).*[. ]$/s,
];

/** @throws SvcError `usage` for a name that Windows takes for something else, except NUL, which discards. */
export function refuseWindowsName(file: string, platform = os.platform()): void {
  if (platform !== 'win32' || /^\\\\[?.]\\/.test(file)) return;
  const names = file.replace(/^[a-z]:/i, '').split(/[\\/]/);
  if (!names.some((name) => MISREAD.some((form) => form.test(name)))) return;
  throw new SvcError('usage', `${file} cannot be the name of a file on Windows`, {
    hint: 'Choose one without < > : " | ? *, with no dot or space at its end, and other than CON, PRN, AUX, NUL, COM1 or LPT1.',
  });
}

/** Whether two paths name the same file: macOS and Windows ignore case, and how accents are composed. */
export function isSamePath(one: string, other: string, platform = os.platform()): boolean {
  const ignoresCase = platform === 'win32' || platform === 'darwin';
  const [a, b] = [one, other].map((file) => nodePath.resolve(file));
  return a === b || (ignoresCase && a?.normalize().toLowerCase() === b?.normalize().toLowerCase());
}

// A person may have to unlock what writes into a pipe.
const LONGEST_SILENCE_MS = 60_000;
const POLL_MS = 20;
// Windows has no such flag; undefined counts as 0.
const READ_WITHOUT_WAITING = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;

/** How a pipe is waited for. */
export interface Waiting {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The first bytes of a file or pipe, at most `most`. A pipe is waited for until its writer closes it, or says nothing
 * for a minute. Nothing blocks: a pipe without a writer would hold a thread, and with it the process, forever.
 * System errors pass through.
 */
export async function readFileOrPipe(file: string, most: number, { clock, signal }: Waiting): Promise<Buffer> {
  const handle = await fs.promises.open(file, READ_WITHOUT_WAITING);
  try {
    const isPipe = (await handle.stat()).isFIFO();
    const chunks: Buffer[] = [];
    let [length, silentSince] = [0, clock.now()];
    while (length < most) {
      signal?.throwIfAborted();
      const chunk = await readNow(handle, most - length);
      // A pipe that gave nothing yet may have no writer yet.
      if (chunk?.length === 0 && !(isPipe && length === 0)) break;
      if (chunk !== undefined && chunk.length > 0) {
        chunks.push(chunk);
        [length, silentSince] = [length + chunk.length, clock.now()];
        continue;
      }
      if (clock.now() - silentSince >= LONGEST_SILENCE_MS) break;
      await clock.sleep(POLL_MS, signal);
    }
    return Buffer.concat(chunks);
  } finally {
    await handle.close();
  }
}

/** What there is to read now: empty at the end, undefined where more may come. */
async function readNow(handle: fs.promises.FileHandle, most: number): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(Math.min(most, 65_536));
  try {
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, null);
    return bytes.subarray(0, bytesRead);
  } catch (error) {
    if (systemCodeOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
}

/** No file that svc keeps is larger; one that is would take a command too long to read. */
const LARGEST_KEPT = 64 * 1024 * 1024;

/**
 * The text of a file. Anything but a regular file is an error with a system's code (`EISDIR`, else `EINVAL`): a pipe in
 * its place, which no writer opens, must not block the command forever. A larger file than 64 MB is an error, `EFBIG`.
 */
export function readRegularFileSync(file: string): string {
  return withRegularFile(file, READ_WITHOUT_WAITING, LARGEST_KEPT, (at) => fs.readFileSync(at, 'utf8'));
}

/** The bytes of a file that svc alone writes: links and files larger than `most` bytes are errors too. */
export function readOwnFileSync(file: string, most: number): Buffer {
  refuseLink(file);
  return whileBusy(() =>
    withRegularFile(file, READ_WITHOUT_WAITING | fs.constants.O_NOFOLLOW, most, (at) => fs.readFileSync(at)),
  );
}

/** Adds text to a file that svc alone writes, in one piece; see `readOwnFileSync` for what is an error. */
export function appendToOwnFileSync(file: string, text: string, most: number): void {
  refuseLink(file);
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  whileBusy(() =>
    withRegularFile(file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, most, (at) =>
      fs.writeFileSync(at, text),
    ),
  );
}

/** Windows cannot be told to open no link. */
function refuseLink(file: string): void {
  if (os.platform() !== 'win32') return;
  if (fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw Object.assign(new Error('a link'), { code: 'ELOOP' });
}

function withRegularFile<T>(file: string, flags: number, most: number, use: (descriptor: number) => T): T {
  const descriptor = fs.openSync(file, flags, 0o600);
  try {
    const found = fs.fstatSync(descriptor);
    if (!found.isFile()) {
      const code = found.isDirectory() ? 'EISDIR' : 'EINVAL';
      throw Object.assign(new Error('not a regular file'), { code });
    }
    if (found.size > most) throw Object.assign(new Error(`larger than ${most} bytes`), { code: 'EFBIG' });
    return use(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}
