import { isSvcError } from '../errors.ts';
import { createJob } from './create-job.ts';
import { readJob } from './job.ts';
import { letGo, type PartWork } from './part-work.ts';
import { lookForFile, uploadToJob } from './upload.ts';

const MAX_JOBS = 3;

/**
 * Brings a part to a job, from wherever it stopped. Nothing is uploaded twice: a part whose upload may have
 * happened is looked into first; a job that vanished without a file gets a successor, and that is said.
 */
export async function bringPart(work: PartWork): Promise<void> {
  const { part } = work;
  for (let made = 0; ;) {
    if (part.state === 'uploading') await resolveUpload(work);
    if (part.state === 'uploaded' || part.state === 'completed' || part.state === 'downloaded') return;
    if (part.job === undefined || part.state === 'creating' || part.state === 'planned') {
      await createJob(work);
      made += 1;
    }
    try {
      await upload(work);
      return;
    } catch (error) {
      if (!isSvcError(error, 'job_expired') || made >= MAX_JOBS) throw error;
      letGo(work, 'gone');
    }
  }
}

async function upload(work: PartWork): Promise<void> {
  const { client, part, source, save } = work;
  const job = await readJob(client, part.job ?? '');
  if (job.status === 'pending') {
    part.state = 'uploading';
    part.sent_at = new Date(client.now()).toISOString();
    save();
    await uploadToJob(client, job, source, work);
  }
  part.state = 'uploaded';
  save();
}

/** The last run ended between sending a file and noting it: the job itself tells whether it has it. */
export async function resolveUpload({
  client,
  part,
  save,
}: Pick<PartWork, 'client' | 'part' | 'save'>): Promise<void> {
  try {
    part.state = (await lookForFile(part.job ?? '', client)) === 'uploaded' ? 'uploaded' : 'created';
    save();
  } catch (error) {
    if (!isSvcError(error, 'job_expired')) throw error;
    letGo({ part, save }, 'gone');
  }
}
