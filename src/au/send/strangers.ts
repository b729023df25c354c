import { isSvcError, SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/time.ts';
import { pollUntil } from '../../client/api/poll.ts';
import { exactMembers } from '../../base/json/exact.ts';
import type { AccountUpdaterJob, ListedJob } from '../../schema/account-updater.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';
import { nameOf } from '../run/job.ts';
import { MISSING_MS } from '../run/part.ts';
import type { RunWork } from '../run/poll-parts.ts';
import type { RunRecord } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { applyToRun } from '../run/run.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** The time after a request for a job within which the job may have been created. */
const CREATION_MS = 10 * MINUTE_MS;

/** How far before the newest listed job to look for jobs that the ledger does not know. */
const UNKNOWN_MS = 30 * DAY_MS;

/** The largest age of a job that the service has just created. */
const NEW_MS = 10 * MINUTE_MS;

const OUTSIDE_THE_LEDGER = 'a machine that does not use this ledger';
const BEFORE_THE_LEDGER = 'another state directory, since this ledger is new';

type CheckedRun = Pick<RunDirectory, 'record' | 'save' | 'name' | 'resumeWords' | 'submitWords'>;
type JobsLedger = Pick<CommandLedger, 'isShared' | 'open'>;

/**
 * Compares the service's jobs with the ledger before the first upload of a run. A ledger that was restored from an older
 * copy lacks later submissions, but the service knows them.
 */
export class Strangers {
  readonly #run: CheckedRun;
  readonly #others: readonly RunRecord[];
  readonly #ledger: JobsLedger;
  /** Whether an empty ledger may begin although the key has jobs. */
  readonly #begin: boolean;
  /** Times since which a part may have an unknown job, because a request got no response or the record was restored. */
  readonly #unclearSince: readonly number[];
  #compared: Promise<void> | undefined;

  /** `others` are the records of all other runs on this machine. */
  constructor(run: CheckedRun, others: readonly RunRecord[], ledger: JobsLedger, begin = false) {
    this.#run = run;
    this.#ledger = ledger;
    this.#begin = begin;
    const isSandbox = run.record.base_url === 'sandbox';
    // A job in the embedded sandbox may have the same id as a job of a service.
    this.#others = others.filter(
      ({ id, base_url: address }) => id !== run.record.id && (address === 'sandbox') === isSandbox,
    );
    this.#unclearSince = run.record.parts.flatMap(({ creating_since: since }) =>
      since === undefined ? [] : [Date.parse(since)],
    );
  }

  /**
   * Checks that the service created a new job that waits for its file.
   * @throws SvcError `bad_response` for any other job
   */
  requireNew(job: AccountUpdaterJob, now: number): void {
    const isRecorded = this.#ids().has(job.id);
    const isOld = now - Date.parse(job.created_at ?? '') > NEW_MS;
    const problem =
      (isRecorded && 'which a run has already') ||
      (job.status !== 'pending' && `which is ${job.status}`) ||
      (isOld && `which was created at ${job.created_at}`) ||
      (!job.upload_url && 'which came without an upload address');
    if (!problem) return;
    throw new SvcError('bad_response', `the service was to create a job and responded with job ${job.id}, ${problem}`, {
      hint: 'Nothing was uploaded. Try again later; if it happens again, contact support with the job id.',
      next: ['au', 'status', job.id],
      facts: { run: this.#run.record.id, job: job.id, job_status: job.status },
    });
  }

  /**
   * Compares the newest jobs with the ledger, once for all parts. `job` belongs to this run and so identifies the key
   * that created it.
   * @throws SvcError `outcome_unknown` for an unknown job that may contain the rows of this run
   */
  async compare(work: RunWork, job: AccountUpdaterJob): Promise<void> {
    return (this.#compared ??= this.#compare(work, job));
  }

  async #compare(work: RunWork, job: AccountUpdaterJob): Promise<void> {
    const { record } = this.#run;
    const isStrict = this.#isStrict;
    const newest =
      isStrict || this.#unclearSince.length > 0 ? await this.#listWith(work, job) : await this.#newestJobs(work);
    const known = this.#ids();
    const mayBeOwn = ownership(job, newest);
    const unrecorded = newest.filter(
      (each) => mayBeOwn(each) && each.status !== 'pending' && !(each.id && known.has(each.id)),
    );
    const ledger = await this.#ledger.open(job.tenant_id ?? '');
    const unknown: ListedJob[] = [];
    for (const each of unrecorded) if (!each.id || !(await ledger.isMarked(each.id))) unknown.push(each);
    const doubtful = unknown.filter((each) => this.#mayComeOfUnclear(each));
    if (doubtful.length > 0) throw this.#error(doubtful, 'a request of this run that got no recorded response');
    const isBegun = await ledger.isBegun();
    const later = withinLedger(unknown, newest, isBegun ? ledger : undefined);
    const isRefused = later.length > 0 && (isBegun ? isStrict : !this.#begin);
    const jobs = isRefused ? [] : later.map(nameOf);
    applyToRun(record, { kind: 'compared', jobs });
    if (isRefused) throw this.#error(later, isBegun ? OUTSIDE_THE_LEDGER : BEFORE_THE_LEDGER);
    if (!isBegun) await ledger.begin();
    if (jobs.length === 0) return;
    work.save();
    work.onEvent?.({ kind: 'unrecorded', jobs });
  }

  /** Who shares a ledger says that every job of this key is in it. */
  get #isStrict(): boolean {
    return this.#run.record.no_unrecorded_jobs === true || this.#ledger.isShared;
  }

  /** Reads the newest page until it shows a job that was just created, because a lagging list proves nothing. */
  async #listWith(work: RunWork, { id }: AccountUpdaterJob): Promise<readonly ListedJob[]> {
    const isListed = (jobs: readonly ListedJob[]): boolean => jobs.some((each) => each.id === id);
    const { seen: listed } = await pollUntil(work.client, {
      poll: () => this.#newestJobs(work),
      isDone: isListed,
      limitMs: () => MISSING_MS,
      random: work.random,
    });
    if (isListed(listed)) return listed;
    throw new SvcError('bad_response', `the list of jobs does not show job ${id}, which was just created`, {
      hint: 'Nothing was uploaded: the list has to show whether this file was submitted before. Upload it in a few minutes:',
      next: this.#run.resumeWords,
      retryable: true,
      facts: { run: this.#run.record.id, job: id },
    });
  }

  /** Reads the newest jobs of the list. Returns an empty list if this key may not read it and nothing depends on it. */
  async #newestJobs({ client }: RunWork): Promise<readonly ListedJob[]> {
    try {
      return await client.accountUpdater.list({ pageSize: 100 }).first(100);
    } catch (error) {
      const isOptional = !this.#isStrict && this.#unclearSince.length === 0;
      if (isOptional && isSvcError(error, 'forbidden', 'not_found')) return [];
      throw error;
    }
  }

  #mayComeOfUnclear({ created_at: at }: ListedJob): boolean {
    const created = Date.parse(at ?? '');
    const isUnknown = Number.isNaN(created);
    return this.#unclearSince.some(
      (since) => isUnknown || (created >= since - MINUTE_MS && created <= since + CREATION_MS),
    );
  }

  /** Returns the ids of all recorded jobs, and of jobs that belong to another system according to the operator. */
  #ids(): ReadonlySet<string> {
    const records = [this.#run.record, ...this.#others];
    const parts = records.flatMap((record) => record.parts);
    return new Set([
      ...parts.flatMap(({ job }) => job ?? []),
      ...parts.flatMap(({ earlier_jobs: earlier = [] }) => earlier.map(({ job }) => job)),
      ...records.flatMap(({ other_jobs: jobs = [] }) => jobs),
    ]);
  }

  #error(jobs: readonly ListedJob[], cause: string): SvcError {
    const { record, submitWords } = this.#run;
    const ids = jobs.flatMap(({ id }) => id || []);
    const shown = jobs.map((job) => {
      const { status, created_at: at } = job;
      return `${nameOf(job)} (${status ?? 'of unknown status'}, created ${at ?? 'at an unknown time'})`;
    });
    const isNew = cause === BEFORE_THE_LEDGER;
    const newHint = this.#ledger.isShared ? NEW_SHARED_HINT : NEW_HINT;
    const words = [...submitWords, ...(record.no_unrecorded_jobs ? ['--only-recorded'] : [])];
    // An item without an id cannot be ignored, so that the command would be refused again.
    const isNamed = ids.length === jobs.length;
    const cure = isNew ? [...words, '--begin'] : ['au', 'ignore', ...ids.slice(0, 1)];
    return new SvcError(
      'outcome_unknown',
      `outcome unknown: ${countText(jobs.length, 'job')} of this key that the ledger does not know may come from ${cause}: ${shown.join(', ')}; nothing was uploaded`,
      {
        hint: isNamed ? (isNew ? newHint : LEDGER_HINT) : UNREADABLE_HINT,
        next: ids[0] === undefined ? ['au', 'jobs'] : ['au', 'status', ids[0]],
        alternatives: [['au', 'jobs'], ...(isNamed ? [cure] : [])],
        retryable: false,
        facts: { run: record.id, unrecorded_jobs: ids },
      },
    );
  }
}

const NEW_HINT =
  'Their rows may be those of this file, and the ledger is empty, as after a lost state directory: restore it, or set the ledger that the other machines use. Only if these jobs have nothing to do with this file, run the last of these commands.';
const NEW_SHARED_HINT =
  "Their rows may be those of this file: run 'svc au sync' with this ledger set on the machine that sent them, which enters its runs. Only if these jobs have nothing to do with this file, run the last of these commands.";
const UNREADABLE_HINT =
  'The rows of this file may have been submitted already, and the list does not say in which job: ask the support of the service about the item without an id. svc goes on once the list names it.';
const LEDGER_HINT =
  "The rows of this file may have been submitted already: run 'svc au sync' with this ledger set on the machine that sent them, which enters its runs. Only if the jobs are of another system, ignore them, once for all machines: their rows are sent again if a file has them.";

/**
 * Returns the jobs that are too new to be known from before the ledger. Without a ledger, all of the last weeks count.
 */
function withinLedger(
  jobs: readonly ListedJob[],
  newest: readonly ListedJob[],
  ledger: Ledger | undefined,
): ListedJob[] {
  const times = newest.map(({ created_at: at }) => Date.parse(at ?? '')).filter((time) => !Number.isNaN(time));
  const weeks = Math.max(...times) - UNKNOWN_MS;
  const since = ledger === undefined ? weeks : Math.max(weeks, Date.parse(ledger.createdAt));
  return jobs.filter(({ created_at: at }) => !(Date.parse(at ?? '') <= since));
}

/**
 * Returns a function that tells whether the key that created `job` may have created another job of the list. Where the
 * service does not say who created a job, or not as text, it may be one's own.
 */
function ownership(job: AccountUpdaterJob, listed: readonly ListedJob[]): (other: ListedJob) => boolean {
  const own = [job, ...listed.filter(({ id }) => id === job.id)];
  const key = own.find(({ created_by: by }) => by)?.created_by;
  if (key) return ({ created_by: by }) => !by || by === key;
  const isSent = own.some((each) => (exactMembers(each)['created_by'] ?? '') !== '');
  return () => isSent;
}
