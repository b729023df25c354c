import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { knownJobs } from '../run/recorded-runs.ts';
import { everyRecord } from '../run/run-view.ts';
import { compareJobs } from './compare-jobs.ts';
import { resultsReader } from './read-results.ts';
import { SentFile } from './sent-file.ts';
import { showRun } from './show-progress.ts';
import { sentBefore } from './upload.ts';

interface JobFile {
  readonly file: RequestFile;
  /** The file as typed. */
  readonly typed: string;
  /** Whether its cycle may begin with rows of another one, and an empty ledger although the key has jobs. */
  readonly begin: boolean;
  /** Whether the ledger is only read, as by a dry run, which finds out whether the claim would succeed. */
  readonly onlyReads: boolean;
}

/**
 * Binds the rows of a whole file to a job that the operator chose for it, after a search for jobs that the ledger does not
 * know and that may have these rows. Returns the record of what was sent to the job.
 * @throws SvcError as `compareJobs` and as the ledger's `claimFile`
 */
export async function claimFile(
  context: Context,
  client: Client,
  job: AccountUpdaterJob,
  { file, typed, begin, onlyReads }: JobFile,
): Promise<SentFile> {
  const ledger = new CommandLedger(context, { onlyReads });
  const tenant = ledger.tenantOf(job);
  const words = ['au', 'upload', job.id, typed];
  await ledger.enterRuns();
  const jobs = await compareJobs(client, {
    ledger,
    tenant,
    job,
    known: knownJobs(await everyRecord(context), serviceOf(context) === 'sandbox'),
    onlyRecorded: false,
    begin,
    unclearSince: [],
    again: words,
    words,
  });
  if (jobs?.length !== 0) showRun(context)({ kind: 'unrecorded', jobs });
  const read = resultsReader(context, client, ledger);
  const sent = new SentFile(await ledger.placeOf(tenant), job.id);
  let isNew = false;
  const onClaim = (): void => {
    isNew = true;
    if (!onlyReads) sent.begin();
  };
  const isOwn = await ledger.claimFile(client, job, file, {
    begin,
    words,
    submit: ['au', 'submit', typed],
    read,
    onClaim,
  });
  if (isOwn && !onlyReads) sent.claimed();
  // A dry run ends like the upload itself, which sends nothing.
  if (onlyReads && !isNew && sent.mayBeWhole) throw sentBefore(job.id);
  return sent;
}
