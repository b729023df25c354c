import path from 'node:path';
import { SvcError } from './errors.ts';
import { releaseLock, tryLock, type LockHost } from './lock-file.ts';
import { herePlace, readOwner } from './lock-owner.ts';

export type { LockHost } from './lock-file.ts';

/** How long to wait for a lock, in milliseconds, and what to call the thing it guards in an error. */
export interface LockOptions {
  readonly waitMs?: number | undefined;
  readonly what?: string | undefined;
}

const DEFAULT_WAIT_MS = 10_000;
const LONGEST_PAUSE_MS = 60;

/**
 * Runs `work` while holding the lock file `file`, in a directory that exists. Waits in short pauses while a living
 * process holds it; takes over from a dead one (kill -9) so that exactly one taker wins. Throws `SvcError` `config`
 * naming the holder when `waitMs` (10 s) is over, `local` when the lock cannot be written, or the signal's reason.
 * Locks left by another machine or container are never taken over: nobody here can tell whether it lives.
 */
export async function withLock<T>(
  file: string,
  host: LockHost,
  work: () => Promise<T> | T,
  options: LockOptions = {},
): Promise<T> {
  const token = await acquire(file, host, options);
  try {
    return await work();
  } finally {
    releaseLock(file, token);
  }
}

async function acquire(file: string, host: LockHost, options: LockOptions): Promise<string> {
  const waitMs = options.waitMs ?? DEFAULT_WAIT_MS;
  for (let waited = 0; ;) {
    host.signal.throwIfAborted();
    const token = tryLock(file, host);
    if (token !== undefined) return token;
    if (waited >= waitMs) throw heldError(file, options.what ?? path.basename(file), host);
    const pause = 5 + Math.random() * (LONGEST_PAUSE_MS - 5);
    await host.clock.sleep(pause, host.signal);
    waited += pause;
  }
}

function heldError(file: string, what: string, host: LockHost): SvcError {
  const owner = readOwner(file);
  const elsewhere =
    owner !== undefined && owner.place !== herePlace() ? ' on another machine or container' : '';
  const who = owner ? `process ${owner.pid}${elsewhere} since ${owner.since}` : 'an unknown process';
  const hint =
    owner && !elsewhere && host.isAlive(owner.pid)
      ? `Let process ${owner.pid} end, then run the command again.`
      : `If no svc runs there any more, delete ${file} and run the command again.`;
  return new SvcError('config', `${what} is locked by ${who}`, { hint, retryable: true });
}
