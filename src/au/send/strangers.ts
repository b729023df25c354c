import { SvcError } from '../../base/errors.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import type { RunWork } from '../run/poll-parts.ts';
import { knownJobs } from '../run/recorded-runs.ts';
import { isOfSandbox, type RunRecord } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { applyToRun } from '../run/run.ts';
import { compareJobs, type Comparing, type JobsLedger, refuseUnknownJobs } from './compare-jobs.ts';
import { type Confirmed, confirmWords, NOT_CONFIRMED } from './confirm-options.ts';

/** The largest age of a job that the service has just created. */
const NEW_MS = 10 * MINUTE_MS;

/** How the command that sends a run was typed. */
export interface SendOptions {
  readonly confirmed?: Confirmed | undefined;
  /** The other options as typed, which printed commands keep. */
  readonly options?: readonly string[] | undefined;
}

type CheckedRun = Pick<RunDirectory, 'record' | 'save' | 'name' | 'resumeWords' | 'submitWords'>;

/** Checks the jobs of a run before its first upload: those that it creates, and those that the ledger does not know. */
export class Strangers {
  readonly #run: CheckedRun;
  readonly #others: readonly RunRecord[];
  readonly #ledger: JobsLedger;
  readonly #typed: SendOptions;
  /** Times since which a part may have an unknown job, because a request got no response or the record was restored. */
  readonly #unclearSince: readonly number[];
  #compared: Promise<void> | undefined;
  #refused: Promise<void> | undefined;

  /** `others` are the records of all other runs on this machine. */
  constructor(run: CheckedRun, others: readonly RunRecord[], ledger: JobsLedger, typed: SendOptions = {}) {
    this.#run = run;
    this.#ledger = ledger;
    this.#typed = typed;
    this.#others = others.filter(({ id }) => id !== run.record.id);
    this.#unclearSince = run.record.parts.flatMap(({ creating_since: since }) =>
      since === undefined ? [] : [Date.parse(since)],
    );
  }

  /**
   * Checks that the service created a new job that waits for its file.
   * @throws SvcError `bad_response` for any other job
   */
  requireNew(job: AccountUpdaterJob, now: number): void {
    const isRecorded = this.#known().has(job.id);
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
   * Compares the jobs with the ledger, once for all parts. `job` belongs to this run.
   * @throws SvcError `outcome_unknown` for an unknown job that may contain the rows of this run
   */
  async compare(work: RunWork, job: AccountUpdaterJob): Promise<void> {
    return (this.#compared ??= this.#compare(work, job));
  }

  /**
   * Compares the jobs with the ledger before this run creates its first job, if the application of the key is known from an
   * earlier job. The tenant is that of the run.
   * @throws SvcError as `compare`
   */
  async refuse({ client, record }: RunWork, creator: string | undefined): Promise<void> {
    const { tenant_id: tenant = '' } = record;
    if (creator === undefined || tenant === '') return;
    return (this.#refused ??= refuseUnknownJobs(client, this.#comparing(tenant), creator));
  }

  async #compare(work: RunWork, job: AccountUpdaterJob): Promise<void> {
    const { record, resumeWords } = this.#run;
    const jobs = await compareJobs(work.client, {
      ...this.#comparing(job.tenant_id ?? ''),
      job,
      again: resumeWords,
      random: work.random,
    });
    applyToRun(record, { kind: 'compared', jobs: jobs ?? [] });
    if (jobs?.length === 0) return;
    work.save();
    work.onEvent?.({ kind: 'unrecorded', jobs });
  }

  #comparing(tenant: string): Comparing {
    const { record, submitWords } = this.#run;
    const { confirmed = NOT_CONFIRMED, options = [] } = this.#typed;
    const onlyRecorded = record.no_unrecorded_jobs === true;
    return {
      ledger: this.#ledger,
      tenant,
      known: this.#known(),
      onlyRecorded,
      newLedger: confirmed.newLedger,
      unclearSince: this.#unclearSince,
      words: [...submitWords, ...(onlyRecorded ? ['--only-recorded'] : []), ...confirmWords(confirmed), ...options],
      run: record.id,
    };
  }

  #known(): ReadonlySet<string> {
    return knownJobs([this.#run.record, ...this.#others], isOfSandbox(this.#run.record));
  }
}
