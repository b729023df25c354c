import { jobRequest } from '../job/job-view.ts';
import { findJob } from '../job/job.ts';
import { resumable } from '../job/resumable.ts';
import { showJobs } from '../job/show-progress.ts';
import { readTenantOfKey } from '../job/tenant-of-key.ts';
import { openComparedLedger } from '../jobs/compare-jobs.ts';
import { explainMissing } from '../jobs/missing-job.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { copyOut, openSpool } from '../request/spool.ts';
import { LATE_MS, type ResultsChecks } from '../results/download.ts';
import { checksOf, readResultsOf } from '../results/job-results.ts';
import { type Destination, type ResultsFile, deliverResults, requireNoRequest } from '../results/merge.ts';
import { enterDelivery, keptResults } from '../results/reading.ts';
import { wholeJobId } from '../whole-job-id.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { inspectTarget } from '../../base/files/target.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { argument, flag, value, writing } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text, textToSend } from '../../cli/app/value-parsers.ts';
import { type View, simpleColumns } from '../../cli/output/view.ts';
import type { Client } from '../../client/api/client.ts';

interface DownloadRow extends ResultsFile {
  readonly job: string;
  /** Whether each result was matched with a row of the job. */
  readonly compared: boolean;
}

const downloadView: View<DownloadRow> = {
  name: 'download',
  fields: ['job', 'file', 'bytes', 'sha256', 'compared'],
  columns: simpleColumns({ job: 'id', file: 'text', bytes: 'number', sha256: 'id' }),
};

interface DownloadOptions extends Destination {
  /** Whether to accept results that are not proven complete. */
  readonly acceptUnproven: boolean;
}

export const download = defineCommand({
  description:
    'The results of a job are written byte for byte. A file is put in place only when it is verified; otherwise it is downloaded again, three times in all. The results of a whole file come with svc au submit, those of a cycle with svc au resume.',
  details:
    'A file is verified by its MD5 or its length, its header and columns, and, if this machine sent the rows, by when each token was requested.',
  examples: [
    ['svc au download 5f0c… --out results.csv', 'an interrupted transfer is resumed'],
    ['svc au download 5f0c… --out - | gzip > results.csv.gz', 'to standard output, once it is whole'],
  ],
  permissions: ['account-updater:job:read'],
  exitCodes: [
    9,
    [10, 'the job failed'],
    [11, 'no results yet'],
    [12, 'the results could not be verified; no file was replaced'],
    130,
  ],
  fields: downloadView.fields,
  parameters: {
    job: argument('<job>', 'id of a job', textToSend),
    out: writing(value('--out <file|->', 'where to write, or - for standard output (default: results.csv)', text)),
    force: flag('--force', 'replace a file that exists'),
    acceptUnproven: flag('--accept-unproven', 'accept results that were the same each time though a check fails'),
  },
  async run(context, { job: typed, out = 'results.csv', ...how }) {
    const print = await recordPrinter(context, downloadView);
    const job = await wholeJobId(context, typed);
    const options = { out, ...how };
    requireCsv(context, out);
    const downloading = downloadJob(context, job, options);
    const { bytes, sha256, compared } = await resumable(again(job, options), { job }, downloading);
    if (out !== '-') await print({ job, file: out, bytes, sha256, compared });
  },
  request: (_, { job }) => jobRequest(job),
});

/** Checks that a result file on standard output is not combined with another format. @throws SvcError `usage` */
function requireCsv({ globals, query }: Context, out: string): void {
  if (out !== '-') return;
  if ((globals.output ?? 'csv') === 'csv' && !query && globals.fields === undefined) return;
  throw new SvcError('usage', 'with --out - the output is the result file', {
    hint: 'Omit --output, --fields and --jq.',
  });
}

async function downloadJob(context: Context, job: string, options: DownloadOptions) {
  const { out, force } = options;
  if (out !== '-') await requireNoRequest(out);
  const isFile = out !== '-' && (await inspectTarget(out, force)).kind === 'file';
  const file = isFile ? out : await openSpool(context);
  const client = await context.client();
  const ledger = openComparedLedger(context, ['au', 'download', job]);
  const tenant = await tenantOfJob(client, job);
  const sent = await sentRows(ledger, tenant, job);
  const downloading = readResultsOf(context, client, { ledger, tenant, job }, file, {
    ...sent,
    overwrite: force,
    acceptUnproven: options.acceptUnproven,
    host: context.system,
    onEvent: showJobs(context),
    lateMs: LATE_MS,
  });
  try {
    const result = await explainMissing(context, job, downloading);
    if (!isFile) await copyOut(context, file, out);
    await enterDelivery(context, { tenant: result.tenant, ledger }, [job]);
    const isAccepted = result.flaws.length > 0;
    if (isAccepted) ledger.jobFiles(job).accept(file, result.sha256);
    const compared = sent.request !== undefined && !isAccepted;
    const why = isAccepted ? 'they were accepted unproven' : 'this machine did not send the job';
    if (!compared) context.notices.note(`the results were not compared with the tokens of a request: ${why}`);
    return { ...result, compared };
  } catch (error) {
    const kept = tenant && (await keptResults(ledger, tenant, job));
    if (!kept || !isSvcError(error, 'outcome_unknown', 'job_expired'))
      throw orAccept(error, again(job, { ...options, acceptUnproven: true }));
    context.notices.note('the service has forgotten the job; these are the results that this machine keeps');
    const destination = { out: file, force: force || !isFile, again: again(job, options) };
    const { bytes, sha256 } = await deliverResults(context, [kept], destination);
    if (!isFile) await copyOut(context, file, out);
    await enterDelivery(context, { tenant, ledger }, [job]);
    return { bytes, sha256, compared: sent.request !== undefined };
  }
}

/** Returns the tenant of a job, or the key's if the job is not found or names no tenant. */
async function tenantOfJob(client: Client, job: string): Promise<string | undefined> {
  return (await findJob(client, job))?.tenant_id || readTenantOfKey(client);
}

/** Returns the rows that this machine sent to a job, to check its results against. */
async function sentRows(ledger: CommandLedger, tenant: string | undefined, job: string): Promise<ResultsChecks> {
  const claimed = tenant === undefined ? undefined : await ledger.claimed(tenant, job);
  return claimed === undefined ? {} : checksOf(ledger, claimed.claim);
}

/** Returns the command that continues a download. */
function again(of: string, { out, force, acceptUnproven: accepts }: DownloadOptions): string[] {
  const flags = [...(force ? ['--force'] : []), ...(accepts ? ['--accept-unproven'] : [])];
  return ['au', 'download', of, ...option('--out', out), ...flags];
}

/** Adds the command that accepts unproven results to an error, if every attempt got the same bytes. */
function orAccept(error: unknown, next: readonly string[]): unknown {
  if (!isSvcError(error, 'checksum_mismatch') || typeof error.facts?.['kept'] !== 'string') return error;
  return error.with({ next });
}
