import { parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { bucketOf, type Interval, LogCounts } from '../count.ts';
import type { OwnReads } from '../follow/own-reads.ts';
import { ChangeCounts } from '../review/change-counts.ts';
import { countFindings } from '../review/count-findings.ts';
import { DeletedEntities, type DeletedEntity } from '../review/deleted.ts';
import type { Findings } from '../review/parts.ts';

/** What a shift shows beside its counts. Nothing is called new without an archive. */
export interface ShiftFindings extends Findings {
  /** The first thousand deletions. */
  readonly deleted: readonly DeletedEntity[];
}

/** The reads of the logs by the application of this key, and all other entries. */
export interface OwnShare {
  /** One of the reads, which says who the actor is. */
  readonly sample: Log;
  readonly count: number;
  readonly rest: LogCounts;
}

/** Counts the entries of a shift, in any order and in constant memory. */
export class ShiftCounts {
  readonly all = new LogCounts();
  readonly #own: OwnReads | undefined;
  readonly #hidesOwn: boolean;
  readonly #rest = new LogCounts();
  readonly #changes = new ChangeCounts();
  readonly #deleted = new DeletedEntities();

  /** `own` are the reads that are counted apart, or left out. */
  constructor(own: OwnReads | undefined, hidesOwn: boolean) {
    this.#own = own;
    this.#hidesOwn = hidesOwn;
  }

  add(log: Log): void {
    const isOwn = this.#own !== undefined && !this.#own.shows(log);
    if (isOwn && this.#hidesOwn) return;
    this.all.add(log);
    if (!isOwn && this.#own !== undefined) this.#rest.add(log);
    this.#changes.add(log, bucketOf(parseTime(log.created_at)));
    this.#deleted.add(log);
  }

  /** Returns the own reads that were counted, if there are any. */
  share(): OwnShare | undefined {
    if (this.#own === undefined || this.#hidesOwn || this.#own.count === 0) return undefined;
    return { sample: this.#own.sample, count: this.#own.count, rest: this.#rest };
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
  /** Undefined where nothing shows which reads are this key's own. */
  readonly own: OwnShare | undefined;
  /** The requested time, and the part of it that was read: the newest one. */
  readonly requested: Interval;
  readonly interval: Interval;
  /** The time of the oldest entry that was read; infinite without any. */
  readonly oldest: number;
  /** The service's time at the end. */
  readonly now: number;
  readonly tenantId: string | undefined;
}
