import { isSvcError, SvcError } from '../../base/errors.ts';
import { inspectTarget } from '../../base/files/target.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { argument, flag, value, writing } from '../../cli/app/parameter.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { simpleColumns, type View } from '../../cli/output/view.ts';
import { copyOut, openSpool } from '../request/spool-output.ts';
import {
  deliverResults,
  enterDelivery,
  noteUncompared,
  refetchOutdated,
  requireDestination,
  whyNotCompared,
} from '../wait/deliver.ts';
import { tenantOfKey } from '../run/tenant-proof.ts';
import { CommandLedger } from '../ledger/command-ledger.ts';
import {
  acceptUnproven,
  checksOf,
  downloadResults,
  invalidateResults,
  LATE_MS,
  refetchResults,
} from '../results/download.ts';
import type { Destination } from '../results/merge.ts';
import { explainMissing } from '../ledger/missing-job.ts';
import { jobRequest } from '../run/job-view.ts';
import { deliverFixFile } from '../wait/fix-file.ts';
import { pollRun } from '../wait/poll-run.ts';
import type { ResultsFile } from '../run/part.ts';
import { areCompared, isUntouched, statusOf } from '../run/record.ts';
import { refuseRequests } from '../run/own-requests.ts';
import { jobsOf, namedRun, recordedRuns, silentRuns } from '../run/recorded-runs.ts';
import { readableRequest, repairCopy } from '../run/request-copy.ts';
import type { RunDirectory } from '../run/run-directory.ts';
import { unfinishedError } from '../run/run-errors.ts';
import { resultsPath } from '../run/run-view.ts';
import { runWord } from '../run/run-word.ts';
import { showRun } from '../send/show-progress.ts';
import { settleUploads } from '../send/upload-parts.ts';
import { holdRun, resumable, verdictOf } from '../run/verdict.ts';
import { wholeJobId } from '../whole-job-id.ts';

type Downloaded = ResultsFile & { readonly compared: boolean };

/** The results of a run or of a job; the other one is null. */
interface DownloadRow extends Downloaded {
  readonly run: string | null;
  readonly job: string | null;
}

const downloadView: View<DownloadRow> = {
  name: 'download',
  fields: ['run', 'job', 'file', 'bytes', 'sha256', 'compared'],
  columns: simpleColumns({ run: 'id', job: 'id', file: 'text', bytes: 'number', sha256: 'id' }),
};

interface DownloadOptions extends Destination {
  /** Whether to accept kept results that are not proven complete. */
  readonly acceptUnproven: boolean;
}

export const download = defineCommand({
  description:
    'The results of a job are written byte for byte; those of a run are joined in the order of its request. A file is put in place only when it is verified; otherwise it is downloaded again, three times in all.',
  details:
    'A file is verified by its MD5 or its length, its header and columns, and, if the request can still be read, by when each token was requested.',
  examples: [
    ['svc au download 5f0c… --out results.csv', 'an interrupted transfer is resumed'],
    ['svc au download run-20260131-0a1b2c3d-4e5f', 'every part of a run, as one file'],
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
    of: argument('<job|run>', 'id of a job, or id or directory of a run', runWord),
    out: writing(value('--out <file|->', 'where to write, or - for standard output (default: results.csv)', text)),
    force: flag('--force', 'replace a file that exists; for a run, download it all again'),
    acceptUnproven: flag('--accept-unproven', 'accept results that were the same each time though a check fails'),
  },
  async run(context, { of, out, ...how }) {
    const print = await recordPrinter(context, downloadView);
    const run = await namedRun(context, of);
    const id = run ? of : await wholeJobId(context, of);
    const options = { out: out ?? (run ? resultsPath(context, run.record) : 'results.csv'), ...how };
    await requireDestination(context, options, run);
    const { bytes, sha256, compared } = run
      ? await holdRun(context, run, () =>
          resumable(again(run.name, options), { run: run.record.id }, downloadRun(context, run, options)),
        )
      : await downloadJob(context, id, options);
    const source = run ? { run: run.record.id, job: null } : { run: null, job: id };
    if (options.out !== '-') await print({ ...source, file: options.out, bytes, sha256, compared });
  },
  request: (context, { of }) => jobRequest(context, of),
});

async function downloadJob(context: Context, job: string, options: DownloadOptions) {
  const { out, force } = options;
  const ofJob = (await silentRuns(context)).filter(({ record }) => jobsOf(record).includes(job));
  refuseRequests(context, { '--out': out }, ofJob);
  const isFile = out !== '-' && (await inspectTarget(out, force)).kind === 'file';
  const file = isFile ? out : await openSpool(context);
  const client = await context.client();
  const sent = await sentRows(context, job);
  const ledger = new CommandLedger(context);
  let tenant: string | undefined;
  const tenantOf = async (ofJob: string | null | undefined): Promise<string | undefined> =>
    ofJob ?? sent.tenant ?? tenantOfKey(client);
  const downloading = downloadResults(client, job, file, {
    ...sent,
    overwrite: force,
    acceptUnproven: options.acceptUnproven,
    host: context.system,
    onEvent: showRun(context),
    lateMs: LATE_MS,
    compareRead: async (read, { tenant_id: ofJob }) => ledger.compareRead(await tenantOf(ofJob), job, read),
    onAccepted: async (accepted, { tenant_id: ofJob }) => {
      tenant = await tenantOf(ofJob);
      await ledger.enterWanted(tenant, job, accepted);
    },
  });
  const explained = explainMissing(context, job, downloading);
  const result = await resumable(again(job, options), { job }, explained).catch((error: unknown) => {
    throw orAccept(error, again(job, { ...options, acceptUnproven: true }));
  });
  if (!isFile) await copyOut(context, file, out);
  await enterDelivery(context, tenant, [job]);
  const isAccepted = result.flaws.length > 0;
  const compared = sent.request !== undefined && !isAccepted;
  const why = isAccepted ? 'they were accepted unproven' : sent.why;
  if (!compared) context.notices.note(`the results were not compared with the tokens of a request: ${why}`);
  return { ...result, compared };
}

const NO_RUN = 'no run on this machine has this job';

/** Finds the rows that a run on this machine sent to a job. Explains why if they cannot be read. */
async function sentRows(context: Context, job: string) {
  const of = ({ record }: RunDirectory): boolean => record.parts.some((part) => part.job === job);
  const { runs, unreadable } = await recordedRuns(context);
  // A run that only waits for the job has other rows of its file.
  const isOwn = ({ record }: RunDirectory): boolean =>
    record.parts.some((part) => part.job === job && part.joined === undefined);
  const run = runs.find(isOwn) ?? runs.find(of);
  const part = run?.record.parts.find((each) => each.job === job);
  if (!run || !part) {
    const why = unreadable.length > 0 ? 'the run of this job may be one that cannot be read' : NO_RUN;
    return { why, tenant: undefined };
  }
  const checks = await checksOf(run, part, await readableRequest(context, run));
  return { ...checks, why: whyNotCompared(run.record), tenant: run.record.tenant_id };
}

/** Returns the command that continues a download. */
function again(of: string, { out, force, acceptUnproven: accepts }: DownloadOptions): string[] {
  const flags = [...(force ? ['--force'] : []), ...(accepts ? ['--accept-unproven'] : [])];
  return ['au', 'download', of, ...option('--out', out), ...flags];
}

/** Adds to an error how to accept unproven results, if every download attempt returned the same bytes. */
function orAccept(error: unknown, next: readonly string[]): unknown {
  if (!isSvcError(error, 'checksum_mismatch') || typeof error.facts?.['kept'] !== 'string') return error;
  return error.with({ next });
}

/**
 * Downloads the available results of a run into one file, without waiting for jobs. For an abandoned run, downloads the parts
 * that have results. With `force`, downloads everything again.
 * @throws SvcError `pending` for an unfinished part, `job_failed` for a failed one
 */
async function downloadRun(context: Context, run: RunDirectory, options: DownloadOptions): Promise<Downloaded> {
  const { record } = run;
  if (isUntouched(record) && statusOf(record) !== 'abandoned') throw unfinishedError(run);
  await repairCopy(context, run);
  await invalidateResults(run);
  const ledger = new CommandLedger(context);
  await refetchOutdated(context, run, ledger);
  if (options.acceptUnproven) await acceptUnproven(run, (job, file) => ledger.enterWanted(record.tenant_id, job, file));
  else if (options.force) refetchResults(run);
  if (statusOf(record) !== 'completed') {
    const client = await context.client();
    await settleUploads(client, run);
    const polled = await pollRun(client, run, { onEvent: showRun(context, record), lateMs: LATE_MS, ledger });
    const reason = verdictOf(run, polled, { isPartial: statusOf(record) === 'abandoned' });
    if (reason) throw reason;
  }
  if (statusOf(record) === 'abandoned') warnOfSkipped(context, run);
  const results = await deliverResults(context, run, options);
  noteUncompared(context, record);
  await deliverFixFile(context, run);
  return { ...results, compared: areCompared(record) };
}

/** Warns about the parts of an abandoned run that have no results. @throws SvcError `not_found` if no part has any */
function warnOfSkipped({ notices }: Context, run: RunDirectory): void {
  const { id, parts } = run.record;
  const skipped = parts.filter(({ state }) => state !== 'downloaded');
  if (skipped.length === parts.length)
    throw new SvcError('not_found', `run ${id} was abandoned before any part of it had results`, {
      hint: 'To go on with it after all, name it:',
      next: run.resumeWords,
      facts: { run: id },
    });
  const rows = skipped.map(({ first_row, rows: count }) => `${first_row} to ${first_row + count - 1}`);
  notices.warn(`run ${id} was abandoned: the results do not include rows ${rows.join(', ')}`);
}
