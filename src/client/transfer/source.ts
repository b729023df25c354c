// Files to upload, and hashes of files.

import fs from 'node:fs';
import net from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { readFailure, SvcError, systemCodeOf, writeFailure } from '../../base/errors.ts';
import { sha256OfAll } from '../../base/files/draft.ts';
import type { Target } from '../../base/files/target.ts';
import type { Clock } from '../../base/system.ts';

/** A file to upload, or a part of a file. Each attempt opens the source again (R35). */
export interface UploadSource {
  /** Exact number of bytes. */
  readonly size: number;
  /** Hex SHA-256 of the checked bytes. Without a hash, later attempts must equal the first attempt. */
  readonly sha256?: string | undefined;
  /** Yields the bytes in pieces. The memory of a piece is reused after two further pieces. */
  open(): AsyncIterable<Uint8Array>;
}

/** The bytes to send: `prefix` (a header row), then the file from `start` up to but not including `end`. */
export interface FilePart {
  readonly sha256?: string | undefined;
  readonly prefix?: Uint8Array | undefined;
  readonly start?: number | undefined;
  /** The end of the file unless given. */
  readonly end?: number | undefined;
}

const PIECE = 256 * 1024;

// fs/promises takes longer to load, and for each piece.
const read = promisify(fs.read);

/** A source over a regular file, or over a part of it. @throws SvcError `local` when it cannot be read */
export async function fileSource(path: string, part: FilePart = {}): Promise<UploadSource> {
  const { prefix = new Uint8Array(), start = 0 } = part;
  const end = part.end ?? readableSize(path);
  return {
    size: prefix.byteLength + end - start,
    sha256: part.sha256,
    async *open() {
      if (prefix.byteLength > 0) yield prefix;
      // A file without `end` is read to its current end, so that growth is noticed.
      yield* pieces(path, start, part.end ?? Infinity);
    },
  };
}

/** Hex SHA-256 of a regular file. @throws SvcError `local` when it cannot be read */
export async function hashFile(path: string): Promise<string> {
  return sha256OfAll((await fileSource(path)).open());
}

/** Hex SHA-256 of a regular file; undefined if it cannot be read. */
export async function hashIfReadable(path: string): Promise<string | undefined> {
  return hashFile(path).catch(() => undefined);
}

function readableSize(path: string): number {
  try {
    const stat = fs.statSync(path);
    if (!stat.isFile()) throw notRegular(path, stat);
    fs.accessSync(path, fs.constants.R_OK);
    return stat.size;
  } catch (error) {
    throw readFailure(path, error);
  }
}

/**
 * Reads one piece ahead, so that disk and network work at the same time. Three buffers take turns, since new ones would
 * accumulate until a garbage collection.
 */
async function* pieces(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  const fd = openRegular(path);
  let next: Promise<Uint8Array> | undefined;
  try {
    let at = start;
    const memory = Array.from({ length: 3 }, () => newPiece(start, end));
    next = readPiece(fd, path, memory, at, end);
    for (;;) {
      const piece = await next;
      if (piece.byteLength === 0) return;
      at += piece.byteLength;
      next = readPiece(fd, path, memory, at, end);
      // A reader that stops here never awaits the next piece, so its failure must not be unhandled.
      next.catch(() => undefined);
      yield piece;
    }
  } finally {
    await next?.catch(() => undefined);
    fs.closeSync(fd);
  }
}

function newPiece(start: number, end: number): Uint8Array {
  return Buffer.allocUnsafeSlow(Math.max(0, Math.min(PIECE, end - start)));
}

/** Fills a piece from the file. Only the last piece is shorter. */
async function readPiece(fd: number, path: string, memory: Uint8Array[], start: number, end: number) {
  const piece = memory.shift() ?? newPiece(start, end);
  memory.push(piece);
  const length = Math.max(0, Math.min(piece.byteLength, end - start));
  let filled = 0;
  try {
    while (filled < length) {
      const { bytesRead } = await read(fd, piece, filled, length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
  } catch (error) {
    throw readFailure(path, error);
  }
  return piece.subarray(0, filled);
}

function openRegular(path: string): number {
  try {
    // O_NONBLOCK keeps a pipe without a writer from blocking.
    const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const stat = fs.fstatSync(fd);
    if (stat.isFile()) return fd;
    fs.closeSync(fd);
    throw notRegular(path, stat);
  } catch (error) {
    throw readFailure(path, error);
  }
}

function notRegular(path: string, stat: fs.Stats): SvcError {
  if (stat.isDirectory()) return new SvcError('local', `${path} is a directory`, { hint: 'Name a file in it.' });
  return new SvcError('local', `${path} is not a regular file`, {
    hint: 'Give a file: an upload may have to be sent again, and a pipe can be read only once.',
  });
}

/** The progress of a transfer in bytes. `total` is undefined if the store does not announce it. */
export interface Progress {
  readonly done: number;
  readonly total: number | undefined;
}

/** Receives progress, at most once a piece (64 KiB to 1 MiB). */
export type OnProgress = (progress: Progress) => void;

interface Host {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Copies a finished file into a named pipe or a device. @throws SvcError `local` when it cannot be written */
export async function copyInto({ kind, path }: Target, file: string, host: Host): Promise<void> {
  let output: Writable | undefined;
  try {
    output = kind === 'pipe' ? await openPipe(path, host) : fs.createWriteStream(path);
    await pipeline((await fileSource(file)).open(), output, { signal: host.signal });
  } catch (error) {
    host.signal.throwIfAborted();
    throw systemCodeOf(error) === undefined ? error : writeFailure(path, error);
  } finally {
    output?.destroy();
  }
}

const POLL_MS = 100;

/**
 * Opens a named pipe once a reader opens it. A plain open would block a thread until then, ignoring signals, so this
 * function tries repeatedly.
 */
async function openPipe(path: string, { clock, signal }: Host): Promise<Writable> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const fd = fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
      return new net.Socket({ fd, readable: false, writable: true });
    } catch (error) {
      if (systemCodeOf(error) !== 'ENXIO') throw error;
    }
    await clock.sleep(POLL_MS, signal);
  }
}
