import { isSvcError, SvcError } from '../errors.ts';
import type { AccountUpdaterJob } from '../schema/account-updater.ts';
import type { PartWork } from './part-work.ts';
import type { RunPart } from './record.ts';

/**
 * Creates a job for a part, which is recorded before the request goes out and as soon as its answer is there.
 * @throws SvcError `config` when the key belongs to another tenant than the run
 */
export async function createJob(work: PartWork): Promise<void> {
  const { client, part, save } = work;
  if (part.state === 'creating') await lookForStray(work);
  part.state = 'creating';
  part.creating_since = new Date(client.now()).toISOString();
  save();
  const job = await client.accountUpdater.create().catch((error: unknown) => {
    if (!isUnclear(error)) {
      part.state = 'planned';
      delete part.creating_since;
      save();
    }
    throw error;
  });
  requireTenant(work, job);
  part.job = job.id;
  part.state = 'created';
  delete part.creating_since;
  save();
  tellCreated(work, job);
}

function tellCreated({ part, onEvent }: PartWork, job: AccountUpdaterJob): void {
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
 * A run belongs to one tenant: with the key of another its jobs seem to be gone, and their rows would be paid twice.
 * The job made to find out gets no file, vanishes after an hour and costs nothing.
 */
function requireTenant({ record, part, save }: PartWork, { tenant_id: tenant }: AccountUpdaterJob): void {
  if (!tenant || tenant === record.tenant_id) return;
  if (record.tenant_id === undefined) {
    record.tenant_id = tenant;
    return;
  }
  takeBack(part);
  save();
  throw new SvcError(
    'config',
    `run ${record.id} belongs to tenant ${record.tenant_id}, and this key to tenant ${tenant}: nothing was uploaded`,
    {
      hint: 'Use the key that the run was begun with, or begin another run with --again.',
      facts: { run: record.id, tenant_id: record.tenant_id, key_tenant_id: tenant },
    },
  );
}

/** The job that seemed to be gone is the part's again, and is to be looked into. */
function takeBack(part: RunPart): void {
  const last = part.earlier_jobs?.at(-1);
  if (last?.ended !== 'gone') return;
  part.earlier_jobs = part.earlier_jobs?.slice(0, -1) ?? [];
  part.job = last.job;
  part.state = 'uploading';
  delete part.creating_since;
}

/**
 * After a creation without a clear answer: says which jobs may have come of it. They are not taken over, since
 * another process may own them: a job that gets no file vanishes after an hour and costs nothing.
 */
async function lookForStray({ client, part, record, onEvent }: PartWork): Promise<void> {
  const since = Date.parse(part.creating_since ?? '') - 60_000;
  const ours = new Set(record.parts.map(({ job }) => job));
  for await (const page of client.accountUpdater.list({ pageSize: 100 }).pages()) {
    const recent = page.items.filter((job) => Date.parse(job.created_at ?? '') >= since);
    for (const { id, status } of recent)
      if (status === 'pending' && !ours.has(id)) onEvent?.({ kind: 'stray', job: id });
    if (recent.length < page.items.length) return;
  }
}
