import type { Context } from '../../cli/app/command.ts';
import { requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import { serviceOf } from '../../cli/app/service.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { knownJobs } from '../run/recorded-runs.ts';
import { everyRecord } from '../run/run-view.ts';
import { holdRun } from '../run/verdict.ts';
import { compareJobs } from './compare-jobs.ts';
import { type Confirmed, confirmWords } from './confirm-options.ts';
import { resultsReader } from './read-results.ts';
import { senderOf, SentFile } from '../run/sent-file.ts';
import { showRun } from './show-progress.ts';
import { sentBefore } from './upload.ts';

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
 * know and that may have these rows. Then `send` gets the record of what was sent to the job, unless the ledger is only
 * read. Meanwhile the job is locked: `au abandon`, which frees its rows, locks it too.
 * @throws SvcError `pending` if another process works on the job, else as `compareJobs` and as the ledger's `claimFile`
 */
export async function claimFile(
  context: Context,
  client: Client,
  job: AccountUpdaterJob,
  file: JobFile,
  send: (sent: SentFile) => Promise<void>,
): Promise<void> {
  const { onlyReads } = file;
  const ledger = new CommandLedger(context, { onlyReads });
  const sent = new SentFile(await ledger.placeOf(ledger.tenantOf(job)), job.id);
  const claim = (): Promise<void> => bindFile(context, client, job, { ...file, ledger, sent });
  if (onlyReads) return claim();
  return holdRun(context, sent, async () => {
    await claim();
    await send(sent);
  });
}

/** The ledger for the rows of a file, and the record of what was sent to its job. */
interface FileToBind extends JobFile {
  readonly ledger: CommandLedger;
  readonly sent: SentFile;
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
  await ledger.enterRuns();
  const jobs = await compareJobs(client, {
    ledger,
    tenant,
    job,
    known: knownJobs(await everyRecord(context), serviceOf(context) === 'sandbox'),
    onlyRecorded: false,
    newLedger,
    unclearSince: [],
    again: words,
    words,
  });
  if (jobs?.length !== 0) showRun(context)({ kind: 'unrecorded', jobs });
  const read = resultsReader(context, client, ledger);
  let isNew = false;
  const onClaim = (): void => {
    isNew = true;
    if (!onlyReads) sent.begin(senderOf(context));
  };
  const isOwn = await ledger.claimFile(client, job, file, {
    payAgain,
    words,
    submit: ['au', 'submit', typed],
    read,
    onClaim,
  });
  if (isOwn && !onlyReads) sent.claimed();
  // A dry run ends like the upload itself, which sends nothing.
  const goesOn = isNew || (isOwn && sent.isClaiming);
  if (onlyReads && !goesOn && sent.mayBeWhole) throw sentBefore(job.id);
}
