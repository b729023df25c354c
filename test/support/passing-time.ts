import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import type { FakeClock } from './clock.ts';

/** The number of real pauses in a row without a sign of work, after which everything under way waits for the clock. */
const QUIET_PAUSES = 3;

/** Resources of Node that are signs of work on files, host names, connections and child processes. */
const WORK = /^(FSReq|CloseReq|GetAddrInfo|TCPConnect|Process)/;

/**
 * Waits for work to end. Whenever nothing but sleep is under way, it moves the clock to the moment at which the next
 * sleeper is due. `activity` counts what this process does not show, such as requests.
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
