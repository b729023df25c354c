import type { Context } from '../cli/app/command.ts';
import { wholeId } from '../cli/app/whole-id.ts';
import { serviceOf } from '../cli/app/service.ts';
import { knownJobs } from './run/recorded-runs.ts';
import { everyRecord } from './run/run-view.ts';

/**
 * Returns the id of the job that a word stands for: one of the newest jobs of the tenant, or of those that this machine sent.
 * @throws SvcError `usage` for a short id of several jobs
 */
export function wholeJobId(context: Context, typed: string): Promise<string> {
  return wholeId(context, typed, async () => {
    const { accountUpdater } = await context.client();
    const listed = await accountUpdater.list({ pageSize: 100 }).first(100);
    const recorded = knownJobs(await everyRecord(context), serviceOf(context) === 'sandbox');
    return [...listed.map(({ id }) => id), ...recorded];
  });
}
