import { Tally, type TallyLine, wholeSecond } from './entry.ts';

/** How far a tail has got. All times in epoch milliseconds, by the service's clock. */
export interface TailPosition {
  /** All entries from before this time have been passed on. */
  readonly settled: number;
  /** The log was read up to here; late entries from before may still come. */
  readonly readTo: number;
  /** The time of the newest entry met. */
  readonly newest: number | undefined;
  /** The entries since `settled` that have been passed on. */
  readonly passed: readonly TallyLine[];
}

/** The position of a tail that begins at a time. */
export function beginAt(time: number): TailPosition {
  return { settled: time, readTo: time, newest: undefined, passed: [] };
}

/** The position once it is known that nothing from before a time, in epoch milliseconds, will come any more. */
export function settledBefore(position: TailPosition, time: number): TailPosition {
  const settled = wholeSecond(time);
  if (position.settled >= settled) return position;
  const passed = position.passed.filter(([, at]) => at >= settled);
  return { ...position, settled, readTo: Math.max(position.readTo, settled), passed };
}

/** A position as it moves. Its size is bounded by what is created within the overlap. */
export class TailState {
  settled: number;
  readTo: number;
  newest: number | undefined;
  readonly passed: Tally;

  constructor({ settled, readTo, newest, passed }: TailPosition) {
    this.settled = settled;
    this.readTo = readTo;
    this.newest = newest;
    this.passed = new Tally(passed);
  }

  /** Forgets the entries from before this time: all of them have been passed on. */
  settle(time: number): void {
    if (time <= this.settled) return;
    this.settled = time;
    this.passed.forgetBefore(time);
  }

  position(): TailPosition {
    const { settled, readTo, newest, passed } = this;
    return { settled, readTo, newest, passed: passed.lines() };
  }
}
