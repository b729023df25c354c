// Explains a job that the service does not find by what this machine and the ledger know of the job.

import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { parseTime } from '../../cli/output/time.ts';
import { missingError } from '../job/job.ts';
import type { JobFiles } from '../job/job-files.ts';
import { doubtError } from '../ledger/doubt.ts';
import { deliveryOf, wereResultsRead, hasStandingClaim } from '../ledger/claims.ts';
import type { ClaimedJob } from '../ledger/command-ledger.ts';
import { keptResults } from '../results/reading.ts';

/**
 * Runs `work`. If the service does not find the job, throws an error with everything that is known of the job.
 * @throws SvcError `outcome_unknown` for a job that has its file, or may have it
 */
export async function explainMissing<T>(context: Context, id: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isSvcError(error, 'job_expired')) throw error;
    throw await missingJobError(context, id);
  }
}

/** Tells whether the service may find a job later: its file may have been sent. */
export async function mayBeFound(context: Context, id: string): Promise<boolean> {
  const { code, retryable } = await missingJobError(context, id);
  return code === 'outcome_unknown' && retryable;
}

async function missingJobError(context: Context, id: string): Promise<SvcError> {
  const now = (await context.client()).now();
  // Without a state directory, there is no ledger either.
  if (directoryOf(context.system, 'state') === undefined) return missingError(id);
  try {
    return await errorFromLedger(context, id, now);
  } catch (error) {
    if (!isSvcError(error) || context.signal.aborted) throw error;
    const message = `job ${id} is not found, and whether its file was sent is not known: ${error.message}`;
    return error.with({ code: 'outcome_unknown', message, facts: { job: id } });
  }
}

/** Returns the error for a missing job: from its claim in a ledger, or else from its files on this machine. */
async function errorFromLedger(context: Context, id: string, now: number): Promise<SvcError> {
  const { CommandLedger } = await import('../ledger/command-ledger.ts');
  const ledger = new CommandLedger(context, { onlyReads: true });
  for await (const [tenant] of ledger.everyTenant()) {
    const claimed = await ledger.claimed(tenant, id);
    if (claimed === undefined) continue;
    const isKept = (await keptResults(ledger, tenant, id)) !== undefined;
    return errorFromClaim(claimed, ledger.jobFiles(id), isKept, now);
  }
  if (!ledger.jobFiles(id).mayBeSent) return missingError(id);
  return new SvcError(
    'outcome_unknown',
    `job ${id} is not found, though it may have the file that svc sent from this machine`,
    {
      hint: 'The ledger that is set does not have the job. The service may lag: try again in a few minutes. Nothing is sent again.',
      next: ['au', 'jobs'],
      retryable: true,
      facts: { job: id },
    },
  );
}

function errorFromClaim(
  { claim, cycle: { name: cycle }, entries }: ClaimedJob,
  sent: JobFiles,
  isKept: boolean,
  now: number,
): SvcError {
  const { job } = claim;
  const doubting = { cycle, now, again: ['au', 'resume', cycle] };
  if (isKept || deliveryOf(entries, job) !== undefined) {
    const doubt = doubtError([{ claim, why: 'delivered' }], doubting);
    const hint = 'The service forgets jobs after a while, or may lag. This machine keeps the results:';
    return isKept ? doubt.with({ hint, next: ['au', 'download', job] }) : doubt.with({ next: ['au', 'status', cycle] });
  }
  if (wereResultsRead(entries, job)) return doubtError([{ claim, why: 'read' }], doubting);
  // Nothing is billed for an ended claim, or below, for an upload that stopped before its last bytes.
  if (!hasStandingClaim(entries, job)) return missingError(job);
  const expiresAt = parseTime(claim.expires_at ?? '');
  if (sent.sent === 'some') return missingError(job, expiresAt === undefined ? undefined : { expiresAt, now });
  const doubt = doubtError([{ claim, why: 'missing' }], doubting);
  if (!doubt.retryable) return doubt;
  return doubt.with({ hint: 'Nothing is sent again until then. To find out:', next: doubting.again });
}
