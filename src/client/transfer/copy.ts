// Copies a finished file into a named pipe or a device.

import fs from 'node:fs';
import net from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemCodeOf, writeFailure } from '../../base/errors.ts';
import type { Target } from '../../base/files/target.ts';
import type { Clock } from '../../base/system.ts';
import { fileSource } from './source.ts';

interface Host {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Copies a file. @throws SvcError `local` if the file cannot be read or the target cannot be written */
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

/** Waits until a reader opens a named pipe, then opens the pipe. A blocking open would ignore signals, so this function polls. */
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
