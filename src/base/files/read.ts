import fs from 'node:fs';
import { systemCodeOf } from '../errors.ts';
import type { Clock } from '../system.ts';
import { READ_WITHOUT_WAITING, withRegularFile } from './own-file.ts';

// The program that writes into a pipe may wait for a person to unlock it.
const LONGEST_SILENCE_MS = 60_000;
const POLL_MS = 20;

/** The clock and signal for waiting on a pipe. */
export interface Waiting {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a file or pipe, at most `most` bytes. A pipe is read until its writer closes it or is silent for a minute. System
 * errors pass through.
 */
export async function readFileOrPipe(file: string, most: number, { clock, signal }: Waiting): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const options = { most, longestSilenceMs: LONGEST_SILENCE_MS, clock, signal };
  for await (const piece of piecesOf(file, options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

interface PieceOptions extends Waiting {
  /** The number of bytes of a file to leave out at the beginning. */
  readonly from?: number | undefined;
  /** The most bytes to read; all of them unless given. */
  readonly most?: number | undefined;
  /** How long a pipe may be silent before it counts as read; unless given, it is read until its writer closes it. */
  readonly longestSilenceMs?: number | undefined;
}

/**
 * Yields the bytes of a file or pipe in pieces. Reads do not block: a pipe without a writer would otherwise keep a thread,
 * and with it the process, alive forever, whatever signal comes. System errors pass through.
 */
export async function* piecesOf(
  file: string,
  { from = 0, most = Infinity, longestSilenceMs = Infinity, clock, signal }: PieceOptions,
): AsyncGenerator<Buffer> {
  const handle = await fs.promises.open(file, READ_WITHOUT_WAITING);
  try {
    const found = await handle.stat();
    // A pipe with a name may not have a writer yet; one without a name, such as that of `<(…)`, had it from the start.
    let isAwaited = found.isFIFO() && (await hasName(file));
    let length = 0;
    let silentSince = clock.now();
    while (length < most) {
      signal?.throwIfAborted();
      const piece = await readNow(handle, Math.min(most - length, PIECE), found.isFile() ? from + length : null);
      if (piece?.length === 0 && !isAwaited) return;
      isAwaited &&= piece?.length === 0;
      if (piece !== undefined && piece.length > 0) {
        length += piece.length;
        yield piece;
        silentSince = clock.now();
        continue;
      }
      if (clock.now() - silentSince >= longestSilenceMs) return;
      await clock.sleep(POLL_MS, signal);
    }
  } finally {
    await handle.close();
  }
}

const PIECE = 65_536;

function hasName(pipe: string): Promise<boolean> {
  return fs.promises.realpath(pipe).then(
    () => true,
    () => false,
  );
}

/** Reads the bytes available now, from a place in a file: empty at the end, undefined if more may come. */
async function readNow(
  handle: fs.promises.FileHandle,
  most: number,
  position: number | null,
): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(most);
  try {
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, position);
    return bytes.subarray(0, bytesRead);
  } catch (error) {
    if (systemCodeOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
}

/** The size limit of files that svc keeps; a larger one would take a command too long to read. */
const LARGEST_KEPT = 64 * 1024 * 1024;

/**
 * Reads the text of a regular file. Anything else fails with `EISDIR` or `EINVAL`, because a pipe without a writer would
 * block the command forever. A file larger than 64 MB fails with `EFBIG`. `check` may refuse the file before it is read.
 */
export function readRegularFileSync(file: string, check?: (found: fs.Stats) => void): string {
  return withRegularFile(file, READ_WITHOUT_WAITING, LARGEST_KEPT, (at) => {
    check?.(fs.fstatSync(at));
    return fs.readFileSync(at, 'utf8');
  });
}

/** Reads the first bytes of a regular file. System errors pass through. */
export function readStartSync(file: string, most: number): Buffer {
  return withRegularFile(file, READ_WITHOUT_WAITING, Infinity, (at) => {
    const start = Buffer.alloc(most);
    return start.subarray(0, fs.readSync(at, start));
  });
}
