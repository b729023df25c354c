import { isSvcError, SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/time.ts';
import { pollUntil } from '../../client/api/poll.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { MISSING_MS, sentOf } from './part.ts';
import type { RunWork } from './poll-parts.ts';
import type { RunRecord } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { applyToRun } from './run.ts';

const MINUTE_MS = 60_000;

/** The time after a request for a job within which the job may have been created. */
const CREATION_MS = 10 * MINUTE_MS;

/** How far back to look for unrecorded jobs if no run is recorded. */
const UNRECORDED_MS = 35 * 86_400_000;

/** The largest age of a job that the service has just created. */
const NEW_MS = 10 * MINUTE_MS;

type CheckedRun = Pick<RunDirectory, 'record' | 'save' | 'name' | 'resumeWords'>;

/**
 * Compares the service's jobs with all records before the first upload of a run. A state directory restored from an
 * older copy lacks later submissions, but the service knows them.
 */
export class RecordedJobs {
  readonly #run: CheckedRun;
  readonly #others: readonly RunRecord[];
  /** Times since which a part may have an unknown job, because a request got no response or the record was restored. */
  readonly #unclearSince: readonly number[];
  #compared: Promise<void> | undefined;

  /** `others` are the records of all other runs on this machine. */
  constructor(run: CheckedRun, others: readonly RunRecord[]) {
    this.#run = run;
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
   * Compares the newest jobs with the records, once for all parts. `job` belongs to this run and so identifies the key
   * that created it.
   * @throws SvcError `outcome_unknown` for an unrecorded job that may contain the rows of this run
   */
  async compare(work: RunWork, job: AccountUpdaterJob): Promise<void> {
    return (this.#compared ??= this.#compare(work, job));
  }

  async #compare(work: RunWork, job: AccountUpdaterJob): Promise<void> {
    const { record } = this.#run;
    const needsProof = record.no_unrecorded_jobs === true || this.#unclearSince.length > 0;
    const newest = needsProof ? await this.#listWith(work, job) : await this.#newestJobs(work);
    const key = job.created_by ?? newest.find(({ id }) => id === job.id)?.created_by;
    const known = this.#ids();
    const unrecorded = newest.filter(
      ({ id, created_by: by, status }) => key && by === key && status !== 'pending' && !known.has(id),
    );
    const doubtful = unrecorded.filter((each) => this.#mayComeOfUnclear(each));
    if (doubtful.length > 0) throw this.#error(doubtful, 'a request of this run that got no recorded response');
    const since = this.#newestRecord() ?? work.client.now() - UNRECORDED_MS;
    const later = unrecorded.filter(({ created_at: at }) => !(Date.parse(at ?? '') <= since));
    const isRefused = later.length > 0 && record.no_unrecorded_jobs === true;
    const jobs = isRefused ? [] : later.map(({ id }) => id);
    applyToRun(record, { kind: 'compared', jobs });
    if (isRefused) throw this.#error(later, 'what another copy of this state directory submitted');
    if (jobs.length === 0) return;
    work.save();
    work.onEvent?.({ kind: 'unrecorded', jobs });
  }

  /** Reads the newest page until it shows a job that was just created, because a lagging list proves nothing. */
  async #listWith(work: RunWork, { id }: AccountUpdaterJob): Promise<readonly AccountUpdaterJob[]> {
    const isListed = (jobs: readonly AccountUpdaterJob[]): boolean => jobs.some((each) => each.id === id);
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

  /** Reads the newest page of the list. Returns an empty list if this key may not read it and nothing depends on it. */
  async #newestJobs({ client }: RunWork): Promise<readonly AccountUpdaterJob[]> {
    try {
      const first = await client.accountUpdater.list({ pageSize: 100 }).pages().next();
      return first.done === true ? [] : first.value.items;
    } catch (error) {
      const isOptional = !this.#run.record.no_unrecorded_jobs && this.#unclearSince.length === 0;
      if (isOptional && isSvcError(error, 'forbidden', 'not_found')) return [];
      throw error;
    }
  }

  #mayComeOfUnclear({ created_at: at }: AccountUpdaterJob): boolean {
    const created = Date.parse(at ?? '');
    return this.#unclearSince.some((since) => created >= since - MINUTE_MS && created <= since + CREATION_MS);
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

  /**
   * Returns when the newest other run that sent something began to send it, in the service's time if that is recorded.
   */
  #newestRecord(): number | undefined {
    const sent = this.#others.filter(({ parts }) => parts.some((part) => sentOf(part) !== 'some'));
    const times = sent.map(({ created_at: begun, parts }) => {
      const uploads = parts.flatMap(({ sent_at: at }) => at ?? []);
      return Date.parse(uploads.toSorted()[0] ?? begun);
    });
    return times.length === 0 ? undefined : Math.max(...times);
  }

  #error(jobs: readonly AccountUpdaterJob[], cause: string): SvcError {
    const { record, resumeWords } = this.#run;
    const ids = jobs.map(({ id }) => id);
    const shown = jobs.map(
      ({ id, status, created_at: at }) => `${id} (${status}, created ${at ?? 'at an unknown time'})`,
    );
    return new SvcError(
      'outcome_unknown',
      `outcome unknown: ${countText(jobs.length, 'job')} of this key that no record names may come of ${cause}: ${shown.join(', ')}; nothing was uploaded`,
      {
        hint: 'The rows of this file may have been submitted already: restore the newest state directory, or look at the jobs. Only if they are of another system, continue with the last of these commands.',
        next: ['au', 'status', ids[0] ?? ''],
        alternatives: [
          ['au', 'jobs'],
          [
            ...resumeWords,
            ...(record.no_unrecorded_jobs ? ['--no-unrecorded-jobs'] : []),
            ...ids.flatMap((id) => ['--other-job', id]),
          ],
        ],
        retryable: false,
        facts: { run: record.id, unrecorded_jobs: ids },
      },
    );
  }
}
