import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context, PreviewRequest } from '../../cli/app/command.ts';
import { fieldPaths, statusAmong, type View } from '../../cli/output/view.ts';
import { JOB_STATUSES } from '../../schema/account-updater-files.ts';
import type { ListedJob } from '../../schema/account-updater.ts';
import { missingError } from './job.ts';
import { namedRun, knownRunsRoot } from './recorded-runs.ts';
import { listRuns } from './run-directory.ts';
import { toneOf } from './run-view.ts';

/** Returns the request for a job, or for the first job of a run, for `--curl`. */
export async function jobRequest(context: Context, argument: string): Promise<PreviewRequest> {
  const run = await namedRun(context, argument);
  const job = run ? run.record.parts.find((part) => part.job !== undefined)?.job : argument;
  if (job !== undefined) return (await import('../../client/api/resources.ts')).readJobRequest(job);
  throw new SvcError('usage', `--curl has nothing to show: ${argument} has no job yet`, { hint: 'Omit --curl.' });
}

/** Adds this machine's record of a job to the error that the service cannot find the job. */
export async function explainMissing<T>(context: Context, id: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'job_expired')) throw error;
    const root = knownRunsRoot(context);
    const runs = root === undefined ? [] : (await listRuns(root)).runs;
    const parts = runs.flatMap(({ record }) => record.parts);
    const expiresAt = Date.parse(parts.find(({ job }) => job === id)?.expires_at ?? '');
    const now = (await context.client()).now();
    throw Number.isNaN(expiresAt) ? missingError(id) : missingError(id, { expiresAt, now });
  }
}

/** The view of Account Updater jobs. Their upload and download addresses are secrets. */
export const jobView: View<ListedJob> = {
  name: 'job',
  fields: fieldPaths('id tenant_id status created_by created_at expires_at upload_url errors download_url'),
  columns: [
    { path: 'id', kind: 'id' },
    { path: 'status', kind: 'status', show: statusAmong(JOB_STATUSES), paint: toneOf },
    { path: 'created_at', kind: 'time', priority: 3 },
    { path: 'expires_at', kind: 'time', priority: 1 },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
  secret: ['upload_url', 'download_url'],
};
