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
 * Reads a file or pipe, at most `most` bytes. A pipe is read until its writer closes it or is silent for a minute. Reads
 * do not block: a pipe without a writer would otherwise keep a thread, and with it the process, alive forever.
 * System errors pass through.
 */
export async function readFileOrPipe(file: string, most: number, { clock, signal }: Waiting): Promise<Buffer> {
  const handle = await fs.promises.open(file, READ_WITHOUT_WAITING);
  try {
    const isPipe = (await handle.stat()).isFIFO();
    const chunks: Buffer[] = [];
    let length = 0;
    let silentSince = clock.now();
    while (length < most) {
      signal?.throwIfAborted();
      const chunk = await readNow(handle, most - length);
      // A pipe that is still empty may not have a writer yet.
      if (chunk?.length === 0 && !(isPipe && length === 0)) break;
      if (chunk !== undefined && chunk.length > 0) {
        chunks.push(chunk);
        length += chunk.length;
        silentSince = clock.now();
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

/** Reads the bytes available now: empty at the end, undefined if more may come. */
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

/** The size limit of files that svc keeps; a larger one would take a command too long to read. */
const LARGEST_KEPT = 64 * 1024 * 1024;

/**
 * Reads the text of a regular file. Anything else fails with `EISDIR` or `EINVAL`, because a pipe without a writer would
 * block the command forever. A file larger than 64 MB fails with `EFBIG`.
 */
export function readRegularFileSync(file: string): string {
  return withRegularFile(file, READ_WITHOUT_WAITING, LARGEST_KEPT, (at) => fs.readFileSync(at, 'utf8'));
}
