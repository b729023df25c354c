import fs from 'node:fs';
import { type LockHost, withLock } from '../lock.ts';
import { writeFailure } from '../write-failure.ts';

const LOCK_WAIT_MS = 2_000;

/** A writer's lock, and the private directory that it works in: empty at its beginning, gone at its end. */
export interface Workplace {
  /** The archive, for messages. */
  readonly name: string;
  readonly lock: string;
  readonly directory: string;
  readonly host: LockHost;
}

/** Does a writer's work while no other one on this machine does. @throws SvcError `config` when it does for 2 s, `local` */
export function workAlone<T>({ name, lock, directory, host }: Workplace, work: () => Promise<T>): Promise<T> {
  const options = { waitMs: LOCK_WAIT_MS, what: `the archive ${name}` };
  return withLock(lock, host, () => inDirectory(directory, work), options);
}

async function inDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    // What a killed writer left.
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
