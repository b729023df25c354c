import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import { UploadUnclear } from '../../client/transfer/store.ts';
import { UPLOAD_LIFE_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { findJob, jobPages, type RunOptions } from './job.ts';
import { partSource } from './part-source.ts';
import { apply, MISSING_MS, type Part, sentOf } from './part.ts';
import { recordMissingSince, recordPoll, type RunWork, workOn } from './poll-parts.ts';
import { hasUnknown, needsFile, type RunRecord } from './record.ts';
import type { RunDirectory } from './run-directory.ts';
import { unknownOutcomeError } from './run-errors.ts';
import { isBlank, recordTenant, requireOwnTenant } from './tenant-proof.ts';
import { RecordedJobs } from './unrecorded-jobs.ts';
import { pollForFile, putFile } from './upload.ts';

/** How many parts are uploaded side by side. */
const AT_ONCE = 3;

/** How many jobs are created for one part before it counts as a failure. */
const MAX_JOBS = 3;

/** A run that is held: its record, and the way to save it. */
export type OpenRun = Pick<RunDirectory, 'record' | 'save' | 'name' | 'submitWords' | 'resumeWords'>;

interface PartWork extends RunWork {
  readonly part: Part;
  readonly source: UploadSource;
  /** Polls an upload that an earlier process left in doubt once, and does not wait for its end. */
  readonly pollOnce?: boolean | undefined;
  readonly recorded: RecordedJobs;
}

interface UploadPartsOptions extends RunOptions, Pick<PartWork, 'pollOnce'> {
  /** The records of the other runs on this machine. */
  readonly others?: readonly RunRecord[] | undefined;
}

/**
 * Creates jobs for and uploads every part that has none yet, several side by side. The first failure ends it. `file`
 * is what the parts are cut from, checked to be the same as when the run began.
 * @throws SvcError `outcome_unknown` when the service may have the file of a part, and nothing says so
 */
export async function uploadParts(
  client: Client,
  run: OpenRun,
  file: string,
  { others = [], ...options }: UploadPartsOptions,
): Promise<void> {
  const { record } = run;
  const recorded = new RecordedJobs(run, others);
  const waiting = record.parts.filter((part) => needsFile({ parts: [part] }) || part.state === 'unknown');
  const failures: unknown[] = [];
  // Before any part gets a new job, which would look like one of them.
  await findOrphanJobs(workOn(client, run, options));
  const worker = async (): Promise<void> => {
    for (let part = waiting.shift(); part && failures.length === 0; part = waiting.shift()) {
      try {
        const source = await partSource(part, record, file);
        await uploadPart({ ...workOn(client, run, options), part, source, recorded, pollOnce: options.pollOnce });
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

/** The error for a damaged copy of a request file. The run uploads that copy, which no one else should change. */
function damagedRequest({ record, submitWords }: OpenRun, { message, facts }: SvcError): SvcError {
  return new SvcError(
    'checksum_mismatch',
    `the copy of the request file that ${record.id} keeps is damaged: ${message}`,
    {
      hint: 'Submit the same file again: the run takes another copy of it and continues.',
      next: submitWords,
      facts: { ...facts, run: record.id },
    },
  );
}

/**
 * Lets the failed parts of a run have another job: the operator submitted the file again. Each old job is read once
 * more: only one that the service itself still calls failed is replaced, since its rows could be paid twice.
 */
export async function retryFailed(client: Client, run: OpenRun): Promise<void> {
  const work = workOn(client, run);
  for (const part of run.record.parts) {
    if (part.state !== 'failed') continue;
    const job = await findJob(client, part.job ?? '');
    if (job?.status === 'failed') {
      apply(part, { kind: 'retried' });
      run.save();
    } else await recordPoll(work, part, job);
  }
}

/** Finds out for every part whose upload was cut off whether its job has the file, so that its results can be downloaded. */
export async function settleUploads(client: Client, run: OpenRun): Promise<void> {
  for (const part of run.record.parts)
    if (part.state === 'uploading') await settleUpload({ ...workOn(client, run), part }, 0);
}

/**
 * Uploads a part to a job, from wherever it stopped. Nothing is uploaded twice: a part whose file may be in the store is
 * settled by its job or stays `unknown`; one whose job was deleted without a file gets another job, and that is reported.
 */
async function uploadPart(work: PartWork): Promise<void> {
  const { part } = work;
  let spare: AccountUpdaterJob | undefined;
  const proveGone = async (): Promise<boolean> => {
    spare = await createSpare(work);
    return spare !== undefined && (await isGoneBeside(work, spare));
  };
  for (let created = 0; ;) {
    const limit = work.pollOnce ? 0 : undefined;
    if (part.state === 'uploading' || sentOf(part) !== 'some') await settleUpload({ ...work, proveGone }, limit);
    if (sentOf(part) !== 'some') return;
    let job: AccountUpdaterJob | undefined;
    if (part.job === undefined) {
      if (await restoreJob(work)) return;
      job = await createJob(work, spare);
      spare = undefined;
      created += 1;
    }
    try {
      await upload(work, job);
      if (sentOf(part) !== 'some') return;
    } catch (error) {
      if (!isSvcError(error, 'job_expired') || created >= MAX_JOBS) throw error;
      apply(part, { kind: 'expired' });
      work.save();
    }
  }
}

async function upload(work: PartWork, created?: AccountUpdaterJob): Promise<void> {
  const { client, part, source, save } = work;
  const job = created ?? (await findJob(client, part.job ?? ''));
  if (job?.status !== 'pending') return recordPoll(work, part, job);
  if (await restoreListed(work, job)) return;
  await requireRecorded(work, job, created !== undefined);
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
 * Looks for jobs that no record names before anything is uploaded. A job that was just created is then forgotten: it
 * has no file, and the run stays one that sent nothing.
 */
async function requireRecorded(work: PartWork, job: AccountUpdaterJob, isJustCreated: boolean): Promise<void> {
  const { part, save, recorded } = work;
  try {
    await recorded.compare(work, job);
  } catch (error) {
    if (isJustCreated && isSvcError(error, 'outcome_unknown')) {
      apply(part, { kind: 'forgotten' });
      save();
    }
    throw error;
  }
}

/**
 * Finds out from its job whether a part's file arrived. A single poll settles one that cannot have; one that may have
 * is polled for as long as a store may take to pass it on.
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
 * Creates a job whose response says whose the key is, in a tenant where nothing else does. Without a file it costs
 * nothing and is deleted within the hour; a kill leaves no more than that, so that it is not recorded.
 * @throws SvcError `config` when the key belongs to another tenant than the run
 */
async function createSpare(work: PartWork): Promise<AccountUpdaterJob | undefined> {
  const { client, record, recorded } = work;
  if (record.tenant_id === undefined || !(await isBlank(work))) return undefined;
  const job = await client.accountUpdater.create();
  recorded.requireNew(job, client.now());
  // What is known from now on is whose the key is, not that its list is up to date: later looks at it prove no more.
  if (job.tenant_id === record.tenant_id) return job;
  recordTenant(work, job);
  return undefined;
}

/** Whether the list shows a job that was just created, and not the part's: then the list is the tenant's and up to date. */
async function isGoneBeside(work: PartWork, { id }: AccountUpdaterJob): Promise<boolean> {
  const { job = '', sent_at: sentAt = '' } = work.part;
  const listed = await listWith(work, id, [job], Date.parse(sentAt) - 2 * UPLOAD_LIFE_MS);
  return listed.has(id) && !listed.has(job);
}

/**
 * Creates a job for a part, which is recorded before the request goes out and as soon as its response is there. A
 * `spare` job, which exists already, takes the place of a new one.
 * @throws SvcError `config` when the key belongs to another tenant than the run
 */
async function createJob(work: PartWork, spare?: AccountUpdaterJob): Promise<AccountUpdaterJob> {
  const { client, part, save } = work;
  await requireOwnTenant(work);
  const wasUnclear = part.creating_since !== undefined;
  apply(part, { kind: 'creating', at: client.now() });
  save();
  const creating = spare === undefined ? client.accountUpdater.create() : Promise.resolve(spare);
  const job = await creating.catch((error: unknown) => {
    // A clear refusal created nothing; after anything else, an interrupt too, the next attempt reads recent jobs first.
    if (isSvcError(error) && !isSvcError(error, ...UNCLEAR)) forgetRequest(work, wasUnclear);
    throw error;
  });
  try {
    work.recorded.requireNew(job, client.now());
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
 * Goes back to a job that seemed to be gone and has its file after all: a replica had lagged.
 * @returns whether there was one, so that nothing is to be uploaded
 */
async function restoreJob(work: PartWork): Promise<boolean> {
  for (const { job: id, ended } of work.part.earlier_jobs ?? []) {
    const job = ended === 'gone' ? await findJob(work.client, id) : undefined;
    if (restoreIfSeen(work, job)) return true;
  }
  return false;
}

function restoreIfSeen({ part, save }: PartWork, job: AccountUpdaterJob | undefined): boolean {
  if (job === undefined || job.status === 'pending' || job.status === 'failed') return false;
  apply(part, { kind: 'back', job: job.id });
  save();
  return true;
}

/**
 * Checks earlier jobs that seemed to be gone once more, in the list. A false 404 and, hours later, a replica that is
 * hours behind make such a job seem gone, and a restored record may know less of its upload than happened; but a list
 * that shows the new job shows an earlier one with a file.
 * @returns whether there was one, so that nothing is to be uploaded
 * @throws SvcError `bad_response` when the list does not show the new job, or shows one that was sent all as pending
 */
async function restoreListed(work: PartWork, current: AccountUpdaterJob): Promise<boolean> {
  const gone = work.part.earlier_jobs?.filter(({ ended }) => ended === 'gone') ?? [];
  if (gone.length === 0) return false;
  const doubtful = gone.filter(({ sent_at: at }) => at !== undefined);
  // The newest page shows those that were sent only a part, as far as anybody knows.
  const since = Math.min(...doubtful.map(({ sent_at: at = '' }) => Date.parse(at))) - 2 * UPLOAD_LIFE_MS;
  const ids = gone.map(({ job }) => job);
  const listed = await listWith(work, current.id, ids, since);
  if (gone.some(({ job }) => restoreIfSeen(work, listed.get(job)))) return true;
  const earlier = doubtful.flatMap(({ job }) => listed.get(job) ?? []);
  if (listed.has(current.id) && earlier.every(({ status }) => status === 'failed')) return false;
  throw new SvcError(
    'bad_response',
    `the list of jobs does not show whether job ${(doubtful[0] ?? gone[0])?.job} is gone`,
    {
      hint: 'Nothing was uploaded. Upload the rest in a few minutes:',
      next: ['au', 'sync'],
      retryable: true,
      facts: { run: work.record.id, jobs: [current.id, ...ids] },
    },
  );
}

/** Reads the list until it shows a new job, or for as long as a replica may lag, and returns what it shows of some jobs. */
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

/** Returns what the list shows of some jobs, back to the time `since`. */
async function listOf(client: Client, ids: ReadonlySet<string>, since: number) {
  const found = new Map<string, AccountUpdaterJob>();
  for await (const jobs of jobPages(client)) {
    for (const job of jobs) if (ids.has(job.id)) found.set(job.id, job);
    if (jobs.some(({ created_at: at }) => Date.parse(at ?? '') < since)) break;
  }
  return found;
}

/** Undoes the record of a request that created nothing. The result of an earlier request may still be unknown. */
function forgetRequest({ part, save }: PartWork, wasUnclear: boolean): void {
  apply(part, { kind: 'not created', wasUnclear });
  save();
}

const UNCLEAR = ['outcome_unknown', 'hangup', 'interrupted', 'terminated', 'timeout'] as const;

/**
 * After a creation without a clear response: reports which jobs may have come of it. They are not taken over, since
 * another process may own them: a job that gets no file is deleted after an hour and costs nothing.
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
      if (status === 'pending' && !ours.has(id)) onEvent?.({ kind: 'orphan', job: id });
    if (recent.length < jobs.length) return;
  }
}
