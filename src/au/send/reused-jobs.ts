import type { Context } from '../../cli/app/command.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { apply, type Part } from '../run/part.ts';
import type { RunDirectory } from '../run/run-directory.ts';

/**
 * Gives up the jobs of a run to which the ledger binds other rows. A record that was restored to an older time has such a
 * job if a later record, which is lost, used the job for other rows. Only the ledger knows which rows the job has. The
 * caller must have locked the run.
 */
export async function giveUpReusedJobs(
  { notices }: Pick<Context, 'notices'>,
  run: RunDirectory,
  ledger: CommandLedger,
): Promise<void> {
  const { record } = run;
  const own = record.parts.filter(mayBeReused);
  if (own.length === 0 || record.tenant_id === undefined) return;
  const opened = await ledger.open(record.tenant_id);
  for (const part of own) {
    const entries = (await (await opened.cycleOfJob(part.job ?? ''))?.read()) ?? [];
    const claim = entries.find((entry) => entry.kind === 'claim' && entry.job === part.job);
    if (claim?.kind !== 'claim' || claim.sha256 === part.sha256) continue;
    notices.warn(
      `job ${part.job} has other rows by the ledger: the rows of part ${part.number} of ${record.id} are sent unless another job has them`,
    );
    apply(part, { kind: 'reassigned' });
    run.save();
  }
}

/** Tells whether a part has a job to which this record never began to send anything. */
function mayBeReused({ state, job, joined, sent_at: sentAt }: Part): boolean {
  return (
    job !== undefined && joined === undefined && sentAt === undefined && state !== 'downloaded' && state !== 'uploading'
  );
}
