import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { systemCodeOf, writeFailure } from '../errors.ts';

/** How an atomic file is made. `mode` is set exactly, whatever the umask; 0600 unless told otherwise. */
export interface AtomicFileOptions {
  readonly mode?: number | undefined;
}

/** The file calls that a write needs; tests put a failing one in its place. */
export type WriteCalls = Pick<
  typeof fs,
  'openSync' | 'fchmodSync' | 'writeSync' | 'fsyncSync' | 'closeSync' | 'renameSync' | 'unlinkSync'
>;

const OWNER_ONLY = 0o600;

/**
 * Replaces a file so that a reader, and a machine that loses its power, sees the old or the new content, never
 * another. The directory must exist; a symlink at `file` is replaced, not followed. Throws `SvcError` `local` and
 * leaves the old file as it was. Synchronous: meant for small files.
 */
export function writeFileAtomicSync(
  file: string,
  data: string | Uint8Array,
  options: AtomicFileOptions = {},
  calls: WriteCalls = fs,
): void {
  const temporary = temporaryName(file);
  try {
    writeFully(temporary, bytesOf(data), options.mode ?? OWNER_ONLY, calls);
    calls.renameSync(temporary, file);
  } catch (error) {
    removeQuietly(temporary, calls);
    throw writeFailure(file, error);
  }
  syncDirectory(path.dirname(file), calls);
}

/** The same without holding up the event loop; for larger files. */
export async function writeFileAtomic(
  file: string,
  data: string | Uint8Array,
  options: AtomicFileOptions = {},
): Promise<void> {
  const temporary = temporaryName(file);
  try {
    const handle = await fs.promises.open(temporary, 'wx', OWNER_ONLY);
    try {
      await handle.chmod(options.mode ?? OWNER_ONLY);
      const bytes = bytesOf(data);
      for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten;
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fs.promises.rename(temporary, file);
  } catch (error) {
    removeQuietly(temporary, fs);
    throw writeFailure(file, error);
  }
  syncDirectory(path.dirname(file), fs);
}

/**
 * Removes temporary files that killed writers of `file` left beside it. Only for a caller that holds the lock which
 * all writers of `file` take: another writer's live temporary file looks the same.
 */
export function removeOrphanedTemporaries(file: string): void {
  const prefix = temporaryPrefix(file);
  for (const name of fs.readdirSync(path.dirname(file)))
    if (name.startsWith(prefix) && ORPHAN_SUFFIX.test(name.slice(prefix.length)))
      removeQuietly(path.join(path.dirname(file), name), fs);
}

const ORPHAN_SUFFIX = /^[0-9a-f]{16}\.tmp$/;

function writeFully(file: string, bytes: Uint8Array, mode: number, calls: WriteCalls): void {
  const descriptor = calls.openSync(file, 'wx', OWNER_ONLY);
  try {
    calls.fchmodSync(descriptor, mode);
    // A nearly full disk takes a part and says so; only the next write fails.
    for (let at = 0; at < bytes.length;) at += calls.writeSync(descriptor, bytes, at);
    calls.fsyncSync(descriptor);
  } finally {
    calls.closeSync(descriptor);
  }
}

// Makes the rename itself durable. Not every file system (nor Windows) lets a directory be synced; the new
// content is in place by then, so that is no failure.
function syncDirectory(directory: string, calls: WriteCalls): void {
  try {
    const descriptor = calls.openSync(directory, 'r');
    try {
      calls.fsyncSync(descriptor);
    } finally {
      calls.closeSync(descriptor);
    }
  } catch (error) {
    if (systemCodeOf(error) === 'EIO') throw writeFailure(directory, error);
  }
}

function temporaryPrefix(file: string): string {
  return `.${path.basename(file)}.`;
}

function temporaryName(file: string): string {
  return path.join(path.dirname(file), `${temporaryPrefix(file)}${randomBytes(8).toString('hex')}.tmp`);
}

function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
}

function removeQuietly(file: string, calls: Pick<WriteCalls, 'unlinkSync'>): void {
  try {
    calls.unlinkSync(file);
  } catch {
    // It was never made, or is gone already.
  }
}
