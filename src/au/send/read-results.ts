import { isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import type { Client } from '../../client/api/client.ts';
import type { CommandLedger, ReadResults } from '../ledger/command-ledger.ts';
import { createSpool } from '../request/spool.ts';
import { downloadResults } from '../results/download.ts';

/** Failures that concern the results of one job, which would stop its cycle for good. */
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
  return async (tenant, { job, rows }) => {
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
      notices.warn(
        `the tokens that job ${job} made are not known, and would be billed if the file has them: ${error.message}`,
      );
    } finally {
      await spooled.remove();
    }
  };
}
