import fs from 'node:fs';
import path from 'node:path';
import { systemCodeOf, writeFailure } from '../../errors.ts';
import { type LockHost, withLock } from '../../files/lock.ts';
import { syncDirectory } from '../../files/target.ts';

const LOCK_WAIT_MS = 2_000;

/** A writer's lock, and its private directory: empty at the beginning, removed at the end. */
export interface WorkDirectory {
  readonly name: string;
  readonly lock: string;
  readonly directory: string;
  readonly host: LockHost;
}

/** Runs a writer's work while no other one on this machine does. @throws SvcError `config` when one does for 2 s, `local` */
export function workAlone<T>({ name, lock, directory, host }: WorkDirectory, work: () => Promise<T>): Promise<T> {
  const options = { waitMs: LOCK_WAIT_MS, what: `the archive ${name}` };
  return withLock(lock, host, () => inDirectory(directory, work), options);
}

async function inDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    // A killed writer may have left it.
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

/** Makes and flushes directories, owner only, one by one: recursive mkdir can spin forever on an impossible one. */
export function makeDirectories(top: string, directory: string): void {
  if (fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = path.dirname(directory);
  if (parent !== directory && directory !== top) makeDirectories(top, parent);
  try {
    fs.mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST' || !fs.statSync(directory).isDirectory()) throw error;
  }
  syncDirectory(parent);
}
