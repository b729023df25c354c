import type { Context } from '../../cli/app/command.ts';
import { requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { holdJob } from '../job/verdict.ts';
import { compareBeforeEntry } from './compare-before-entry.ts';
import { compareJobs } from './compare-jobs.ts';
import { type Confirmed, confirmWords } from './confirm-options.ts';
import { resultsReader } from './read-results.ts';
import { type JobFiles, senderOf } from '../job/job-files.ts';
import { showJobs } from '../job/show-progress.ts';
import { sentBefore } from '../job/upload.ts';

interface JobFile {
  readonly file: RequestFile;
  /** The file as typed. */
  readonly typed: string;
  readonly confirmed: Confirmed;
  /** Whether the ledger is only read, as by a dry run, which finds out whether the claim would succeed. */
  readonly onlyReads: boolean;
}

/**
 * Binds the rows of a whole file to a job that the operator chose for it, after a search for jobs that the ledger does not
 * know and that may have these rows. Then `send` gets what this machine keeps of the job, unless the ledger is only
 * read. Meanwhile the job is locked: `au abandon`, which frees its rows, locks it too.
 * @throws SvcError `pending` if another process works on the job, else as `compareJobs` and as the ledger's `claimFile`
 */
export async function claimFile(
  context: Context,
  client: Client,
  job: AccountUpdaterJob,
  file: JobFile,
  send: (sent: JobFiles) => Promise<void>,
): Promise<void> {
  const { onlyReads } = file;
  const ledger = new CommandLedger(context, { onlyReads });
  const sent = ledger.jobFiles(job.id);
  const claim = (): Promise<void> => bindFile(context, client, job, { ...file, ledger, sent });
  if (onlyReads) return claim();
  return holdJob(context, sent, async () => {
    await claim();
    await send(sent);
  });
}

/** The ledger for the rows of a file, and the record of what was sent to its job. */
interface FileToBind extends JobFile {
  readonly ledger: CommandLedger;
  readonly sent: JobFiles;
}

async function bindFile(
  context: Context,
  client: Client,
  job: AccountUpdaterJob,
  { file, typed, confirmed, onlyReads, ledger, sent }: FileToBind,
): Promise<void> {
  const tenant = ledger.tenantOf(job);
  requireKnownTenant(context, tenant, 'nothing was uploaded');
  const { payAgain, newLedger } = confirmed;
  const words = ['au', 'upload', job.id, typed, ...confirmWords(confirmed)];
  if (!onlyReads) compareBeforeEntry(context, client, ledger, words);
  const jobs = await compareJobs(client, { ledger, tenant, job, onlyRecorded: false, newLedger, again: words, words });
  if (jobs?.length !== 0) showJobs(context)({ kind: 'unrecorded', jobs });
  const read = resultsReader(context, client, ledger);
  let isNew = false;
  const onClaim = async (): Promise<void> => {
    isNew = true;
    // Another machine may claim the job first, so that this alone permits no upload.
    if (!onlyReads) await sent.begin(file.source, senderOf(context), 'claiming');
  };
  const isOwn = await ledger.claimFile(client, job, file, {
    payAgain,
    words,
    submit: ['au', 'submit', typed],
    read,
    onClaim,
  });
  const isClaiming = sent.sent === 'claiming';
  if (isOwn && isClaiming && !onlyReads) sent.record('some');
  // A dry run ends like the upload itself, which sends nothing.
  const goesOn = isNew || (isOwn && isClaiming);
  if (onlyReads && !goesOn && sent.mayBeWhole) throw sentBefore(job.id);
}
