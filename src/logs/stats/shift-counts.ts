import { parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { bucketOf, type Interval, LogCounts } from '../count.ts';
import { ChangeCounts } from '../review/change-counts.ts';
import { countFindings } from '../review/count-findings.ts';
import { DeletedEntities, type DeletedEntity } from '../review/deleted.ts';
import type { Findings } from '../review/parts.ts';

/** What a shift shows beside its counts. Nothing is called new without an archive. */
export interface ShiftFindings extends Findings {
  /** The first thousand deletions. */
  readonly deleted: readonly DeletedEntity[];
}

/** Counts the entries of a shift, in any order and in constant memory. */
export class ShiftCounts {
  readonly all = new LogCounts();
  readonly #changes = new ChangeCounts();
  readonly #deleted = new DeletedEntities();

  add(log: Log): void {
    this.all.add(log);
    this.#changes.add(log, bucketOf(parseTime(log.created_at)));
    this.#deleted.add(log);
  }

  findings(): ShiftFindings {
    const rows = { ...this.#changes.rows(), new_actors: null, new_operations: null, past_days: 0 };
    return { ...rows, ...countFindings(rows), deleted: this.#deleted.list() };
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
