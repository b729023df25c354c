import type { PreviewRequest } from '../../cli/app/command.ts';
import { isJobId } from './job.ts';
import { jobRequest } from './job-view.ts';

/** Returns the first request of a submission: the newest jobs name the tenant, whose ledger is then read. */
export async function firstRequest(): Promise<PreviewRequest> {
  const { listJobsRequest } = await import('../../client/api/resources.ts');
  const { pageRequest } = await import('../../client/api/pages.ts');
  return pageRequest(listJobsRequest(), { pageSize: 100 });
}

/** Returns the first request of a submission that changes something at the service. */
export async function firstChange(): Promise<PreviewRequest> {
  return (await import('../../client/api/resources.ts')).createJobRequest();
}

/** Returns the first request of a command about a job, or about a cycle or everything open. */
export async function jobOrListRequest(named: string | undefined): Promise<PreviewRequest> {
  return named !== undefined && isJobId(named) ? jobRequest(named) : firstRequest();
}
