import fs from 'node:fs';
import { systemCodeOf } from '../errors.ts';
import type { Clock } from '../system.ts';
import { READ_WITHOUT_WAITING, withRegularFile } from './own-file.ts';

// A program that writes into a pipe may first ask a person for a password.
const MAX_SILENCE_MS = 60_000;
const POLL_MS = 20;

/** The clock and signal for waiting on a pipe. */
export interface WaitOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a file or pipe, at most `maxBytes` bytes. Reads a pipe until its writer closes it or is silent for a minute. System errors
 * pass through.
 */
export async function readFileOrPipe(file: string, maxBytes: number, { clock, signal }: WaitOptions): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const options = { maxBytes, maxSilenceMs: MAX_SILENCE_MS, clock, signal };
  for await (const piece of piecesOf(file, options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

interface PieceOptions extends WaitOptions {
  /** The number of bytes to skip at the beginning of a file. */
  readonly from?: number | undefined;
  /** The maximum number of bytes to read. Default: all. */
  readonly maxBytes?: number | undefined;
  /** How long a pipe may be silent before it counts as ended. Default: until its writer closes it. */
  readonly maxSilenceMs?: number | undefined;
}

/**
 * Yields the bytes of a file or pipe in pieces. Reads without blocking, because a blocked read of a pipe without a writer would
 * keep the process alive forever. System errors pass through.
 */
export async function* piecesOf(
  file: string,
  { from = 0, maxBytes = Infinity, maxSilenceMs = Infinity, clock, signal }: PieceOptions,
): AsyncGenerator<Buffer> {
  const handle = await fs.promises.open(file, READ_WITHOUT_WAITING);
  try {
    const stats = await handle.stat();
    // A named pipe may not have a writer yet. An unnamed pipe, such as the pipe of `<(…)`, has its writer from the start.
    let mayLackWriter = stats.isFIFO() && (await hasName(file));
    let length = 0;
    let silentSince = clock.now();
    while (length < maxBytes) {
      signal?.throwIfAborted();
      const piece = await readNow(
        handle,
        Math.min(maxBytes - length, PIECE_BYTES),
        stats.isFile() ? from + length : null,
      );
      if (piece?.length === 0 && !mayLackWriter) return;
      mayLackWriter &&= piece?.length === 0;
      if (piece !== undefined && piece.length > 0) {
        length += piece.length;
        yield piece;
        silentSince = clock.now();
        continue;
      }
      if (clock.now() - silentSince >= maxSilenceMs) return;
      await clock.sleep(POLL_MS, signal);
    }
  } finally {
    await handle.close();
  }
}

const PIECE_BYTES = 65_536;

function hasName(pipe: string): Promise<boolean> {
  return fs.promises.realpath(pipe).then(
    () => true,
    () => false,
  );
}

/** Reads the bytes that are available now. Returns an empty buffer at the end, undefined if a pipe may still get bytes. */
async function readNow(
  handle: fs.promises.FileHandle,
  maxBytes: number,
  position: number | null,
): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(maxBytes);
  try {
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, position);
    return bytes.subarray(0, bytesRead);
  } catch (error) {
    if (systemCodeOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
}

/** The maximum size of svc's own files. A command would need too long to read a larger file. */
const MAX_OWN_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Reads the text of a regular file. Fails with `EFBIG` for a file larger than 64 MB, with `EISDIR` for a directory, and with
 * `EINVAL` for a pipe or device, which could block the command forever. `check` may refuse the file before the read.
 */
export function readRegularFileSync(file: string, check?: (stats: fs.Stats) => void): string {
  return withRegularFile(file, READ_WITHOUT_WAITING, MAX_OWN_FILE_BYTES, (at) => {
    check?.(fs.fstatSync(at));
    return fs.readFileSync(at, 'utf8');
  });
}

/** Reads the first bytes of a regular file. System errors pass through. */
export function readStartSync(file: string, maxBytes: number): Buffer {
  return withRegularFile(file, READ_WITHOUT_WAITING, Infinity, (at) => {
    const start = Buffer.alloc(maxBytes);
    return start.subarray(0, fs.readSync(at, start));
  });
}
