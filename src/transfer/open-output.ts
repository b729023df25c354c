import { constants, openSync } from 'node:fs';
import fs from 'node:fs/promises';
import net from 'node:net';
import type { Writable } from 'node:stream';
import { writeFailure } from '../write-failure.ts';
import type { Clock } from '../clock.ts';
import { systemCodeOf } from '../system-code.ts';

const LOOK_MS = 100;

/** Opens a device for writing. */
export async function openDevice(path: string): Promise<Writable> {
  try {
    return (await fs.open(path, 'w')).createWriteStream();
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/**
 * Opens a named pipe once somebody reads from it. A plain open would block a thread until then, past every signal,
 * so this one looks now and again.
 */
export async function openPipe(
  path: string,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<Writable> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return new net.Socket({ fd, readable: false, writable: true });
    } catch (error) {
      if (systemCodeOf(error) !== 'ENXIO') throw writeFailure(path, error);
    }
    await clock.sleep(LOOK_MS, signal);
  }
}
