import { isSvcError, SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import { findJob, jobPages } from './job.ts';
import { noteTenant, requireOwnTenant } from './own-tenant.ts';
import type { PartWork } from './part-work.ts';

/**
 * Creates a job for a part, which is recorded before the request goes out and as soon as its answer is there.
 * @throws SvcError `config` when the key belongs to another tenant than the run
 */
export async function createJob(work: PartWork): Promise<AccountUpdaterJob> {
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
export async function restoreJob({ client, part, save }: PartWork): Promise<boolean> {
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

const UNCLEAR = ['outcome_unknown', 'hangup', 'interrupted', 'terminated', 'time_up'] as const;

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
      if (status === 'pending' && !ours.has(id)) onEvent?.({ kind: 'stray', job: id });
    if (recent.length < jobs.length) return;
  }
}
