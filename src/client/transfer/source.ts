// Reads files to upload and to hash.

import fs from 'node:fs';
import { promisify } from 'node:util';
import { readFailure, SvcError } from '../../base/errors.ts';
import { sha256OfAll } from '../../base/files/draft.ts';

/** A file to upload, or a part of a file. Each attempt opens the source again (R35). */
export interface UploadSource {
  readonly size: number;
  /** The SHA-256 that the bytes must have, in hexadecimal. Without a hash, each attempt must send the same bytes as the first. */
  readonly sha256?: string | undefined;
  /** Yields the bytes in pieces. The memory of a piece is reused after two further pieces. */
  open(): AsyncIterable<Uint8Array>;
}

/** The bytes to send: `prefix` (a header row), then the file from `start` up to but not including `end`. */
export interface FilePart {
  readonly sha256?: string | undefined;
  readonly prefix?: Uint8Array | undefined;
  readonly start?: number | undefined;
  /** By default, the end of the file. */
  readonly end?: number | undefined;
}

const PIECE = 256 * 1024;

// fs/promises takes longer to load and to read.
const read = promisify(fs.read);

/** Returns the source of a regular file, or of a part of the file. @throws SvcError `local` if the file cannot be read */
export async function fileSource(path: string, part: FilePart = {}): Promise<UploadSource> {
  const { prefix = new Uint8Array(), start = 0 } = part;
  const end = part.end ?? readableSize(path);
  return {
    size: prefix.byteLength + end - start,
    sha256: part.sha256,
    async *open() {
      if (prefix.byteLength > 0) yield prefix;
      // Without `end`, reads the file to its current end, so that an upload notices growth.
      yield* pieces(path, start, part.end ?? Infinity);
    },
  };
}

/** Returns the SHA-256 of a regular file in hexadecimal. @throws SvcError `local` if the file cannot be read */
export async function hashFile(path: string): Promise<string> {
  return sha256OfAll((await fileSource(path)).open());
}

/** Like `hashFile`, but returns undefined if the file cannot be read. */
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
 * Yields the bytes of a file in pieces. Reads one piece ahead, so that disk and network work at the same time. Uses three buffers in
 * turn, since new buffers would accumulate until a garbage collection.
 */
async function* pieces(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  const fd = openRegular(path);
  let next: Promise<Uint8Array> | undefined;
  try {
    let at = start;
    const memory = Array.from({ length: 3 }, () => newBuffer(start, end));
    next = readPiece(fd, path, memory, at, end);
    for (;;) {
      const piece = await next;
      if (piece.byteLength === 0) return;
      at += piece.byteLength;
      next = readPiece(fd, path, memory, at, end);
      // A consumer that stops here never awaits the next piece, so a failure to read it must not be unhandled.
      next.catch(() => undefined);
      yield piece;
    }
  } finally {
    await next?.catch(() => undefined);
    fs.closeSync(fd);
  }
}

function newBuffer(start: number, end: number): Uint8Array {
  return Buffer.allocUnsafeSlow(Math.max(0, Math.min(PIECE, end - start)));
}

/** Fills the oldest buffer from the file, and returns the filled part, which is shorter only at the end. */
async function readPiece(fd: number, path: string, memory: Uint8Array[], start: number, end: number) {
  const buffer = memory.shift() ?? newBuffer(start, end);
  memory.push(buffer);
  const length = Math.max(0, Math.min(buffer.byteLength, end - start));
  let filled = 0;
  try {
    while (filled < length) {
      const { bytesRead } = await read(fd, buffer, filled, length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
  } catch (error) {
    throw readFailure(path, error);
  }
  return buffer.subarray(0, filled);
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

/** Receives progress, at most once per piece of 64 KiB to 1 MiB. */
export type OnProgress = (progress: Progress) => void;
