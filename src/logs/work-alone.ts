import { isHeld } from '../base/files/lock.ts';

/** Runs work while a lock keeps other processes out. */
type Lock<T> = (work: () => Promise<T>) => Promise<T>;

/**
 * Runs work on an archive or a checkpoint under its lock.
 * @throws SvcError `pending` if a living process has the lock, `config` if svc cannot tell whether its owner still runs
 */
export async function workAlone<T>(lock: Lock<T>, work: () => Promise<T>): Promise<T> {
  let isOurs = false;
  try {
    return await lock(() => {
      isOurs = true;
      return work();
    });
  } catch (error) {
    // The work may fail at the lock of another file, which says nothing about this one.
    throw !isOurs && isHeld(error) ? error.with({ code: 'pending' }) : error;
  }
}
