// Creates the jobs for free rows, claims the rows and uploads them; finishes uploads that an earlier command began.

import path from 'node:path';
import { senderOf } from '../job/job-files.ts';
import { type JobOptions, findJob } from '../job/job.ts';
import type { SpareJob } from '../job/spare-job.ts';
import { uploadAddress, uploadToJob } from '../job/upload.ts';
import { type CompareAgain, compareClaimed } from './begin-cycle.ts';
import { compareJobs, refuseUnknownJobs } from './compare-jobs.ts';
import type { ClaimedCycle } from './missing-results.ts';
import { RowClaims } from './row-claims.ts';
import type { Comparison } from './unknown-jobs.ts';
import { RowsTaken } from '../ledger/claim-rows.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import type { DividedRows } from '../request/rows-file.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import { parseTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { type UploadSource, fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { MINUTE_MS } from '../../schema/durations.ts';

/** How many jobs get their files at the same time. */
const AT_ONCE = 3;

/** The largest age of a job that counts as just created. */
const NEW_JOB_MS = 10 * MINUTE_MS;

/** The rows for one new job. */
export interface Slice {
  readonly source: UploadSource;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** The number of the job within the file, starting at 1. */
  readonly number: number;
}

/** Returns a slice for each part of the files, since a part fits into one job. */
export async function slicesOf(files: readonly Pick<DividedRows, 'path' | 'check'>[]): Promise<Slice[]> {
  const slices: Slice[] = [];
  for (const { path, check } of files) {
    const isWhole = check.parts.length === 1;
    const prefix = isWhole ? undefined : await bytesOf(path, check.headerBytes);
    for (const { rows, start, end, bytes, sha256 } of check.parts) {
      const range = isWhole ? {} : { start, end, prefix };
      const source = await fileSource(path, { ...range, sha256 });
      slices.push({ source, rows, bytes, sha256, number: slices.length + 1 });
    }
  }
  return slices;
}

async function bytesOf(file: string, end: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await fileSource(file, { end })).open()) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

export interface SendOptions extends JobOptions {
  readonly rows: RowClaims;
  readonly ledger: CommandLedger;
  readonly spare: SpareJob;
  /** The file with the rows, and the name of its cycle in the ledger. */
  readonly file: Pick<RequestFile, 'name' | 'check'> & { readonly cycle: string };
  /** The comparison of the service's jobs with the ledger. */
  readonly comparing: Comparison;
  /** The command that continues later, as words. */
  readonly again: readonly string[];
  /** Compares the file with the other cycles once more, after a claim and before its upload. */
  readonly compareAgain: CompareAgain;
  /** Called with a job before its creation is shown. */
  readonly onCreated: (job: string, slice: Slice) => void;
  /** Called with a job as soon as the ledger has its claim. */
  readonly onClaimed: (job: string, slice: Slice) => void;
  /** Called with a job that was removed before anything was sent to it. */
  readonly onExpired: (job: string) => void;
}

/** The options and the comparisons that all jobs of one command share. */
interface SendState extends SendOptions {
  readonly context: Context;
  readonly client: Client;
  readonly slices: readonly Slice[];
  /** The sets of the rows of all slices, if there are several. */
  rowSets?: Promise<string[] | undefined>;
  comparedForUpload?: Promise<void>;
  comparedForCreation?: Promise<void>;
}

/**
 * Creates a job for each slice, claims the rows in the ledger, and uploads them, several jobs at a time. Stops at the first
 * failure.
 * @throws RowsTaken if the rows must be divided again: another job got some of them, or their own job was removed
 * @throws SvcError `outcome_unknown` if an upload may have arrived unconfirmed, or the ledger does not know some jobs
 */
export async function sendRows(
  context: Context,
  client: Client,
  slices: readonly Slice[],
  sending: SendOptions,
): Promise<void> {
  const shared: SendState = { ...sending, context, client, slices };
  const waiting = [...slices];
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let slice = waiting.shift(); slice && failures.length === 0; slice = waiting.shift()) {
      try {
        await sendSlice(shared, slice);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  // An upload that may have arrived matters more than rows that another job took.
  const failure = failures.find((error) => !(error instanceof RowsTaken)) ?? failures[0];
  if (failure !== undefined) throw failure;
}

async function sendSlice(shared: SendState, slice: Slice): Promise<void> {
  const { context, client, ledger, onEvent, spare } = shared;
  const job = await createJob(shared);
  shared.onCreated(job.id, slice);
  onEvent?.({ kind: 'created', job });
  // Rows are not claimed for a job whose address svc cannot use.
  uploadAddress(job, client);
  await (shared.comparedForUpload ??= compareBeforeUpload(shared, job));
  const files = ledger.jobFiles(job.id);
  let isBound = false;
  try {
    await files.hold(context.system, async () => {
      await files.begin(slice.source, senderOf(context), 'some');
      await claimSlice(shared, job, slice);
      isBound = true;
      const opened = await ledger.open(shared.comparing.tenant);
      await compareClaimed(opened.cycle(shared.file.cycle), files, shared.compareAgain);
      shared.onClaimed(job.id, slice);
      await uploadToJob(client, job, slice.source, { onEvent, onSent: files.record });
      files.record('stored');
    });
  } catch (error) {
    if (isSvcError(error, 'job_expired')) throw jobRemovedError(shared, job.id);
    if (!isBound && !(await mayBeClaimed(shared, job))) {
      files.remove();
      spare.put(job);
    }
    throw error;
  }
}

/** Tells whether the ledger may have a claim of a job. If the ledger cannot be read, the job's rows are kept. */
async function mayBeClaimed({ ledger, comparing }: SendState, { id }: AccountUpdaterJob): Promise<boolean> {
  try {
    return (await ledger.claimed(comparing.tenant, id)) !== undefined;
  } catch (error) {
    if (isSvcError(error)) return true;
    throw error;
  }
}

/** Returns the error for rows whose job was removed: the ledger must free the rows before another job gets them. */
function jobRemovedError({ onExpired }: SendState, job: string): RowsTaken {
  onExpired(job);
  return new RowsTaken('job_expired', `job ${job} was removed before its file was uploaded`, {
    hint: 'Run the same command again, which creates another job.',
    retryable: true,
    facts: { job },
  });
}

/** Creates a job, or takes the spare one. @throws SvcError `config` if the key belongs to another tenant */
async function createJob(shared: SendState): Promise<AccountUpdaterJob> {
  const { ledger, spare, client } = shared;
  const { tenant } = shared.comparing;
  (await ledger.open(tenant)).requireWritable();
  let job = spare.take();
  if (job === undefined) {
    await (shared.comparedForCreation ??= compareBeforeCreating(shared));
    job = await spare.create();
  }
  requireNew(job, client.now());
  const jobTenant = ledger.tenantOf(job);
  if (jobTenant !== tenant)
    throw new SvcError('config', `the ledger of tenant ${tenant} was read, and this key creates jobs of ${jobTenant}`, {
      hint: 'Nothing was uploaded. Use the key of one tenant for the whole command.',
      facts: { job: job.id, tenant_id: jobTenant },
    });
  return job;
}

/** Compares the jobs with the ledger before the first job is created, if an earlier job showed the key's application. */
async function compareBeforeCreating({ client, spare, comparing }: SendState): Promise<void> {
  const creator = await spare.creator();
  if (creator !== undefined) await refuseUnknownJobs(client, comparing, creator);
}

async function compareBeforeUpload(
  { client, comparing, again, onEvent }: SendState,
  job: AccountUpdaterJob,
): Promise<void> {
  const jobs = await compareJobs(client, { ...comparing, job, again });
  if (jobs?.length !== 0) onEvent?.({ kind: 'unrecorded', jobs });
}

async function claimSlice(
  shared: SendState,
  job: AccountUpdaterJob,
  { source, sha256, bytes, number }: Slice,
): Promise<void> {
  const { context, client, rows } = shared;
  const { name, cycle, check } = shared.file;
  // If the command ends between two jobs, its first claim, which is of one of these slices, shows which rows have none.
  const rowSets =
    number > AT_ONCE
      ? undefined
      : await (shared.rowSets ??= rows.createRowSets(shared.comparing.tenant, cycle, shared.slices));
  const claimedFile = { name: path.basename(name), sha256: check.sha256, rows: check.rows, row_sets: rowSets };
  await rows.claim(context, client, { job, cycle, file: claimedFile, part: number, bytes, source, sha256 });
}

/** Checks that a created job is new and waits for its file. @throws SvcError `bad_response` */
function requireNew(job: AccountUpdaterJob, now: number): void {
  const isOld = now - (parseTime(job.created_at ?? '') ?? NaN) > NEW_JOB_MS;
  const problem =
    (job.status !== 'pending' && `which is ${job.status}`) ||
    (isOld && `which was created at ${job.created_at}`) ||
    (!job.upload_url && 'which came without an upload address');
  if (!problem) return;
  throw new SvcError('bad_response', `the service was to create a job and responded with job ${job.id}, ${problem}`, {
    hint: 'Nothing was uploaded. Try again later; if it happens again, contact support with the job id.',
    next: ['au', 'status', job.id],
    facts: { job: job.id, job_status: job.status },
  });
}

/**
 * Finishes the uploads that an earlier command on this machine began for claims of a cycle. A file whose last bytes may have
 * been sent is not sent again.
 * @throws SvcError `config` if the key belongs to another tenant than the profile's
 */
export async function finishUploads(
  context: Context,
  client: Client,
  { name, tenant, ledger, claims }: Pick<ClaimedCycle, 'name' | 'tenant' | 'ledger' | 'claims'>,
  onEvent: JobOptions['onEvent'],
): Promise<void> {
  for (const { job: id, sha256, part, file, bytes } of claims) {
    const files = ledger.jobFiles(id);
    if (files.sent !== 'some' || (await hashIfReadable(files.request)) !== sha256) continue;
    requireKnownTenant(context, tenant, 'nothing was uploaded');
    await files.hold(context.system, async () => {
      const job = await findJob(client, id);
      if (job?.status !== 'pending' || files.sent !== 'some') return;
      uploadAddress(job, client);
      const source = await fileSource(files.request, { sha256 });
      // Checks that the job still has the only claim of its rows before more of the file is sent.
      await new RowClaims(ledger).claim(context, client, { job, cycle: name, part, file, bytes, source, sha256 });
      try {
        await uploadToJob(client, job, source, { onEvent, onSent: files.record });
        files.record('stored');
      } catch (error) {
        // The next poll settles the claim of a removed job.
        if (!isSvcError(error, 'job_expired')) throw error;
      }
    });
  }
}
