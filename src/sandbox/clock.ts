import { prepareDirectory, statePaths } from './state/directory.ts';
import { SandboxState } from './state/state.ts';

/** How to move a sandbox's clock: by some milliseconds, to a time, or back to the machine's. */
export type ClockMove = { readonly by: number } | { readonly to: number } | 'reset';

/** A sandbox's time before and after, in milliseconds since the epoch. */
export interface ClockMoved {
  readonly before: number;
  readonly after: number;
  /** How far it is ahead of the machine's clock now. */
  readonly ahead: number;
}

/**
 * Moves the clock of every sandbox on a state directory, or only reads it. Uploads expire, jobs finish, logs age and
 * sessions end as if the time had passed.
 */
export function moveClock(directory: string, realNow: () => number, move?: ClockMove): ClockMoved {
  const paths = statePaths(directory);
  prepareDirectory(paths);
  const state = new SandboxState(paths, {}, realNow);
  try {
    const real = realNow();
    const offset = state.world.clockOffset;
    const before = real + offset;
    const ahead = move === undefined ? offset : offsetAfter(move, offset, real);
    if (ahead !== offset) state.record({ type: 'clock', at: before, offset: ahead });
    return { before, after: real + ahead, ahead };
  } finally {
    state.close();
  }
}

function offsetAfter(move: ClockMove, offset: number, real: number): number {
  if (move === 'reset') return 0;
  return 'by' in move ? offset + move.by : move.to - real;
}
