import path from 'node:path';
import { isLocked } from '../../base/files/lock.ts';
import type { Clock, System } from '../../base/system.ts';
import type { Store } from '../../client/store/store.ts';

/** How a verification waits for a commit that another process may be making. */
export interface CommitWait {
  readonly clock: Clock;
  /** Whether a writer may be at work. */
  readonly mayBeWritten: () => boolean;
}

/** The longest wait, enough for the index of a large commit to reach a slow bucket. */
const LONGEST_MS = 30_000;
const PAUSE_MS = 500;

/** Returns how to wait for a commit to an archive: not at all while nobody has the lock of its directory. */
export function commitWait(
  { clock, system }: { readonly clock: Clock; readonly system: Pick<System, 'pid' | 'isAlive'> },
  store: Store,
): CommitWait {
  // The lock of a bucket shows only the writers on this machine.
  return { clock, mayBeWritten: () => store.isRemote || isLocked(path.join(store.name, '.lock'), system) };
}

/** Repeats `isDone`, which reads the archive again, until it is done or nobody is left who could commit. */
export async function awaitCommit(
  { clock, mayBeWritten }: CommitWait,
  signal: AbortSignal | undefined,
  isDone: () => Promise<boolean>,
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    // A writer that ended before this moment has committed before `isDone` reads.
    const isLast = waitedMs >= LONGEST_MS || !mayBeWritten();
    if ((await isDone()) || isLast) return;
    await clock.sleep(PAUSE_MS, signal);
  }
}
