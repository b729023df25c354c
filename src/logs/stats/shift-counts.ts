import { parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { bucketOf, type Interval, LogCounts } from '../count.ts';
import { ChangeCounts } from '../review/change-counts.ts';
import { countFindings, type DayCounts } from '../review/count-findings.ts';
import type { DayFindings } from '../review/review.ts';

/** What a shift shows beside its counts. Nothing is called new without an archive. */
export type ShiftFindings = Pick<DayFindings, 'deletions' | 'changes' | 'new_actors' | 'new_operations' | 'past_days'> &
  DayCounts;

/** Counts the entries of a shift, in any order and in constant memory. */
export class ShiftCounts {
  readonly all = new LogCounts();
  readonly #changes = new ChangeCounts();

  add(log: Log): void {
    this.all.add(log);
    this.#changes.add(log, bucketOf(parseTime(log.created_at)));
  }

  findings(): ShiftFindings {
    const rows = { ...this.#changes.rows(), new_actors: null, new_operations: null, past_days: 0 };
    return { ...rows, ...countFindings(rows) };
  }
}

/** The entries of the service in a time, as far as they were read. */
export interface Shift {
  readonly counts: LogCounts;
  readonly findings: ShiftFindings;
  /** The requested time, and the part of it that was read: the newest one. */
  readonly requested: Interval;
  readonly interval: Interval;
  /** The time of the oldest entry that was read; infinite without any. */
  readonly oldest: number;
  /** The service's time at the end. */
  readonly now: number;
  readonly tenantId: string | undefined;
}
