import type { Chance } from '../../support/chance.ts';
import { DAY, HOUR, JobList, KEPT, type NewJob, type Row, type Status } from './types.ts';

/** A job, and the truth about it. */
export interface Job extends NewJob {
  /** When the service removes the job if it has no file by then. */
  readonly removed: number;
  /** Minutes from the file to the end of the job. */
  readonly takes: number;
  readonly fails: boolean;
  /** From when on the service may not know the job any more. */
  readonly forgotten: number;
  accepted: number;
  rows: readonly Row[];
  cycle: string;
}

interface Upload {
  readonly cycle: string;
  readonly rows: readonly Row[];
  /** When the upload began. */
  readonly began: number;
}

interface Weather {
  readonly now: () => number;
  readonly isCalm: () => boolean;
  readonly random: Chance;
  readonly lag: () => number;
  readonly omits: boolean;
  readonly takesLateFiles: boolean;
  readonly billsFailures: boolean;
  readonly forgetsEarly: boolean;
  readonly onAccepted: (job: Job) => void;
}

/** A service with jobs. Its reads and lists may show an earlier moment. */
export class Service {
  readonly jobs = new Map<string, Job>();
  readonly #weather: Weather;

  constructor(weather: Weather) {
    this.#weather = weather;
  }

  post(): NewJob {
    const { random, isCalm, forgetsEarly } = this.#weather;
    const now = this.#weather.now();
    const job: Job = {
      id: `job-${this.jobs.size + 1}`,
      created: now,
      expires: now + HOUR,
      removed: now + HOUR + random.between(0, 9),
      takes: random.happens(0.3) ? random.between(0, 29) : random.between(0, 3 * DAY - 1),
      fails: !isCalm() && random.happens(0.15),
      forgotten: now + (forgetsEarly ? DAY : KEPT + 1) + random.between(0, 3 * DAY - 1),
      accepted: Infinity,
      rows: [],
      cycle: '',
    };
    this.jobs.set(job.id, job);
    return { id: job.id, created: job.created, expires: job.expires };
  }

  read(id: string): Status | 'missing' {
    const job = this.jobs.get(id);
    return (job && this.#statusAt(job, this.#weather.now() - this.#weather.lag())) ?? 'missing';
  }

  /** Lists the jobs, newest first. A job of the same moment as the one before it may be lost between two pages. */
  list(size: number): JobList {
    const { now, lag, isCalm, omits, random } = this.#weather;
    const at = now() - lag();
    const all = [...this.jobs.values()].filter((job) => this.#statusAt(job, at)).toReversed();
    const isLost = (job: Job, place: number): boolean =>
      !isCalm() && place > 0 && place % size === 0 && all[place - 1]?.created === job.created;
    const listed = new JobList();
    for (const [place, job] of all.entries()) {
      const status = this.#statusAt(job, at);
      if (place > 0 && place % size === 0) {
        const [last, first] = [all[place - 1], isLost(job, place) ? all[place + 1] : job];
        listed.borders.push({
          ids: [last?.id ?? '', first?.id ?? ''],
          last: last?.created ?? Infinity,
          first: first?.created ?? -Infinity,
        });
      }
      listed.pages.set(job.id, Math.floor(place / size));
      if (status && !isLost(job, place) && !(omits && random.happens(1 / 4))) listed.set(job.id, status);
    }
    listed.pages.set('', Math.floor((all.length - 1) / size));
    return listed;
  }

  /** Takes a file. All bytes have arrived; the address was checked when the upload began. */
  put(id: string, { cycle, rows, began }: Upload, onSecond: () => void): 'stored' | 'refused' {
    const { takesLateFiles, onAccepted } = this.#weather;
    const now = this.#weather.now();
    const job = this.jobs.get(id);
    if (job === undefined || began >= job.expires) return 'refused';
    if (job.accepted <= now) onSecond();
    if ((job.removed <= now && !takesLateFiles) || job.accepted <= now) return 'refused';
    job.accepted = now;
    job.rows = rows;
    job.cycle = cycle;
    onAccepted(job);
    return 'stored';
  }

  /** Tells whether the rows of a job are or will be paid for. */
  isPaid(job: Job): boolean {
    const { now, billsFailures } = this.#weather;
    const hasFailed = job.fails && job.accepted + job.takes <= now();
    return job.accepted !== Infinity && !(hasFailed && !billsFailures);
  }

  /** Returns the status of a job at a moment; undefined if the service does not know the job then. */
  #statusAt(job: Job, at: number): Status | undefined {
    if (job.created > at) return undefined;
    if (job.accepted > at) return job.removed <= at ? undefined : 'pending';
    const ended = job.accepted + job.takes;
    if (at >= Math.max(job.forgotten, ended + DAY)) return undefined;
    if (at < ended) return 'processing';
    return job.fails ? 'failed' : 'completed';
  }
}
