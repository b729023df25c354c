import { constants, openSync } from 'node:fs';
import fs from 'node:fs/promises';
import net from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../clock.ts';
import { systemCodeOf } from '../system-code.ts';
import { writeFailure } from '../write-failure.ts';
import { fileSource } from './source.ts';
import type { Target } from './target.ts';

const POLL_MS = 100;

/** What waiting for the reader of a pipe needs. */
interface Host {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Copies a finished file into a named pipe or a device. @throws SvcError `local` when it cannot be written */
export async function copyInto({ kind, path }: Target, file: string, host: Host): Promise<void> {
  const output = kind === 'pipe' ? await openPipe(path, host) : await openDevice(path);
  try {
    await pipeline((await fileSource(file)).open(), output, { signal: host.signal });
  } catch (error) {
    host.signal.throwIfAborted();
    throw systemCodeOf(error) === undefined ? error : writeFailure(path, error);
  } finally {
    output.destroy();
  }
}

async function openDevice(path: string): Promise<Writable> {
  try {
    return (await fs.open(path, 'w')).createWriteStream();
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/**
 * Opens a named pipe once somebody reads from it. A plain open would block a thread until then, past every signal,
 * so this one tries again and again.
 */
async function openPipe(path: string, { clock, signal }: Host): Promise<Writable> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return new net.Socket({ fd, readable: false, writable: true });
    } catch (error) {
      if (systemCodeOf(error) !== 'ENXIO') throw writeFailure(path, error);
    }
    await clock.sleep(POLL_MS, signal);
  }
}
