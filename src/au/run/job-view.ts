import { SvcError } from '../../base/errors.ts';
import type { Context, PreviewRequest } from '../../cli/app/command.ts';
import { fieldPaths, statusAmong, type View } from '../../cli/output/view.ts';
import { JOB_STATUSES } from '../../schema/account-updater-files.ts';
import type { ListedJob } from '../../schema/account-updater.ts';
import { namedRun } from './recorded-runs.ts';
import { toneOf } from './run-view.ts';

/** Returns the request for a job, or for the first job of a run, for `--curl`. */
export async function jobRequest(context: Context, argument: string): Promise<PreviewRequest> {
  const run = await namedRun(context, argument);
  const job = run ? run.record.parts.find((part) => part.job !== undefined)?.job : argument;
  if (job !== undefined) return (await import('../../client/api/resources.ts')).readJobRequest(job);
  throw new SvcError('usage', `--curl has nothing to show: ${argument} has no job yet`, { hint: 'Omit --curl.' });
}

/** The view of Account Updater jobs. Their upload and download addresses are secrets. */
export const jobView: View<ListedJob> = {
  name: 'job',
  fields: fieldPaths('id tenant_id status created_by created_at expires_at upload_url errors download_url'),
  columns: [
    { path: 'id', kind: 'id' },
    { path: 'status', kind: 'status', least: 11, show: statusAmong(JOB_STATUSES), paint: toneOf },
    { path: 'created_at', kind: 'time', priority: 3 },
    { path: 'expires_at', kind: 'time', priority: 1 },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
  secret: ['upload_url', 'download_url'],
};
