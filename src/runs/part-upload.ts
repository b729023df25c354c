import { isSvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import { UploadUnclear } from '../transfer/failures.ts';
import { createJob, restoreJob } from './create-job.ts';
import { findJob } from './job.ts';
import { noteMissingSince, notePoll } from './part-poll.ts';
import { detachJob, type PartWork, type RunWork } from './part-work.ts';
import { type RunPart, sentOf } from './record.ts';
import { pollForFile, putFile } from './upload.ts';

const MAX_JOBS = 3;

/**
 * Brings a part to a job, from wherever it stopped. Nothing is uploaded twice: a part whose file may be in the store is
 * settled by its job or stays `unknown`; one whose job vanished without a file gets another job, and that is said.
 */
export async function bringPart(work: PartWork): Promise<void> {
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
