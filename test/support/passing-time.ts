import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import type { FakeClock } from './clock.ts';

/** Real pauses in a row, without a sign of work, after which everything that is left waits for the clock. */
const QUIET_PAUSES = 3;

/** What files, names, connections and other programs are at work on. */
const WORK = /^(FSReq|CloseReq|GetAddrInfo|TCPConnect|Process)/;

/**
 * Moves the clock to the next moment that somebody sleeps until, whenever nothing else is under way, until the work is
 * over. `activity` counts what cannot be seen from here, such as requests.
 */
export async function passTime<T>(clock: FakeClock, work: Promise<T>, activity: () => number): Promise<T> {
  const state = { isOver: false };
  const over = (): void => {
    state.isOver = true;
  };
  work.then(over, over);
  let seen = activity();
  let quiet = 0;
  while (!state.isOver) {
    await pause(1);
    await turn();
    const isActive = activity() !== seen || process.getActiveResourcesInfo().some((name) => WORK.test(name));
    seen = activity();
    quiet = isActive ? 0 : quiet + 1;
    if (quiet < QUIET_PAUSES) continue;
    clock.toNext();
    quiet = 0;
  }
  return work;
}
