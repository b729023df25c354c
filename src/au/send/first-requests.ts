import type { Context, PreviewRequest } from '../../cli/app/command.ts';
import { isJobId } from '../run/job.ts';
import { jobRequest } from '../run/job-view.ts';
import { runOrCycle } from '../run/recorded-runs.ts';

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

/** Returns the first request of a command about a job or run, or about a cycle or everything open. */
export async function jobOrListRequest(context: Context, named: string | undefined): Promise<PreviewRequest> {
  if (named === undefined) return firstRequest();
  return isJobId(named) || (await runOrCycle(context, named)) ? jobRequest(context, named) : firstRequest();
}
