import { isoTime } from '../../../cli/output/time.ts';
import { TOLERATED_CLOCK_MS } from '../../../client/http/request.ts';
import type { RecordContent } from './record.ts';

/** The time of writing a record, by the service's clock, and the difference of the machine's clock. */
export type Stamp = Pick<RecordContent, 'written_at' | 'clock_ahead_ms'>;

/** Returns what a record says of the time of its writing. `now` is the service's time in epoch milliseconds. */
export function stampOf(now: number, machineAheadMs: number): Stamp {
  const written_at = isoTime(now);
  return Math.abs(machineAheadMs) <= TOLERATED_CLOCK_MS
    ? { written_at }
    : { written_at, clock_ahead_ms: machineAheadMs };
}

/** The records that were written while a machine's clock was ahead of the service's, or behind it. */
export interface ClockDifference {
  readonly direction: 'ahead of' | 'behind';
  records: number;
  /** The largest difference. */
  mostMs: number;
  /** When the first and the last of these records were written, by the service's clock. */
  readonly from: string;
  to: string;
}

/** Collects the differences between clocks that records mention. */
export class ClockDifferences {
  readonly #found = new Map<string, ClockDifference>();

  add({ written_at: at, clock_ahead_ms: aheadMs = 0 }: Stamp): void {
    if (aheadMs === 0) return;
    const direction = aheadMs > 0 ? 'ahead of' : 'behind';
    const found = this.#found.get(direction) ?? { direction, records: 0, mostMs: 0, from: at, to: at };
    found.records += 1;
    found.mostMs = Math.max(found.mostMs, Math.abs(aheadMs));
    found.to = at;
    this.#found.set(direction, found);
  }

  /** Returns at most one difference for each direction. */
  all(): ClockDifference[] {
    return [...this.#found.values()];
  }
}
