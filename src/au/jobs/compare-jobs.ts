import { isSvcError, SvcError } from '../../base/errors.ts';
import { exactMembers } from '../../base/json/exact.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import { countText, parseTime, wholeSecond } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import type { AccountUpdaterJob, ListedJob } from '../../schema/account-updater.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';
import { CommandLedger, type KnownLedger } from '../ledger/command-ledger.ts';
import { nameOf, soundPages, unsoundList, UnsoundList } from '../job/job.ts';
import { MISSING_MS } from '../job/wait.ts';
import type { Context } from '../../cli/app/command.ts';
import { showJobs } from '../job/show-progress.ts';
import { creatorMemory } from '../job/spare-job.ts';

/** The size of the pages of the list. */
const PAGE_SIZE = 100;

/** How many jobs are looked up in the ledger at a time. */
const AT_ONCE = 8;

/** How far before the newest listed job to look for jobs that the ledger does not know. */
const UNKNOWN_MS = 30 * DAY_MS;

/** The age up to which a list must show the jobs that the ledger knows. Later, the service may have forgotten them. */
const LISTED_MS = 7 * DAY_MS;

const OUTSIDE_THE_LEDGER = 'a machine that does not use this ledger';
const BEFORE_THE_LEDGER = 'another state directory, since this ledger is new';

export type JobsLedger = Pick<CommandLedger, 'isShared' | 'known'>;

/** What may stop an upload. */
export interface Comparing {
  readonly ledger: JobsLedger;
  /** The tenant of the key. */
  readonly tenant: string;
  /** Whether an unknown job stops the upload although no other machine has the ledger. */
  readonly onlyRecorded: boolean;
  /** Whether an empty ledger may begin although the key has jobs. */
  readonly newLedger: boolean;
  /** The command that begins the ledger with `--new-ledger`, as words. */
  readonly words: readonly string[];
}

/** An upload that is about to begin. */
export interface Beginning extends Comparing {
  /** The job that gets the file, whose creator is the key in use. */
  readonly job: AccountUpdaterJob;
  /** The command that goes on later, as words. */
  readonly again: readonly string[];
  readonly random?: (() => number) | undefined;
}

/**
 * Compares the service's jobs with the ledger before an upload. A ledger that was restored from an older copy lacks later
 * submissions, but the service knows them. Returns the unknown jobs that stop nothing; undefined if the key may not list
 * jobs, or the list proves nothing and no upload depends on it.
 * @throws SvcError `outcome_unknown` for an unknown job that may contain the rows of the file, `forbidden` if the list is
 *   needed and the key may not read it
 * @throws UnsoundList if the list is needed and proves nothing
 */
export async function compareJobs(client: Client, beginning: Beginning): Promise<readonly string[] | undefined> {
  const { job } = beginning;
  const known = await knownTo(beginning);
  const newest = await listIfAllowed(beginning, known, () => listWith(client, beginning, known));
  const listed = newest ?? [];
  const { later, refusal } = await compareListed(beginning, known, listed, ownership(job, listed));
  if (refusal) throw refusal;
  if (!known.isBegun) await known.ledger.begin(job.created_at);
  return newest && later.map(nameOf);
}

/**
 * Compares the jobs with the ledger before a job is created, so that an upload that is refused anyway creates none. `creator`
 * is the application of the key, as an earlier job of the key showed it. Without it, those of the jobs in the ledger count.
 * @throws as `compareJobs`
 */
export async function refuseUnknownJobs(
  client: Client,
  comparing: Comparing,
  creator: string | undefined,
): Promise<void> {
  const known = await knownTo(comparing);
  if (!mayRefuse(comparing, known)) return;
  const listed = (await listIfAllowed(comparing, known, () => listBack(client, known))) ?? [];
  const creators = creator === undefined ? await creatorsInLedger(known, listed) : new Set([creator]);
  const isOwn = ({ created_by: by }: ListedJob): boolean => !by || creators.has(by);
  const { refusal } = await compareListed(comparing, known, listed, isOwn);
  if (refusal) throw refusal;
}

/**
 * Compares the jobs with the ledger for a dry run, which creates no job. Without the application of the key, which an earlier
 * job of the key shows, it is that of all listed jobs if they have one. Where it stays unknown, returns the jobs that may stop
 * the upload; undefined if the key may not list jobs.
 * @throws SvcError as `compareJobs`
 */
export async function previewComparison(
  client: Client,
  comparing: Comparing,
  creator: string | undefined,
): Promise<readonly string[] | undefined> {
  const known = await knownTo(comparing);
  const newest = await listIfAllowed(comparing, known, () => listBack(client, known));
  if (newest === undefined) return undefined;
  const creators = creator === undefined ? creatorsOf(newest) : new Set([creator]);
  const mayBeOwn = ({ created_by: by }: ListedJob): boolean => creators.size > 0 && (!by || creators.has(by));
  const { refusal, refused } = await compareListed(comparing, known, newest, mayBeOwn);
  if (refusal && creators.size === 1) throw refusal;
  return refused.map(nameOf);
}

/** Returns the applications that created the listed jobs which the ledger knows. */
async function creatorsInLedger(
  { ledger, former }: KnownLedger,
  listed: readonly ListedJob[],
): Promise<ReadonlySet<string>> {
  const isMarked = async (id: string): Promise<boolean> =>
    (await ledger.isMarked(id)) || (await former?.isMarked(id)) === true;
  const jobs = sideBySide(listed, AT_ONCE, async (job) => (job.id && (await isMarked(job.id)) ? [job] : []));
  const known: ListedJob[] = [];
  for await (const found of jobs) known.push(...found);
  return creatorsOf(known);
}

function creatorsOf(jobs: readonly ListedJob[]): ReadonlySet<string> {
  return new Set(jobs.flatMap(({ created_by: by }) => by || []));
}

/** The ledger that the jobs are compared with. */
interface ComparedLedger extends KnownLedger {
  /** Whether the jobs from before the ledger were compared with it. */
  readonly isBegun: boolean;
  /** Since when all jobs are in the ledger, in the service's time; undefined before its first claim. */
  readonly since: number | undefined;
}

async function knownTo({ ledger: place, tenant }: Comparing): Promise<ComparedLedger> {
  const known = await place.known(tenant);
  const { ledger } = known;
  // What this machine entered is known here, also where the place was restored to an older time.
  await ledger.restore();
  const isBegun = await ledger.isBegun();
  return { ...known, isBegun, since: isBegun ? await ledger.since() : undefined };
}

/** Tells whether the ledger knows a job, or will have its claim from a machine that begins to share it. */
async function isKnown({ ledger, former }: KnownLedger, { id, status }: ListedJob): Promise<boolean> {
  if (!id) return false;
  if (former !== undefined && ((await former.hasSent(id)) || (await ledger.isAnnounced(id)))) return true;
  return status === 'failed' ? ledger.isMarked(id) : ledger.hasSent(id);
}

/** The listed jobs that the ledger does not know. */
interface Compared {
  /** The jobs that do not stop the upload. */
  readonly later: readonly ListedJob[];
  /** The jobs that stop the upload. */
  readonly refused: readonly ListedJob[];
  /** The error that stops the upload; undefined if no job does. */
  readonly refusal?: SvcError;
}

/** Finds the listed jobs that the ledger does not know, and why they stop the upload, if they do. */
async function compareListed(
  comparing: Comparing,
  known: ComparedLedger,
  listed: readonly ListedJob[],
  mayBeOwn: (job: ListedJob) => boolean,
): Promise<Compared> {
  const { newLedger } = comparing;
  const { isBegun, since } = known;
  const candidates = listed.filter((one) => mayBeOwn(one) && one.status !== 'pending');
  const unknown: ListedJob[] = [];
  const looked = sideBySide(candidates, AT_ONCE, async (each) => ((await isKnown(known, each)) ? [] : [each]));
  for await (const found of looked) unknown.push(...found);
  const stoppedBy = (refused: readonly ListedJob[], cause: string): Compared => ({
    later: [],
    refused,
    refusal: strangersError(refused, cause, comparing),
  });
  const later = unknown.filter(isSince(Math.max(weeksBefore(listed), since ?? -Infinity)));
  if (later.length > 0 && (isBegun ? isStrictAbout(comparing) : !newLedger))
    return stoppedBy(later, isBegun ? OUTSIDE_THE_LEDGER : BEFORE_THE_LEDGER);
  return { later, refused: [] };
}

/** Returns the time before which a listed job counts as one of an earlier month. */
function weeksBefore(listed: readonly ListedJob[]): number {
  return Math.max(...listed.flatMap((job) => timeOf(job) ?? [])) - UNKNOWN_MS;
}

/** Returns a function that tells whether a job may have been created since a time. The list may give whole seconds. */
function isSince(since: number): (job: ListedJob) => boolean {
  return (job) => !((timeOf(job) ?? NaN) < wholeSecond(since));
}

function timeOf({ created_at: at }: ListedJob): number | undefined {
  return parseTime(at ?? '');
}

/** Who shares a ledger says that every job of this key is in it. */
function isStrictAbout({ ledger, onlyRecorded }: Comparing): boolean {
  return onlyRecorded || ledger.isShared;
}

/** Tells whether an unknown job stops the upload. */
function mayRefuse(comparing: Comparing, { isBegun }: ComparedLedger): boolean {
  return isStrictAbout(comparing) || (!isBegun && !comparing.newLedger);
}

/**
 * Reads the list until it shows the job of the upload, because a lagging list proves nothing. Before its first entry, the ledger
 * of one machine takes an empty list as that of a new tenant.
 */
async function listWith(client: Client, beginning: Beginning, known: ComparedLedger): Promise<readonly ListedJob[]> {
  const { job, random, again } = beginning;
  const isNeeded = isStrictAbout(beginning);
  const isEnough = (jobs: readonly ListedJob[]): boolean =>
    jobs.some(({ id }) => id === job.id) || (!isNeeded && (jobs.length === 0 || !mayRefuse(beginning, known)));
  const since = timeOf(job) ?? Infinity;
  const { seen: listed } = await pollUntil(client, {
    poll: () => listBack(client, known, since),
    isDone: isEnough,
    limitMs: () => MISSING_MS,
    random,
  });
  if (isEnough(listed)) return listed;
  throw new SvcError('bad_response', `the list of jobs does not show job ${job.id}, which was just created`, {
    hint: 'Nothing was uploaded: the list has to show whether this file was submitted before. Upload it in a few minutes:',
    next: again,
    retryable: true,
    facts: { job: job.id },
  });
}

/**
 * Reads the list of jobs, if it can be read or the upload depends on it.
 * @throws SvcError `forbidden` if something depends on it, such as an empty ledger, which does not know what was sent before
 */
async function listIfAllowed(
  comparing: Comparing,
  known: ComparedLedger,
  list: () => Promise<readonly ListedJob[]>,
): Promise<readonly ListedJob[] | undefined> {
  const { words } = comparing;
  try {
    return await list();
  } catch (error) {
    const isForbidden = isSvcError(error, 'forbidden');
    if (!isForbidden && !(error instanceof UnsoundList)) throw error;
    if (!mayRefuse(comparing, known)) return undefined;
    if (!isForbidden || isStrictAbout(comparing)) throw error;
    throw error.with({
      message: `the ledger is empty, and could not be compared with the jobs of the service: ${error.message}; nothing was uploaded`,
      hint: 'The rows of this file may have been submitted already, as after a lost state directory: restore it, or use a key that may list jobs. Only if no earlier job has rows of this file, run the last of these commands.',
      next: ['whoami'],
      alternatives: [[...words, '--new-ledger']],
    });
  }
}

/**
 * Reads the list back to the time before which no job counts: that of the first claim of the ledger, or 30 days before the
 * newest job, and `since`.
 * @throws UnsoundList for an empty list without a completed job of the last days that the ledger knows
 */
async function listBack(
  client: Client,
  { ledger, since: ledgerSince = -Infinity }: ComparedLedger,
  since = Infinity,
): Promise<readonly ListedJob[]> {
  const needed = since - MINUTE_MS;
  const jobs: ListedJob[] = [];
  for await (const { items } of soundPages(client, PAGE_SIZE)) {
    jobs.push(...items);
    const end = wholeSecond(Math.min(needed, Math.max(weeksBefore(jobs), ledgerSince)));
    if (items.some((job) => (timeOf(job) ?? Infinity) < end)) break;
  }
  const isAbsent = jobs.length === 0 && (await ledger.hasResultsSince(client.now() - LISTED_MS));
  if (isAbsent) throw unsoundList('it is empty, and the ledger knows results of the last seven days');
  return jobs;
}

function strangersError(jobs: readonly ListedJob[], cause: string, beginning: Comparing): SvcError {
  const { ledger, words } = beginning;
  const ids = jobs.flatMap(({ id }) => id || []);
  const shown = jobs.map((job) => {
    const { status, created_at: at } = job;
    return `${nameOf(job)} (${status ?? 'of unknown status'}, created ${at ?? 'at an unknown time'})`;
  });
  const isNew = cause === BEFORE_THE_LEDGER;
  const newHint = ledger.isShared ? NEW_SHARED_HINT : NEW_HINT;
  // An item without an id cannot be ignored, so that the command would be refused again.
  const isNamed = ids.length === jobs.length;
  const cure = isNew ? [...words, '--new-ledger'] : ['au', 'ignore', ...ids.slice(0, 1)];
  return new SvcError(
    'outcome_unknown',
    `outcome unknown: ${countText(jobs.length, 'job')} of this key that the ledger does not know may come from ${cause}: ${shown.join(', ')}; nothing was uploaded`,
    {
      hint: isNamed ? (isNew ? newHint : LEDGER_HINT) : UNREADABLE_HINT,
      next: ids[0] === undefined ? ['au', 'jobs'] : ['au', 'status', ids[0]],
      alternatives: [['au', 'jobs'], ...(isNamed ? [cure] : [])],
      retryable: false,
      facts: { unrecorded_jobs: ids },
    },
  );
}

const NEW_HINT =
  'Their rows may be those of this file, and the ledger is empty, as after a lost state directory: restore it, or set the ledger that the other machines use. Only if these jobs have nothing to do with this file, run the last of these commands.';
const NEW_SHARED_HINT =
  "Their rows may be those of this file: run 'svc au resume' with this ledger set on the machine that sent them, which enters its jobs. Only if these jobs have nothing to do with this file, run the last of these commands.";
const UNREADABLE_HINT =
  'The rows of this file may have been submitted already, and the list does not say in which job: ask the support of the service about the item without an id. svc goes on once the list names it.';
const LEDGER_HINT =
  "The rows of this file may have been submitted already: run 'svc au resume' with this ledger set on the machine that sent them, which enters its jobs. Only if the jobs are of another system, ignore them, once for all machines: their rows are sent again if a file has them.";

/**
 * Returns a function that tells whether the key that created `job` may have created another job of the list. Where the
 * service does not say who created a job, or not as text, it may be one's own.
 */
function ownership(job: AccountUpdaterJob, listed: readonly ListedJob[]): (other: ListedJob) => boolean {
  const own = [job, ...listed.filter(({ id }) => id === job.id)];
  const key = own.find(({ created_by: by }) => by)?.created_by;
  if (key) return ({ created_by: by }) => !by || by === key;
  const isSent = own.some((each) => (exactMembers(each)['created_by'] ?? '') !== '');
  return () => isSent;
}

/**
 * Opens the ledger for a command that enters what became of jobs. Before the first entry, a shared one is compared with the jobs
 * of the service: a ledger that was restored to an older time can be put back by another machine only while nothing is added,
 * and the copies of this machine may be as old. `again` is the command that goes on later.
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

/** Compares the jobs with a shared ledger before this command adds its next entry there. */
export function compareBeforeEntry(context: Context, ledger: CommandLedger, again: readonly string[]): void {
  if (!ledger.isShared) return;
  ledger.beforeFirstEntry(async (tenant) => {
    const client = await context.client();
    const comparing = { ledger, tenant, onlyRecorded: true, newLedger: false, words: again };
    try {
      await refuseUnknownJobs(client, comparing, await creatorMemory(context, client)?.known());
    } catch (error) {
      // A key that may not list jobs sends no rows with a shared ledger, and may get the results of others.
      if (!isSvcError(error, 'forbidden')) throw error;
      showJobs(context)({ kind: 'unrecorded', jobs: undefined });
    }
  });
}
