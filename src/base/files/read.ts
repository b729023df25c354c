import fs from 'node:fs';
import { systemCodeOf } from '../errors.ts';
import type { Clock } from '../system.ts';
import { READ_WITHOUT_WAITING, withRegularFile } from './own-file.ts';

// A person may have to unlock what writes into a pipe.
const LONGEST_SILENCE_MS = 60_000;
const POLL_MS = 20;

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
    let length = 0;
    let silentSince = clock.now();
    while (length < most) {
      signal?.throwIfAborted();
      const chunk = await readNow(handle, most - length);
      // A pipe that gave nothing yet may have no writer yet.
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
