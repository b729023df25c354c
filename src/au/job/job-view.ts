// The view of a job, and the first request of each command with jobs.

import type { PreviewRequest } from '../../cli/app/command.ts';
import { fieldPaths, statusAmong, type Tone, type View } from '../../cli/output/view.ts';
import { JOB_STATUSES } from '../../schema/account-updater-files.ts';
import type { ListedJob } from '../../schema/account-updater.ts';
import { isJobId } from './job.ts';
import { MAX_PAGE_SIZE } from '../../schema/page-size.ts';

/** Returns the request for a job, for `--curl`. */
export async function jobRequest(job: string): Promise<PreviewRequest> {
  return (await import('../../client/api/resources.ts')).readJobRequest(job);
}

/** The view of Account Updater jobs. Their upload and download addresses are secrets. */
export const jobView: View<ListedJob> = {
  name: 'job',
  fields: fieldPaths('id tenant_id status created_by created_at expires_at upload_url errors download_url'),
  columns: [
    { path: 'id', kind: 'id' },
    { path: 'status', kind: 'status', minWidth: 11, show: statusAmong(JOB_STATUSES), paint: toneOf },
    { path: 'created_at', kind: 'time', priority: 3 },
    { path: 'expires_at', kind: 'time', priority: 1 },
    { path: 'errors', kind: 'text', priority: 2 },
  ],
  secret: ['upload_url', 'download_url'],
};

/** Returns the color of the status of a job, a file or a cycle. */
export function toneOf(status: unknown): Tone | undefined {
  return TONES.get(status);
}

const TONES: ReadonlyMap<unknown, Tone> = new Map([
  ['completed', 'good'],
  ['failed', 'bad'],
  ['unknown', 'warn'],
  ['pending', 'quiet'],
]);

/** Returns the first request of a submission: the newest jobs name the tenant, whose ledger is then read. */
export async function firstRequest(): Promise<PreviewRequest> {
  const { listJobsRequest } = await import('../../client/api/resources.ts');
  const { pageRequest } = await import('../../client/api/pages.ts');
  return pageRequest(listJobsRequest(), { pageSize: MAX_PAGE_SIZE });
}

/** Returns the first request of a submission that changes something at the service. */
export async function firstChange(): Promise<PreviewRequest> {
  return (await import('../../client/api/resources.ts')).createJobRequest();
}

/** Returns the first request of a command about a job, or about a cycle or everything open. */
export async function jobOrListRequest(named: string | undefined): Promise<PreviewRequest> {
  return named !== undefined && isJobId(named) ? jobRequest(named) : firstRequest();
}
