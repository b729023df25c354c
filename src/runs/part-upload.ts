import type { Client } from '../api/client.ts';
import { isSvcError, SvcError } from '../errors.ts';
import type { UploadSource } from '../transfer/source.ts';
import type { RunOptions } from './events.ts';
import { readJob } from './job.ts';
import type { RunPart } from './record.ts';
import { lookForFile, uploadToJob } from './upload.ts';

const MAX_JOBS = 3;

/** What bringing one part to a job needs. */
export interface PartWork extends RunOptions {
  readonly client: Client;
  readonly part: RunPart;
  readonly source: UploadSource;
  /** Puts the record on disk; called before and after every act that must not happen twice. */
  readonly save: () => void;
}

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
      letGo(work);
    }
  }
}

async function createJob(work: PartWork): Promise<void> {
  const { client, part, save } = work;
  if (part.state === 'creating') await lookForStray(work);
  part.state = 'creating';
  part.creating_since = new Date(client.now()).toISOString();
  save();
  try {
    const job = await client.accountUpdater.create();
    const gone = part.earlier_jobs?.at(-1);
    part.job = job.id;
    part.state = 'created';
    delete part.creating_since;
    save();
    work.onEvent?.(gone === undefined ? { kind: 'created', job } : { kind: 'replaced', gone, job: job.id });
  } catch (error) {
    // A clear no created nothing; after anything else the next run looks at recent jobs first.
    if (error instanceof SvcError && error.code !== 'outcome_unknown') {
      part.state = 'planned';
      delete part.creating_since;
      save();
    }
    throw error;
  }
}

/**
 * After a creation without a clear answer: says which jobs may have come of it. They are not taken over, since
 * another process may own them: a job that gets no file vanishes after an hour and costs nothing.
 */
async function lookForStray({ client, part, onEvent }: PartWork): Promise<void> {
  const since = Date.parse(part.creating_since ?? '') - 60_000;
  for await (const page of client.accountUpdater.list({ pageSize: 100 }).pages()) {
    const recent = page.items.filter((job) => Date.parse(job.created_at ?? '') >= since);
    for (const job of recent) if (job.status === 'pending') onEvent?.({ kind: 'stray', job: job.id });
    if (recent.length < page.items.length) return;
  }
}

async function upload(work: PartWork): Promise<void> {
  const { client, part, source, save } = work;
  const job = await readJob(client, part.job ?? '');
  if (job.status === 'pending') {
    part.state = 'uploading';
    save();
    await uploadToJob(client, job, source, work);
  }
  part.state = 'uploaded';
  save();
}

/** The last run ended between sending a file and noting it: the job itself tells whether it has it. */
async function resolveUpload(work: PartWork): Promise<void> {
  const { client, part, save } = work;
  try {
    part.state = (await lookForFile(part.job ?? '', client)) === 'uploaded' ? 'uploaded' : 'created';
    save();
  } catch (error) {
    if (!isSvcError(error, 'job_expired')) throw error;
    letGo(work);
  }
}

/** The job is gone, or failed: the part needs another one. */
export function letGo({ part, save }: Pick<PartWork, 'part' | 'save'>): void {
  if (part.job !== undefined) part.earlier_jobs = [...(part.earlier_jobs ?? []), part.job];
  delete part.job;
  delete part.errors;
  delete part.seen;
  part.state = 'planned';
  save();
}
