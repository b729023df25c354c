import { parseTime } from '../../cli/output/time.ts';
import type { Log } from '../../schema/log.ts';
import { bucketOf, type Interval, LogCounts } from '../count.ts';
import type { OwnReads } from '../follow/own-reads.ts';
import { ChangeCounts } from '../review/change-counts.ts';
import { countFindings } from '../review/count-findings.ts';
import { DeletedEntities, type DeletedEntity } from '../review/deleted.ts';
import type { Findings } from '../review/parts.ts';
import type { PastActors } from './past-actors.ts';

/** What a shift shows beside its counts. No actor is called new without an archive. */
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

/** What the entries of a shift are compared with. */
interface Comparison {
  /** The reads that are counted apart, or left out. */
  readonly own: OwnReads | undefined;
  readonly hidesOwn: boolean;
  readonly past: PastActors | undefined;
}

/** Counts the entries of a shift, in any order and in constant memory. */
export class ShiftCounts {
  readonly all = new LogCounts();
  readonly #own: OwnReads | undefined;
  readonly #hidesOwn: boolean;
  readonly #past: PastActors | undefined;
  readonly #rest = new LogCounts();
  readonly #changes = new ChangeCounts();
  readonly #deleted = new DeletedEntities();

  constructor({ own, hidesOwn, past }: Comparison) {
    this.#own = own;
    this.#hidesOwn = hidesOwn;
    this.#past = past;
  }

  add(log: Log): void {
    const isOwn = this.#own !== undefined && !this.#own.shows(log);
    if (isOwn && this.#hidesOwn) return;
    this.all.add(log);
    if (!isOwn && this.#own !== undefined) this.#rest.add(log);
    const at = parseTime(log.created_at);
    this.#changes.add(log, bucketOf(at));
    this.#deleted.add(log);
    if (at !== undefined) this.#past?.seen.add(log, bucketOf(at), true);
  }

  /** Returns the own reads that were counted, if there are any. */
  share(): OwnShare | undefined {
    if (this.#own === undefined || this.#hidesOwn || this.#own.count === 0) return undefined;
    return { sample: this.#own.sample, count: this.#own.count, rest: this.#rest };
  }

  findings(): ShiftFindings {
    const past = this.#past;
    const rows = {
      ...this.#changes.rows(),
      new_actors: past?.isLong ? past.seen.news() : null,
      new_operations: null,
      past_days: past?.days ?? 0,
    };
    return { ...rows, ...countFindings(rows), deleted: this.#deleted.list() };
  }
}

/** The entries of the service in a time, as far as they were read. */
export interface Shift {
  readonly counts: LogCounts;
  readonly findings: ShiftFindings;
  /** Undefined where nothing shows which reads are this key's own. */
  readonly own: OwnShare | undefined;
  /** Whether the actors were compared with those of an archive. */
  readonly hasPast: boolean;
  /** The requested time, and the part of it that was read: the newest one. */
  readonly requested: Interval;
  readonly interval: Interval;
  /** The time of the oldest entry that was read; infinite without any. */
  readonly oldest: number;
  /** The service's time at the end. */
  readonly now: number;
  readonly tenantId: string | undefined;
}
