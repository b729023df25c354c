import path from 'node:path';
import type { Context } from '../cli/app/command.ts';
import { wholeId } from '../cli/app/whole-id.ts';
import { directoryOf } from '../cli/config/paths.ts';
import { claimsSeen } from './open-claims.ts';
import { MAX_PAGE_SIZE } from '../schema/page-size.ts';

/**
 * Returns the id of the job that a word stands for: one of the newest jobs of the tenant, or of those in the ledger that this
 * machine has seen.
 * @throws SvcError `usage` for a short id of several jobs
 */
export function wholeJobId(context: Context, typed: string): Promise<string> {
  return wholeId(context, typed, async () => {
    const { accountUpdater } = await context.client();
    const listed = await accountUpdater.list({ pageSize: MAX_PAGE_SIZE }).first(MAX_PAGE_SIZE);
    const state = directoryOf(context.system, 'state');
    const claimed = state === undefined ? [] : claimsSeen(path.join(state, 'ledger'));
    return [...new Set([...listed, ...claimed.map(({ job }) => ({ id: job }))].map(({ id }) => id))];
  });
}
