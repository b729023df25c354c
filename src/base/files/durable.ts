import fs from 'node:fs';
import os from 'node:os';
import { systemCodeOf, wrongSize } from '../errors.ts';

/** Creates a file and returns when its content is on the disk. */
export function writeFlushed(file: string, data: string | Uint8Array, mode = 0o600): void {
  const descriptor = fs.openSync(file, 'wx', 0o600);
  try {
    fs.fchmodSync(descriptor, mode);
    fs.writeFileSync(descriptor, data);
    fs.fsyncSync(descriptor);
    const [{ size }, bytes] = [fs.fstatSync(descriptor), Buffer.byteLength(data)];
    if (size !== bytes) throw wrongSize(file, size, bytes);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Copies a file and returns when the copy is on the disk. */
export function copyFlushed(from: string, to: string): void {
  fs.copyFileSync(from, to);
  flush(to);
}

function flush(file: string): void {
  const descriptor = fs.openSync(file, 'r+');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Flushes the names in a directory to the disk. Ignores file systems that cannot flush directories. */
export function syncDirectory(directory: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = fs.openSync(directory, 'r');
    fs.fsyncSync(descriptor);
  } catch (error) {
    if (systemCodeOf(error) === 'EIO') throw error;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

const BUSY: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'EBUSY']);
const MAX_PAUSE_MS = 640;

/**
 * Calls `change`, which renames, links or removes a file. On Windows, retries for a second: Windows refuses the change while
 * a virus scanner, an indexer or a reader has the file open.
 */
export function whileBusy<T>(change: () => T, platform = os.platform(), pause = sleep): T {
  for (let ms = 10; ; ms *= 2) {
    try {
      return change();
    } catch (error) {
      if (platform !== 'win32' || ms > MAX_PAUSE_MS || !BUSY.has(systemCodeOf(error) ?? '')) throw error;
      pause(ms);
    }
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
