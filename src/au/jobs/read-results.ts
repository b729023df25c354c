import { isSvcError, type SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import { UnprovenDownload } from '../../client/transfer/download.ts';
import { AddressRefused } from '../../client/transfer/store.ts';
import { unreadError } from './submission-errors.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { ReadResults } from './row-claims.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { provableUntil } from '../ledger/proof-of-absence.ts';
import { createSpool } from '../request/spool.ts';
import { downloadResults, NoAddress } from '../results/download.ts';

/** Failures that concern the results of one job, and not the way to the service. */
const OF_ONE_JOB = [
  'bad_response',
  'checksum_mismatch',
  'forbidden',
  'job_expired',
  'job_failed',
  'not_found',
  'pending',
  'rejected',
  'truncated',
] as const;

/** Returns a function that reads the results of a completed job, so that the ledger knows the tokens that they made. */
export function resultsReader(context: Context, client: Client, ledger: CommandLedger): ReadResults {
  return async (tenant, claim) => {
    const { job, rows } = claim;
    const { notices, system } = context;
    notices.note(`reading the results of job ${job}: the ledger does not know yet which tokens they made`);
    const spooled = await createSpool(system);
    try {
      await downloadResults(client, job, spooled.path, {
        rowsSent: rows,
        onAccepted: (file) => ledger.enterResults(tenant, job, file),
      });
    } catch (error) {
      if (!isSvcError(error, ...OF_ONE_JOB)) throw error;
      if (!areUseless(error, claim, client.now())) throw unreadError(error, job);
      notices.warn(
        `the tokens that job ${job} made are not known, and would be billed if the file has them: ${error.message}`,
      );
    } finally {
      await spooled.remove();
    }
  };
}

/**
 * Tells whether reading the results again cannot help: each attempt got the same unusable bytes, or the results are gone and
 * the job is older than 7 days, so that the service may have removed them. If these results stopped the command too, no
 * later submission of the cycle could send anything.
 */
function areUseless(error: SvcError, claim: ClaimEntry, now: number): boolean {
  if (error instanceof UnprovenDownload) return error.kept !== undefined;
  // A bucket that may not be listed refuses an object that is gone.
  const areGone =
    error instanceof NoAddress || error instanceof AddressRefused || isSvcError(error, 'not_found', 'job_expired');
  return areGone && now > provableUntil(claim);
}
