import { isSvcError, SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import { UploadUnclear } from '../transfer/store.ts';
import { detachJob, findJob, jobPages, type PartWork, type RunWork } from './job.ts';
import { noteMissingSince, notePoll } from './poll-parts.ts';
import { type RunPart, sentOf } from './record.ts';
import { noteTenant, requireOwnTenant } from './tenant-proof.ts';
import { pollForFile, putFile } from './upload.ts';

const MAX_JOBS = 3;

/**
 * Brings a part to a job, from wherever it stopped. Nothing is uploaded twice: a part whose file may be in the store is
 * settled by its job or stays `unknown`; one whose job vanished without a file gets another job, and that is said.
 */
export async function uploadPart(work: PartWork): Promise<void> {
  const { part } = work;
  for (let made = 0; ;) {
    if (part.state === 'uploading' || sentOf(part) !== 'some')
      await settleUpload(work, work.pollOnce ? 0 : undefined);
    if (sentOf(part) !== 'some') return;
    let job: AccountUpdaterJob | undefined;
    if (part.job === undefined) {
      if (await restoreJob(work)) return;
      job = await createJob(work);
      made += 1;
    }
    try {
      await upload(work, job);
      if (sentOf(part) !== 'some') return;
    } catch (error) {
      if (!isSvcError(error, 'job_expired') || made >= MAX_JOBS) throw error;
      detachJob(work, 'gone');
    }
  }
}

async function upload(work: PartWork, created?: AccountUpdaterJob): Promise<void> {
  const { client, part, source, save } = work;
  const job = created ?? (await findJob(client, part.job ?? ''));
  if (job?.status !== 'pending') return notePoll(work, part, job);
  part.state = 'uploading';
  part.sent = 'some';
  part.sent_at = new Date(client.now()).toISOString();
  if (job.expires_at) part.expires_at = job.expires_at;
  save();
  const onSent = (sent: 'some' | 'all'): void => {
    if (part.sent === sent) return;
    part.sent = sent;
    save();
  };
  try {
    await putFile(client, job, source, { ...work, onSent });
  } catch (error) {
    if (error instanceof UploadUnclear) return settleUpload(work);
    throw error;
  }
  part.state = 'uploaded';
  part.sent = 'stored';
  save();
}

/**
 * Finds out from its job whether a part's file arrived. One that cannot have is told by a single poll; one that may
 * have is polled for as long as a store may take to pass it on.
 */
export async function settleUpload(
  work: RunWork & { readonly part: RunPart },
  limit?: number,
): Promise<void> {
  const { client, part } = work;
  const isFresh = part.state !== 'unknown' && sentOf(part) === 'all';
  const onPoll = async (job: AccountUpdaterJob | undefined): Promise<void> => {
    if (job) delete part.missing_since;
    else await noteMissingSince(work, part);
  };
  const limitMs = limit ?? (isFresh ? undefined : 0);
  const found = await pollForFile(client, part.job ?? '', { ...work, limitMs }, onPoll);
  await notePoll(work, part, found);
  if (part.state === 'uploaded') work.onEvent?.({ kind: 'uploaded', job: part.job ?? '' });
}

/**
 * Creates a job for a part, which is recorded before the request goes out and as soon as its answer is there.
 * @throws SvcError `config` when the key belongs to another tenant than the run
 */
async function createJob(work: PartWork): Promise<AccountUpdaterJob> {
  const { client, part, save } = work;
  await requireOwnTenant(work);
  if (part.state === 'creating') await findOrphanJobs(work);
  part.state = 'creating';
  part.creating_since = new Date(client.now()).toISOString();
  save();
  const job = await client.accountUpdater.create().catch((error: unknown) => {
    if (!isUnclear(error)) forgetCreation(work);
    throw error;
  });
  try {
    noteTenant(work, job);
  } catch (error) {
    forgetCreation(work);
    throw error;
  }
  part.job = job.id;
  part.state = 'created';
  if (job.expires_at) part.expires_at = job.expires_at;
  delete part.creating_since;
  save();
  reportCreated(work, job);
  return job;
}

/**
 * Takes back a job that seemed to be gone and has its file after all: a replica had lagged.
 * @returns whether there was one, so that nothing is to be uploaded
 */
async function restoreJob({ client, part, save }: PartWork): Promise<boolean> {
  for (const { job: id, ended } of part.earlier_jobs ?? []) {
    const job = ended === 'gone' ? await findJob(client, id) : undefined;
    if (job === undefined || job.status === 'pending' || job.status === 'failed') continue;
    part.earlier_jobs = part.earlier_jobs?.filter((earlier) => earlier.job !== id) ?? [];
    delete part.creating_since;
    [part.job, part.state, part.sent] = [id, 'uploaded', 'stored'];
    save();
    return true;
  }
  return false;
}

function forgetCreation({ part, save }: PartWork): void {
  part.state = 'planned';
  delete part.creating_since;
  save();
}

function reportCreated({ part, onEvent }: PartWork, job: AccountUpdaterJob): void {
  const before = part.earlier_jobs?.at(-1);
  if (before?.ended === 'gone') onEvent?.({ kind: 'replaced', gone: before.job, job: job.id });
  else onEvent?.({ kind: 'created', job });
}

const UNCLEAR = ['outcome_unknown', 'hangup', 'interrupted', 'terminated', 'timeout'] as const;

/** A clear no created nothing; after anything else, an interrupt too, the next run looks at recent jobs first. */
function isUnclear(error: unknown): boolean {
  return !(error instanceof SvcError) || isSvcError(error, ...UNCLEAR);
}

/**
 * After a creation without a clear answer: says which jobs may have come of it. They are not taken over, since
 * another process may own them: a job that gets no file vanishes after an hour and costs nothing.
 */
async function findOrphanJobs({ client, part, record, onEvent }: PartWork): Promise<void> {
  const since = Date.parse(part.creating_since ?? '') - 60_000;
  const ours = new Set(record.parts.map(({ job }) => job));
  for await (const jobs of jobPages(client)) {
    const recent = jobs.filter((job) => Date.parse(job.created_at ?? '') >= since);
    for (const { id, status } of recent)
      if (status === 'pending' && !ours.has(id)) onEvent?.({ kind: 'orphan', job: id });
    if (recent.length < jobs.length) return;
  }
}
