import { createHash } from 'node:crypto';
import { constants, openSync } from 'node:fs';
import fs from 'node:fs/promises';
import net from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemCodeOf, writeFailure } from '../errors.ts';
import type { Clock } from '../system.ts';
import type { Version } from './receive.ts';
import { fileSource } from './source.ts';
import type { Target } from './target.ts';

/** Where a download goes. */
export interface Sink {
  /** Bytes that it holds. */
  readonly length: number;
  /** Of what those bytes are the beginning; undefined when they cannot be continued. */
  readonly version: Version | undefined;
  readonly digests: Digests;
  /** Makes ready to go on where it stands. */
  resume(): Promise<void>;
  /** Forgets what it holds and starts again. */
  begin(version: Version | undefined): void;
  /** Writes at once: the connection is not held back while a piece waits. */
  write(piece: Uint8Array): void;
}

/** The running hashes of what a sink holds. */
export class Digests {
  readonly #sha256 = createHash('sha256');
  readonly #md5 = createHash('md5');

  update(piece: Uint8Array): void {
    this.#sha256.update(piece);
    this.#md5.update(piece);
  }

  /** Hex, so far. */
  sha256(): string {
    return this.#sha256.copy().digest('hex');
  }

  /** Hex, so far; many stores give it as the ETag. */
  md5(): string {
    return this.#md5.copy().digest('hex');
  }
}

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
