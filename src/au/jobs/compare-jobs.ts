// Compares the service's list of jobs with the ledger before an upload: a ledger that lacks a job may lack billed rows.

import { UnsoundList, firstOf, nameOf, soundPages, unsoundList } from '../job/job.ts';
import { showJobs } from '../job/show-progress.ts';
import { type SpareJob, creatorMemory } from '../job/spare-job.ts';
import { MISSING_MS } from '../job/wait.ts';
import {
  AT_ONCE,
  type ComparedLedger,
  type Comparison,
  creationTime,
  earlierMonthsEnd,
  findUnknownJobs,
  mayRefuse,
  stopsForUnknownJobs,
} from './unknown-jobs.ts';
import { CommandLedger, type LedgerToCompare } from '../ledger/command-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { SvcError, isSvcError } from '../../base/errors.ts';
import { exactMembers } from '../../base/json/exact.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import type { Context } from '../../cli/app/command.ts';
import { countText } from '../../cli/output/number.ts';
import { wholeSecond } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import type { AccountUpdaterJob, ListedJob } from '../../schema/account-updater.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';
import { MAX_PAGE_SIZE } from '../../schema/page-size.ts';

/** The age up to which the list must show the jobs in the ledger. The service may forget older jobs. */
const LISTED_MS = 7 * DAY_MS;

/** A comparison for an upload whose job exists already. */
export interface UploadComparison extends Comparison {
  /** The job that gets the file. The key in use created it. */
  readonly job: AccountUpdaterJob;
  /** The command that continues later, as words. */
  readonly again: readonly string[];
}

/**
 * Compares the service's jobs with the ledger before an upload. A ledger that was restored from an older copy lacks later
 * submissions, but the service knows them. Returns the unknown jobs that do not stop the upload; undefined if the upload
 * does not need the list, and the key may not read it or the list is unsound.
 * @throws SvcError `outcome_unknown` for an unknown job that may contain the rows of the file, `forbidden` if the upload
 *   needs the list and the key may not read it
 * @throws UnsoundList if the upload needs the list and it is unsound
 */
export async function compareJobs(
  client: Client,
  comparison: UploadComparison,
): Promise<readonly string[] | undefined> {
  const { job } = comparison;
  const known = await openForComparison(comparison);
  const newest = await listIfAllowed(comparison, known, () => listUntilJobShows(client, comparison, known));
  const listed = newest ?? [];
  const { later, refusal } = await findUnknownJobs(comparison, known, listed, mayHaveSameCreator(job, listed));
  if (refusal) throw refusal;
  if (!known.isBegun) await known.ledger.begin(job.created_at);
  return newest && later.map(nameOf);
}

/**
 * Compares the jobs with the ledger before a job is created, so that a refused upload leaves no job behind. `creator` is the
 * application of the key, which an earlier job of the key showed. Without it, the creators of the jobs in the ledger count.
 * @throws as `compareJobs`
 */
export async function refuseUnknownJobs(
  client: Client,
  comparison: Comparison,
  creator: string | undefined,
): Promise<void> {
  const known = await openForComparison(comparison);
  if (!mayRefuse(comparison, known)) return;
  const listed = (await listIfAllowed(comparison, known, () => listRecentJobs(client, known))) ?? [];
  const creators = creator === undefined ? await creatorsInLedger(known, listed) : new Set([creator]);
  const isOwn = ({ created_by: by }: ListedJob): boolean => !by || creators.has(by);
  const { refusal } = await findUnknownJobs(comparison, known, listed, isOwn);
  if (refusal) throw refusal;
}

/**
 * Compares the jobs with the ledger before the first entry of a submission: once anything is added to a ledger that was restored
 * to an older time, its lost entries can no longer be put back.
 * @throws SvcError `outcome_unknown` as the upload itself
 */
export async function requireKnownJobs(
  client: Client,
  comparison: Comparison,
  spareJob: () => Promise<SpareJob>,
): Promise<void> {
  if (!stopsForUnknownJobs(comparison)) return;
  const spare = await spareJob();
  const creator = await spare.creator();
  if (creator !== undefined) return refuseUnknownJobs(client, comparison, creator);
  await compareJobs(client, { ...comparison, job: await spare.get(), again: comparison.words });
}

/**
 * Compares the jobs with the ledger for a dry run, which creates no job, and warns of jobs that stop the upload if this key
 * created them. The key's application is known only from an earlier job, or if all listed jobs have the same creator.
 * @throws SvcError as `compareJobs`, if the key's application is known
 */
export async function previewComparison(context: Context, client: Client, comparison: Comparison): Promise<void> {
  const creator = await creatorMemory(context, client)?.known();
  const known = await openForComparison(comparison);
  const newest = await listIfAllowed(comparison, known, () => listRecentJobs(client, known));
  if (newest === undefined) return showJobs(context)({ kind: 'unrecorded', jobs: undefined });
  const creators = creator === undefined ? creatorsOf(newest) : new Set([creator]);
  const mayBeOwn = ({ created_by: by }: ListedJob): boolean => creators.size > 0 && (!by || creators.has(by));
  const { refusal, refused } = await findUnknownJobs(comparison, known, newest, mayBeOwn);
  if (refusal && creators.size === 1) throw refusal;
  if (refused.length > 0)
    context.notices.warn(
      `the ledger does not know ${countText(refused.length, 'job')}, which stop the upload if this key created them: ${firstOf(refused.map(nameOf))}`,
    );
}

/**
 * Reads the marks of the listed jobs: they name cycles that a lagging list of the ledger may not show. Checks that none has lost the claim of a
 * job that has its file: a command would take the rest of the cycle for all of it. A list that cannot be read proves nothing.
 * @throws SvcError `config` for a missing claim
 */
export async function requireClaims(client: Client, ledger: Ledger): Promise<void> {
  const jobs: ListedJob[] = [];
  try {
    jobs.push(...(await listRecentJobs(client, { ledger, isBegun: true, since: await ledger.since() })));
  } catch (error) {
    if (!(error instanceof UnsoundList) && !isSvcError(error, 'forbidden')) throw error;
  }
  const lookups = sideBySide(jobs, AT_ONCE, async ({ id, status }) => {
    const hasFile = status === 'processing' || status === 'completed';
    return id && (hasFile ? ledger.hasSent(id) : ledger.isMarked(id));
  });
  for await (const _ of lookups);
}

/** Returns the creators of the listed jobs that are in the ledger. */
async function creatorsInLedger(
  { ledger, former }: LedgerToCompare,
  listed: readonly ListedJob[],
): Promise<ReadonlySet<string>> {
  const isMarked = async (id: string): Promise<boolean> =>
    (await ledger.isMarked(id)) || (await former?.isMarked(id)) === true;
  const lookups = sideBySide(listed, AT_ONCE, async (job) => (job.id && (await isMarked(job.id)) ? [job] : []));
  const inLedger: ListedJob[] = [];
  for await (const jobs of lookups) inLedger.push(...jobs);
  return creatorsOf(inLedger);
}

function creatorsOf(jobs: readonly ListedJob[]): ReadonlySet<string> {
  return new Set(jobs.flatMap(({ created_by: by }) => by || []));
}

async function openForComparison({ ledger: commandLedger, tenant }: Comparison): Promise<ComparedLedger> {
  const known = await commandLedger.ledgerToCompare(tenant);
  const { ledger } = known;
  // A ledger that was restored to an older time gets back the entries that this machine made.
  await ledger.restore();
  const isBegun = await ledger.isBegun();
  return { ...known, isBegun, since: isBegun ? await ledger.since() : undefined };
}

/**
 * Reads the list until it shows the job of the upload, because a lagging list proves nothing. An empty list is enough if the
 * ledger is not shared: the tenant is new.
 */
async function listUntilJobShows(
  client: Client,
  comparison: UploadComparison,
  known: ComparedLedger,
): Promise<readonly ListedJob[]> {
  const { job, again } = comparison;
  const isStrict = stopsForUnknownJobs(comparison);
  const isEnough = (jobs: readonly ListedJob[]): boolean =>
    jobs.some(({ id }) => id === job.id) || (!isStrict && (jobs.length === 0 || !mayRefuse(comparison, known)));
  const since = creationTime(job) ?? Infinity;
  const { seen: listed } = await pollUntil(client, {
    poll: () => listRecentJobs(client, known, since),
    isDone: isEnough,
    limitMs: () => MISSING_MS,
  });
  if (isEnough(listed)) return listed;
  throw new SvcError('bad_response', `the list of jobs does not show job ${job.id}, which was just created`, {
    hint: 'Nothing was uploaded: the list has to show whether this file was submitted before. Upload the file in a few minutes:',
    next: again,
    retryable: true,
    facts: { job: job.id },
  });
}

/**
 * Reads the list of jobs. Returns undefined if the list cannot be read and the upload does not need it.
 * @throws SvcError `forbidden` if the key may not read a list that the upload needs
 */
async function listIfAllowed(
  comparison: Comparison,
  known: ComparedLedger,
  list: () => Promise<readonly ListedJob[]>,
): Promise<readonly ListedJob[] | undefined> {
  const { words } = comparison;
  try {
    return await list();
  } catch (error) {
    const isForbidden = isSvcError(error, 'forbidden');
    const isUnreadable = isForbidden || error instanceof UnsoundList;
    if (isUnreadable && !mayRefuse(comparison, known)) return undefined;
    if (!isForbidden || stopsForUnknownJobs(comparison)) throw error;
    throw error.with({
      message: `the ledger is empty, and could not be compared with the jobs of the service: ${error.message}; nothing was uploaded`,
      hint: 'The rows of this file may have been submitted already, as after a lost state directory: restore it, or use a key that may list jobs. Only if no earlier job has rows of this file, run the last of these commands.',
      next: ['whoami'],
      alternatives: [[...words, '--new-ledger']],
    });
  }
}

/**
 * Lists the jobs back to the ledger's first claim or to 30 days before the newest job, whichever is later, and at least back
 * to `since`.
 * @throws UnsoundList for an empty list, if the ledger has results of the last seven days
 */
async function listRecentJobs(
  client: Client,
  { ledger, since: ledgerSince = -Infinity }: ComparedLedger,
  since = Infinity,
): Promise<readonly ListedJob[]> {
  const latestEnd = since - MINUTE_MS;
  const jobs: ListedJob[] = [];
  for await (const { items } of soundPages(client, MAX_PAGE_SIZE)) {
    jobs.push(...items);
    const end = wholeSecond(Math.min(latestEnd, Math.max(earlierMonthsEnd(jobs), ledgerSince)));
    if (items.some((job) => (creationTime(job) ?? Infinity) < end)) break;
  }
  const isUnsound = jobs.length === 0 && (await ledger.hasResultsSince(client.now() - LISTED_MS));
  if (isUnsound) throw unsoundList('it is empty, and the ledger knows results of the last seven days');
  return jobs;
}

/**
 * Returns a test for listed jobs that the creator of `job` may have created. A job whose creator the service does not name
 * passes.
 */
function mayHaveSameCreator(job: AccountUpdaterJob, listed: readonly ListedJob[]): (other: ListedJob) => boolean {
  const ownJob = [job, ...listed.filter(({ id }) => id === job.id)];
  const key = ownJob.find(({ created_by: by }) => by)?.created_by;
  if (key) return ({ created_by: by }) => !by || by === key;
  const isSent = ownJob.some((each) => (exactMembers(each)['created_by'] ?? '') !== '');
  return () => isSent;
}

/**
 * Opens the ledger for a command that writes to it. A shared ledger is compared with the service's jobs before the first entry:
 * once anything is added to a ledger that was restored to an older time, other machines can no longer put back its lost entries.
 * `again` is the command that continues later.
 */
export function openComparedLedger(
  context: Context,
  again: readonly string[],
  { onlyReads = false }: { readonly onlyReads?: boolean | undefined } = {},
): CommandLedger {
  const ledger = new CommandLedger(context, { onlyReads });
  if (!onlyReads) compareBeforeEntry(context, ledger, again);
  return ledger;
}

/** Compares the jobs with a shared ledger before this command adds its next entry. */
export function compareBeforeEntry(context: Context, ledger: CommandLedger, again: readonly string[]): void {
  if (!ledger.isShared) return;
  ledger.beforeFirstEntry(async (tenant) => {
    const client = await context.client();
    const comparison = { ledger, tenant, onlyRecorded: true, newLedger: undefined, words: again };
    try {
      await refuseUnknownJobs(client, comparison, await creatorMemory(context, client)?.known());
    } catch (error) {
      // A key that may not list jobs may still get the results of jobs that other machines sent.
      if (!isSvcError(error, 'forbidden')) throw error;
      showJobs(context)({ kind: 'unrecorded', jobs: undefined });
    }
  });
}
