import { Tally, type TallyLine } from './tally.ts';

/** Where a tail stands. All times in epoch milliseconds, by the service's clock. */
export interface Standing {
  /** Everything before this time is done with. */
  readonly settled: number;
  /** Up to here the log has been read; what comes late from before is still looked for. */
  readonly readTo: number;
  /** The time of the newest entry met. */
  readonly newest: number | undefined;
  /** The entries from `settled` on that have been passed on. */
  readonly passed: readonly TallyLine[];
}

/** The standing of a tail that begins at a time. */
export function beginAt(time: number): Standing {
  return { settled: time, readTo: time, newest: undefined, passed: [] };
}

/** Where a tail stands, as it changes. Its size is bounded by what happens within the overlap. */
export class TailState {
  settled: number;
  readTo: number;
  newest: number | undefined;
  readonly passed: Tally;

  constructor({ settled, readTo, newest, passed }: Standing) {
    this.settled = settled;
    this.readTo = readTo;
    this.newest = newest;
    this.passed = new Tally(passed);
  }

  /** Is done with everything before this time. */
  settle(time: number): void {
    if (time <= this.settled) return;
    this.settled = time;
    this.passed.forgetBefore(time);
  }

  standing(): Standing {
    const { settled, readTo, newest, passed } = this;
    return { settled, readTo, newest, passed: passed.lines() };
  }
}
