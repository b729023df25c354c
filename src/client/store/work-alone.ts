// Runs the work of the only writer of a store.

import fs from 'node:fs';
import { writeFailure } from '../../base/errors.ts';
import { type LockHost, type LockOptions, withLock } from '../../base/files/lock.ts';
import type { Store } from './store.ts';

const LOCK_WAIT_MS = 2_000;

/**
 * Runs a writer's work while no other writer on this machine runs. The work directory is empty at the beginning and
 * removed at the end.
 * @throws SvcError `config` if another writer keeps the lock for 2 s, `local`
 */
export function workAlone<T>(
  { name, workDirectory }: Store,
  {
    noun,
    lock,
    onWithoutLinks,
  }: { readonly noun: string; readonly lock: string } & Pick<LockOptions, 'onWithoutLinks'>,
  host: LockHost,
  work: () => Promise<T>,
): Promise<T> {
  // A lock left from before a restart is ignored: even two writers could damage nothing, since each file is created only once.
  const options = { waitMs: LOCK_WAIT_MS, what: `the ${noun} ${name}`, endsAtRestart: true, onWithoutLinks };
  return withLock(lock, host, () => inDirectory(workDirectory, work), options);
}

async function inDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    // A killed writer may have left the directory.
    fs.rmSync(directory, { recursive: true, force: true });
    fs.mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    throw writeFailure(directory, error);
  }
  try {
    return await work();
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
