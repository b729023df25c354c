// 'svc au resume <job>': continues the upload of one job, then polls it.

import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { noteNext } from '../../cli/app/hint.ts';
import { recordPrinter } from '../../cli/app/print.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { endError, readJob } from '../job/job.ts';
import { explainMissing, mayBeFound } from './missing-job.ts';
import { jobView } from '../job/job-view.ts';
import { showJobs } from '../job/show-progress.ts';
import { openComparedLedger } from './compare-jobs.ts';
import { hasStandingClaim } from '../ledger/claims.ts';
import { finishUploads } from './send-rows.ts';
import { readTenantOfKey } from '../job/tenant-of-key.ts';
import { optionWords, type ResumeOptions, withWait } from './options.ts';
import { outlast, waitForJob } from '../job/wait.ts';

/** Polls one job once, or with `--wait` until it is completed, and prints it. With `--dry-run`, only reads and prints it. */
export async function resumeJob(context: Context, job: string, input: ResumeOptions): Promise<undefined> {
  const print = await recordPrinter(context, jobView);
  const client = await context.client();
  const again = ['au', 'resume', job, ...optionWords(input)];
  const begun = await begunUpload(context, client, job, input);
  if (input.dryRun) {
    await print(await explainMissing(context, job, readJob(client, job)));
    const upload = begun === undefined ? '' : 'finish its upload and ';
    context.notices.note(`dry run: it would ${upload}poll job ${job}`);
    return undefined;
  }
  if (begun !== undefined) await finishUploads(context, client, begun, showJobs(context));
  const waiting = { onEvent: showJobs(context), again, mayBeFound: () => mayBeFound(context, job) };
  const reading = input.wait
    ? waitForJob(client, job, waiting)
    : readOnce(client, job, { print, again: withWait(again) });
  await print(await explainMissing(context, job, reading));
  noteNext(context, 'to get the results', ['au', 'download', job]);
}

/** Returns the claim whose upload an earlier command on this machine began; undefined without one. */
async function begunUpload(
  context: Context,
  client: Client,
  job: string,
  { wait, dryRun }: Pick<ResumeOptions, 'wait' | 'dryRun'>,
): Promise<Parameters<typeof finishUploads>[2] | undefined> {
  const ledger = openComparedLedger(context, ['au', 'resume', job], { onlyReads: dryRun });
  if (ledger.jobFiles(job).sent !== 'some') return undefined;
  const tenant = await outlast(context, wait, () => readTenantOfKey(client));
  const claimed = tenant === undefined ? undefined : await ledger.claimed(tenant, job);
  if (tenant === undefined || claimed === undefined || !hasStandingClaim(claimed.entries, job)) return undefined;
  return { name: claimed.cycle.name, tenant, ledger, claims: [claimed.claim] };
}

/** Returns a completed job, and prints any other. @throws SvcError `job_failed`, `pending` for a job that is not completed */
async function readOnce(
  client: Client,
  id: string,
  { print, again }: { print: (job: AccountUpdaterJob) => Promise<void>; again: readonly string[] },
): Promise<AccountUpdaterJob> {
  const job = await readJob(client, id);
  if (job.status === 'completed') return job;
  await print(job);
  const ended = endError(job);
  if (ended) throw ended;
  throw new SvcError('pending', `job ${id} is ${job.status}`, {
    next: again,
    facts: { job: id, job_status: job.status },
  });
}
