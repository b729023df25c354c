import { isSvcError, SvcError } from '../../base/errors.ts';
import { parseTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import { UploadUnclear } from '../../client/transfer/store.ts';
import { UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob, ListedJob } from '../../schema/account-updater.ts';
import { findJob, jobPages, type RunOptions } from '../run/job.ts';
import { partSource } from '../run/part-source.ts';
import { apply, MISSING_MS, type Part, sentOf } from '../run/part.ts';
import { recordMissingSince, recordPoll, type RunWork, workOn } from '../run/poll-parts.ts';
import { hasUnknown, needsFile, type RunRecord } from '../run/record.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { unknownOutcomeError } from '../run/run-errors.ts';
import { recordTenant, requireOwnTenant } from '../run/tenant-proof.ts';
import { RowsTaken } from '../ledger/claim-rows.ts';
import type { CommandLedger, ReadResults } from '../ledger/command-ledger.ts';
import { SpareJob } from './spare-job.ts';
import { type SendOptions, Strangers } from './strangers.ts';
import { pollForFile, putFile, uploadAddress } from './upload.ts';

/** The number of parts to upload at the same time. */
const AT_ONCE = 3;

/** A locked run: its record, the function that saves it, and its commands. */
export type OpenRun = Pick<RunDirectory, 'record' | 'save' | 'path' | 'name' | 'submitWords' | 'resumeWords'>;

interface PartWork extends RunWork {
  readonly part: Part;
  readonly source: UploadSource;
  /** Whether to poll an upload that an earlier process left in doubt only once, without waiting for its end. */
  readonly pollOnce?: boolean | undefined;
  readonly strangers: Strangers;
  readonly spare: SpareJob;
  readonly ledger: Pick<CommandLedger, 'claim' | 'claimAgain' | 'isShared' | 'open'>;
  /** Reads results of the cycle that nobody read, before rows are claimed. */
  readonly read?: ReadResults | undefined;
  /** The file that contains all parts. */
  readonly file: string;
}

interface UploadPartsOptions extends RunOptions, Pick<PartWork, 'pollOnce' | 'ledger' | 'read'> {
  readonly typed?: SendOptions | undefined;
  /** The records of the other runs on this machine. */
  readonly others?: readonly RunRecord[] | undefined;
  readonly spare?: SpareJob | undefined;
}

/**
 * Creates jobs for all parts that need one and uploads them, several at the same time. Stops at the first failure.
 * `file` contains the parts, and was checked to be unchanged since the run began.
 * @throws SvcError `outcome_unknown` if the service may have the file of a part without having confirmed it
 * @throws RowsTaken if the rows of a part must be divided once more: another job got some of them, or the part lost its job
 */
export async function uploadParts(
  client: Client,
  run: OpenRun,
  file: string,
  { others = [], ledger, spare = new SpareJob(client), typed, pollOnce, read, ...options }: UploadPartsOptions,
): Promise<void> {
  const { record } = run;
  const strangers = new Strangers(run, others, ledger, typed);
  const waiting = record.parts.filter((part) => needsFile({ parts: [part] }) || isOwnDoubt(part));
  const failures: unknown[] = [];
  // The search runs before any part gets a new job, which it would mistake for an orphan.
  await findOrphanJobs(workOn(client, run, options));
  const worker = async (): Promise<void> => {
    for (let part = waiting.shift(); part && failures.length === 0; part = waiting.shift()) {
      try {
        const source = await partSource(part, run, file);
        const how = { strangers, spare, ledger, file, pollOnce, read };
        await uploadPart({ ...workOn(client, run, options), ...how, part, source });
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const [failure] = failures;
  if (failure !== undefined && !(hasUnknown(record) && isSvcError(failure, 'timeout')))
    throw isSvcError(failure, 'checksum_mismatch') ? damagedRequest(run, failure) : failure;
  if (hasUnknown(record)) throw unknownOutcomeError(run);
}

/** Tells whether the upload of a part is in doubt. The ledger settles those of other runs. */
function isOwnDoubt({ state, joined }: Part): boolean {
  return state === 'unknown' && joined === undefined;
}

/** Returns the error for a damaged copy of a request file. Only the run itself should change this copy. */
function damagedRequest({ record, submitWords }: OpenRun, error: SvcError): SvcError {
  return error.with({
    message: `the copy of the request file that ${record.id} keeps is damaged: ${error.message}`,
    hint: 'Submit the same file again: the run takes another copy of it and continues.',
    next: submitWords,
    facts: { run: record.id },
  });
}

/**
 * Lets failed parts get another job, because the operator submitted the file again. Each old job is read again, and
 * replaced only if the service still reports it as failed, because its rows could otherwise be billed twice.
 */
export async function retryFailed(client: Client, run: OpenRun): Promise<void> {
  const work = workOn(client, run);
  for (const part of run.record.parts) {
    if (part.state !== 'failed' || part.joined !== undefined) continue;
    const job = await findJob(client, part.job ?? '');
    if (job?.status === 'failed') {
      apply(part, { kind: 'retried' });
      run.save();
    } else await recordPoll(work, part, job);
  }
}

/** Finds out whether each interrupted upload reached its job, so that results can be downloaded. */
export async function settleUploads(client: Client, run: OpenRun): Promise<void> {
  for (const part of run.record.parts)
    if (part.state === 'uploading') await settleUpload({ ...workOn(client, run), part }, 0);
}

/**
 * Uploads a part to a job, from wherever it stopped. Nothing is uploaded twice. A part whose file may be in the store
 * is settled by its job or remains `unknown`. A part whose job was deleted without a file gets another job, which is
 * reported.
 */
async function uploadPart(work: PartWork): Promise<void> {
  const { part } = work;
  const proveGone = async (): Promise<boolean> => {
    const spare = await spareOf(work);
    return spare !== undefined && (await isGoneBeside(work, spare));
  };
  const { job: earlier } = part;
  const limit = work.pollOnce ? 0 : undefined;
  if (part.state === 'uploading' || sentOf(part) !== 'some') await settleUpload({ ...work, proveGone }, limit);
  if (sentOf(part) !== 'some') return;
  if (part.job === undefined && earlier !== undefined) throw againError(earlier);
  if (part.job === undefined && (await restoreJob(work))) return;
  const job = part.job === undefined ? await createJob(work) : undefined;
  try {
    await upload(work, job);
  } catch (error) {
    // The address of the job ended, or the job itself is gone.
    if (!isSvcError(error, 'job_expired')) throw error;
    apply(part, { kind: 'expired' });
    work.save();
    throw againError(part.earlier_jobs?.at(-1)?.job ?? '');
  }
  if (part.job === undefined) throw againError(job?.id ?? earlier ?? '');
}

/** Returns the error for rows whose job is gone: the ledger must free them before another job gets them. */
function againError(job: string): RowsTaken {
  return new RowsTaken('job_expired', `job ${job} was removed before its file was uploaded`, {
    hint: 'Run the same command again, which creates another job.',
    retryable: true,
    facts: { job },
  });
}

async function upload(work: PartWork, created?: AccountUpdaterJob): Promise<void> {
  const { client, part, source, save } = work;
  const job = created ?? (await findJob(client, part.job ?? ''));
  if (job?.status !== 'pending') return recordPoll(work, part, job);
  if (await restoreListed(work, job)) return;
  // Rows are not claimed for a job whose address svc cannot use.
  uploadAddress(job, client);
  await claimRows(work, job);
  apply(part, { kind: 'sending', at: client.now(), expiresAt: job.expires_at });
  save();
  const onSent = (sent: 'some' | 'all'): void => {
    if (part.sent === sent) return;
    apply(part, { kind: 'sent', sent });
    save();
  };
  try {
    await putFile(client, job, source, { ...work, onSent });
  } catch (error) {
    if (error instanceof UploadUnclear) return settleUpload(work);
    throw error;
  }
  apply(part, { kind: 'stored' });
  save();
}

/**
 * Searches for jobs that the ledger does not know before anything is uploaded, and claims the rows. If another job has the
 * rows or may have them, forgets a job to which nothing was sent, so that the rows can be divided again.
 */
async function claimRows(work: PartWork, job: AccountUpdaterJob): Promise<void> {
  const { client, record, part, source, file, save, strangers, ledger, read } = work;
  try {
    await strangers.compare(work, job);
    await ledger.claim({ client, read, record, part, job, source, sha256: part.sha256, file });
  } catch (error) {
    const isFree = part.state === 'created' && part.sent === undefined && part.sent_at === undefined;
    if (isFree && (error instanceof RowsTaken || isSvcError(error, 'outcome_unknown', 'conflict'))) {
      apply(part, { kind: 'forgotten' });
      save();
      work.spare.put(job);
    }
    throw error;
  }
}

/**
 * Finds out from its job whether a part's file arrived. Polls once if it cannot have arrived. Otherwise polls for as
 * long as a store may take to pass it on.
 */
async function settleUpload(work: RunWork & { readonly part: Part }, limit?: number): Promise<void> {
  const { client, part } = work;
  const isFresh = part.state !== 'unknown' && sentOf(part) === 'all';
  const onPoll = async (job: AccountUpdaterJob | undefined): Promise<void> => {
    if (job) apply(part, { kind: 'sighted' });
    else await recordMissingSince(work, part);
  };
  const limitMs = limit ?? (isFresh ? undefined : 0);
  const found = await pollForFile(client, part.job ?? '', { ...work, limitMs }, onPoll);
  await recordPoll(work, part, found);
  if (part.state === 'uploaded') work.onEvent?.({ kind: 'uploaded', job: part.job ?? '' });
}

/**
 * Returns a job from whose response the key's tenant is known. The caller has seen no other job that shows it.
 * @throws SvcError `config` if the key belongs to another tenant than the run
 */
async function spareOf(work: PartWork): Promise<AccountUpdaterJob | undefined> {
  const { client, record, strangers, spare } = work;
  if (record.tenant_id === undefined) return undefined;
  const job = await spare.get();
  strangers.requireNew(job, client.now());
  // The job proves the key's tenant, but does not prove that the tenant's list is up to date.
  if (job.tenant_id === record.tenant_id) return job;
  recordTenant(work, job);
  return undefined;
}

/**
 * Tells whether the list shows the new job but not the part's job. The list then belongs to the tenant and is up to
 * date.
 */
async function isGoneBeside(work: PartWork, { id }: AccountUpdaterJob): Promise<boolean> {
  const { job = '', sent_at: sentAt = '' } = work.part;
  const listed = await listWith(work, id, [job], Date.parse(sentAt) - 2 * UPLOAD_LIFE_MS);
  return listed.has(id) && !listed.has(job) && !listed.has('');
}

/**
 * Creates a job for a part, or takes the spare one. Records the request before it is sent, and the job as soon as the
 * response arrives.
 * @throws SvcError `config` if the key belongs to another tenant than the run
 */
async function createJob(work: PartWork): Promise<AccountUpdaterJob> {
  const { client, part, save, ledger, record } = work;
  await requireOwnTenant(work);
  if (record.tenant_id !== undefined) (await ledger.open(record.tenant_id)).requireWritable();
  const wasUnclear = part.creating_since !== undefined;
  const spare = work.spare.take();
  if (spare === undefined) await work.strangers.refuse(work, await work.spare.creator());
  apply(part, { kind: 'creating', at: client.now() });
  save();
  const creating = spare === undefined ? work.spare.create() : Promise.resolve(spare);
  const job = await creating.catch((error: unknown) => {
    // A clear refusal created no job. After any other failure or an interrupt, the next attempt first reads recent
    // jobs.
    if (isSvcError(error) && !isSvcError(error, ...UNCLEAR)) forgetRequest(work, wasUnclear);
    throw error;
  });
  try {
    work.strangers.requireNew(job, client.now());
    recordTenant(work, job);
  } catch (error) {
    forgetRequest(work, wasUnclear);
    throw error;
  }
  apply(part, { kind: 'created', job, wasUnclear });
  save();
  const before = part.earlier_jobs?.at(-1);
  if (before?.ended === 'gone') work.onEvent?.({ kind: 'replaced', gone: before.job, job: job.id });
  else work.onEvent?.({ kind: 'created', job });
  return job;
}

/**
 * Returns to an earlier job that seemed to be gone because of a lagging replica but has its file.
 * @returns whether there was such a job, so that nothing must be uploaded
 */
async function restoreJob(work: PartWork): Promise<boolean> {
  for (const { job: id, ended } of work.part.earlier_jobs ?? []) {
    const job = ended === 'gone' ? await findJob(work.client, id) : undefined;
    if (await restoreIfSeen(work, job)) return true;
  }
  return false;
}

async function restoreIfSeen(work: PartWork, job: ListedJob | undefined): Promise<boolean> {
  if (!job?.id || !job.status || job.status === 'pending' || job.status === 'failed') return false;
  const { record, part, source, file, save, ledger } = work;
  const isDated = parseTime(job.created_at ?? '') !== undefined;
  const found = { id: job.id, created_at: isDated && job.created_at ? job.created_at : record.created_at };
  // The claim of the job ended when the job seemed to be gone, so that another file could send its rows.
  await ledger.claimAgain({ record, part, job: found, source, sha256: part.sha256, file });
  apply(part, { kind: 'back', job: job.id });
  save();
  return true;
}

/**
 * Looks in the list for earlier jobs that seemed to be gone. A false 404 or a replica that lags by hours can make a job
 * with a file seem gone, and a restored record may lack a part of its upload. A list that shows the new job also shows
 * such a job.
 * @returns whether there was such a job, so that nothing must be uploaded
 * @throws SvcError `bad_response` if the list does not show the new job, or shows a completely sent job as pending
 */
async function restoreListed(work: PartWork, current: AccountUpdaterJob): Promise<boolean> {
  const gone = work.part.earlier_jobs?.filter(({ ended }) => ended === 'gone') ?? [];
  if (gone.length === 0) return false;
  const doubtful = gone.filter(({ sent_at: at }) => at !== undefined);
  // Jobs whose files were only partly sent, according to the record, are on the newest page.
  const since = Math.min(...doubtful.map(({ sent_at: at = '' }) => Date.parse(at))) - 2 * UPLOAD_LIFE_MS;
  const ids = gone.map(({ job }) => job);
  const listed = await listWith(work, current.id, ids, since);
  for (const { job } of gone) if (await restoreIfSeen(work, listed.get(job))) return true;
  const earlier = doubtful.map(({ job }) => listed.get(job)).filter((job) => job !== undefined);
  const isClear = doubtful.length === 0 || !listed.has('');
  if (listed.has(current.id) && isClear && earlier.every(({ status }) => status === 'failed')) return false;
  throw new SvcError(
    'bad_response',
    `the list of jobs does not show whether job ${(doubtful[0] ?? gone[0])?.job} is gone`,
    {
      hint: 'Nothing was uploaded. Upload the rest in a few minutes:',
      next: ['au', 'resume'],
      retryable: true,
      facts: { run: work.record.id, jobs: [current.id, ...ids] },
    },
  );
}

/**
 * Reads the list until it shows a new job, at most for as long as a replica may lag. Returns the listed jobs among
 * `jobs`.
 */
async function listWith({ client, random }: PartWork, newJob: string, jobs: readonly string[], since: number) {
  const ids = new Set([newJob, ...jobs]);
  const { seen } = await pollUntil(client, {
    poll: () => listOf(client, ids, since),
    isDone: (found) => found.has(newJob),
    limitMs: () => MISSING_MS,
    random,
  });
  return seen;
}

/**
 * Returns the jobs with these ids from the list, back to the time `since`. An item whose id cannot be read may be any of
 * them, and has the empty id.
 */
async function listOf(client: Client, ids: ReadonlySet<string>, since: number) {
  const found = new Map<string, ListedJob>();
  for await (const jobs of jobPages(client)) {
    for (const job of jobs) if (!job.id || ids.has(job.id)) found.set(job.id ?? '', job);
    if (jobs.some(({ created_at: at }) => Date.parse(at ?? '') < since)) break;
  }
  return found;
}

/** Removes the record of a request that created nothing. Keeps it if an earlier request may have created a job. */
function forgetRequest({ part, save }: PartWork, wasUnclear: boolean): void {
  apply(part, { kind: 'not created', wasUnclear });
  save();
}

const UNCLEAR = ['outcome_unknown', 'hangup', 'interrupted', 'terminated', 'timeout'] as const;

/**
 * Reports jobs that an earlier request without a clear response may have created. They are not reused, because another
 * process may own them. A job without a file is deleted after an hour and costs nothing.
 */
async function findOrphanJobs(work: RunWork): Promise<void> {
  const { client, record, onEvent } = work;
  const unclear = record.parts.filter(({ state }) => state === 'creating');
  if (unclear.length === 0) return;
  await requireOwnTenant(work);
  const since = Math.min(...unclear.map(({ creating_since: begun = '' }) => Date.parse(begun))) - 60_000;
  const ours = new Set(record.parts.map(({ job }) => job));
  for await (const jobs of jobPages(client)) {
    const recent = jobs.filter((job) => Date.parse(job.created_at ?? '') >= since);
    for (const { id, status } of recent)
      if (id && status === 'pending' && !ours.has(id)) onEvent?.({ kind: 'orphan', job: id });
    if (recent.length < jobs.length) return;
  }
}
