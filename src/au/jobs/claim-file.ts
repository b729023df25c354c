// Claims all rows of a file for one job that the operator named: 'svc au upload'.

import path from 'node:path';
import { type JobFiles, senderOf } from '../job/job-files.ts';
import { showJobs } from '../job/show-progress.ts';
import { readKeyFacts } from '../job/tenant-of-key.ts';
import { sentBefore } from '../job/upload.ts';
import { compareClaimed, otherCycles, refuseRowsOfOthers } from './begin-cycle.ts';
import { NOTHING_SENT, type NamedFile, cycleText, senderText } from './claim-texts.ts';
import { compareJobs, openComparedLedger } from './compare-jobs.ts';
import type { Confirmed } from './options.ts';
import { type ComparedFile, RowClaims } from './row-claims.ts';
import { RowsTaken, jobBoundError } from '../ledger/claim-rows.ts';
import { type SettledClaim, standingClaims } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import { doubtError } from '../ledger/doubt.ts';
import type { RequestFile } from '../request/open-request-file.ts';
import { operatorOf } from '../../base/account.ts';
import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { requireKnownTenant } from '../../cli/app/tenant-mark.ts';
import { countText, formatNumber } from '../../cli/output/number.ts';
import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';

interface FileForJob {
  readonly file: RequestFile;
  /** The command, as words. */
  readonly words: readonly string[];
  /** The command that submits the file without naming a job, as words. */
  readonly submit: readonly string[];
  readonly confirmed: Confirmed;
  /** Whether a job of the key that the ledger does not know stops the upload. */
  readonly onlyRecorded: boolean;
  /** Whether to check without writing to the ledger, as a dry run does. */
  readonly onlyReads: boolean;
}

/**
 * Claims the rows of a file for a job, then calls `send` with the job's files on this machine. With `onlyReads`, only checks
 * whether the claim would succeed. The job is locked until `send` ends, so that `au abandon` cannot free its rows meanwhile.
 * @throws SvcError `pending` if another process works on the job, else as `compareJobs`, `requireFreeRows` and `RowClaims.claim`
 */
export async function claimFile(
  context: Context,
  client: Client,
  job: AccountUpdaterJob,
  file: FileForJob,
  send: (sent: JobFiles) => Promise<void>,
): Promise<void> {
  const { onlyReads, words } = file;
  const ledger = openComparedLedger(context, words, { onlyReads });
  const jobFiles = ledger.jobFiles(job.id);
  const claim = (): Promise<void> => bindFile(context, client, job, { ...file, ledger, sent: jobFiles });
  if (onlyReads) return claim();
  return jobFiles.hold(context.system, async () => {
    await claim();
    await send(jobFiles);
  });
}

/** A file, the ledger that gets its claim, and the record of what was sent to its job. */
interface FileToBind extends FileForJob {
  readonly ledger: CommandLedger;
  readonly sent: JobFiles;
}

async function bindFile(
  context: Context,
  client: Client,
  job: AccountUpdaterJob,
  { file: request, confirmed, onlyRecorded, onlyReads, words, submit, ledger, sent }: FileToBind,
): Promise<void> {
  const tenant = ledger.tenantOf(job);
  requireKnownTenant(context, tenant, 'nothing was uploaded');
  const { payAgain, newLedger } = confirmed;
  const opened = await ledger.open(tenant);
  const isNew = !ledger.isShared && !(await opened.isBegun());
  const pendingBefore = isNew ? await ledger.pendingBefore(tenant, await pendingOlderThan(client, job.id)) : undefined;
  const comparing = { ledger, tenant, onlyRecorded, newLedger, words, pendingBefore };
  const jobs = await compareJobs(client, { ...comparing, job, again: words });
  if (jobs?.length !== 0) showJobs(context)({ kind: 'unrecorded', jobs });
  const claims = new RowClaims(ledger);
  const requireFree = (): Promise<ComparedFile> => requireFreeRows(context, client, job, { request, ledger, claims });
  const { named, rows, isBegun } = await requireFree();
  const { cycle } = named;
  const { check, source } = request;
  const { bytes, sha256 } = check;
  const bound = standingClaims(await opened.cycle(cycle).read()).find((claim) => claim.job === job.id);
  // The same rows with other dates are another file, and a job takes only one file.
  if (bound && bound.sha256 !== sha256) throw jobBoundError(job.id);
  const { name } = named;
  const beginning = { name, rows: rows.size, cycle: undefined, words, submit, now: client.now() };
  const readOthers = () => otherCycles(opened, cycle, rows, sha256);
  const compareAgain =
    payAgain || isBegun ? undefined : await refuseRowsOfOthers(client, await readOthers(), readOthers, beginning);
  const isUnclaimed = bound === undefined;
  // 'claiming' permits no upload: another machine may still claim the job first.
  if (isUnclaimed && !onlyReads) await sent.begin(source, senderOf(context), 'claiming');
  const file = { name, sha256, rows: check.rows };
  const claiming = claims.claim(context, client, { job, cycle, file, part: 1, bytes, source, sha256 });
  const isClaimed = await claiming.catch(async (error: unknown) => {
    // Another job got rows meanwhile. This check asks the service about that job, and its error names it.
    if (error instanceof RowsTaken) await requireFree();
    throw error;
  });
  if (isClaimed && !onlyReads && compareAgain) await compareClaimed(opened.cycle(cycle), sent, compareAgain);
  const { host, user } = operatorOf(context.system);
  const isOwn = isClaimed || (bound?.by.host === host && bound.by.user === user);
  const isClaiming = sent.sent === 'claiming';
  if (isOwn && isClaiming && !onlyReads) sent.record('some');
  // Without a new or unfinished claim, the upload would fail with this error too.
  const goesOn = isUnclaimed || (isOwn && isClaiming);
  if (onlyReads && !goesOn && sent.mayBeWhole) throw sentBefore(job.id);
}

/** Returns the pending jobs that are older than a job. The operator may have created newer ones for other files. */
async function pendingOlderThan(client: Client, job: string): Promise<readonly string[]> {
  const { pending } = await readKeyFacts(client);
  return pending.slice(pending.indexOf(job) + 1);
}

/**
 * Checks that no other job has rows of a file.
 * @throws SvcError `conflict` if another job has rows, or tokens came from results of the cycle; `outcome_unknown` if the
 *   service does not show whether another job has rows
 */
async function requireFreeRows(
  context: Context,
  client: Client,
  job: AccountUpdaterJob,
  {
    request,
    ledger,
    claims,
  }: { readonly request: RequestFile; readonly ledger: CommandLedger; readonly claims: RowClaims },
): Promise<ComparedFile> {
  const now = client.now();
  const file = { ...request, name: path.basename(request.name) };
  const ownJobs = new Set([job.id]);
  const comparing = { tenant: ledger.tenantOf(job), file, ownJobs, createJob: async () => job };
  const compared = await claims.compare(context, client, comparing);
  const { named, taken, division } = compared;
  const doubtful = taken.filter(({ status, wasRead }) => status === undefined && !wasRead);
  const doubts = doubtful.map(({ claim }) => ({ claim, why: 'missing' }) as const);
  const doubt = doubtError(doubts, { cycle: named.cycle, now, ending: NOTHING_SENT });
  if (doubt) throw doubt;
  if (taken.length > 0) throw rowsTakenError(named, taken, request.check.rows, now);
  if (division !== undefined) throw newTokensError(named, division.upToDate.size);
  return compared;
}

/** Returns the error for a file that must be sent whole, although other jobs have some of its rows. */
export function rowsTakenError(file: NamedFile, taken: readonly SettledClaim[], rows: number, now: number): SvcError {
  const shared = Math.min(
    rows,
    taken.reduce((sum, one) => sum + one.rows, 0),
  );
  const jobs = taken.map(({ claim }) => claim.job);
  const who = taken.map((one) => senderText(one, now)).join('; ');
  return new SvcError(
    'conflict',
    `${formatNumber(shared)} of ${countText(rows, 'row')} of ${file.name} are in ${cycleText(file)} already: ${who}; nothing was sent`,
    {
      hint: `Their results come from ${jobs.length === 1 ? 'that job' : 'those jobs'}. To send only the other rows, submit the file.`,
      next: ['au', 'resume', jobs[0] ?? '', '--wait'],
      alternatives: [['au', 'status', jobs[0] ?? '']],
      retryable: false,
      facts: { jobs, rows: shared, cycle: file.cycle },
    },
  );
}

/** Returns the error for a file with tokens that came from results of its cycle. */
function newTokensError(file: NamedFile, made: number): SvcError {
  return new SvcError(
    'conflict',
    `${countText(made, 'token')} of ${file.name} came from the results of ${cycleText(file)}; nothing was sent`,
    { hint: 'They are up to date in this cycle.', facts: { new_tokens: made, cycle: file.cycle } },
  );
}
