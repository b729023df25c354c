import { isSvcError, SvcError } from '../../base/errors.ts';
import { exactMembers } from '../../base/json/exact.ts';
import { countText, parseTime, wholeSecond } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import type { AccountUpdaterJob, ListedJob } from '../../schema/account-updater.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { jobPages, nameOf } from '../run/job.ts';
import { MISSING_MS } from '../run/part.ts';

/** The time after a request for a job within which the job may have been created. */
const CREATION_MS = 10 * MINUTE_MS;

/** How many of the newest jobs are compared with the ledger, at least. */
const PAGE_SIZE = 100;

/** How far before the newest listed job to look for jobs that the ledger does not know. */
const UNKNOWN_MS = 30 * DAY_MS;

const OUTSIDE_THE_LEDGER = 'a machine that does not use this ledger';
const BEFORE_THE_LEDGER = 'another state directory, since this ledger is new';

export type JobsLedger = Pick<CommandLedger, 'isShared' | 'open'>;

/** What may stop an upload. */
export interface Comparing {
  readonly ledger: JobsLedger;
  /** The tenant of the key. */
  readonly tenant: string;
  /** Jobs that records on this machine name. */
  readonly known: ReadonlySet<string>;
  /** Whether an unknown job stops the upload although no other machine has the ledger. */
  readonly onlyRecorded: boolean;
  /** Whether an empty ledger may begin although the key has jobs. */
  readonly begin: boolean;
  /** Times since which there may be an unknown job of this very file, because a request got no response. */
  readonly unclearSince: readonly number[];
  /** The command that begins the ledger with `--begin`, as words. */
  readonly words: readonly string[];
  /** The run of the file, if it has one. */
  readonly run?: string | undefined;
}

/** A dry run, which has no job that shows the creator. */
export interface Previewing extends Comparing {
  /** Jobs of runs of this profile and address. */
  readonly own: ReadonlySet<string>;
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
 * Compares the service's newest jobs with the ledger before an upload. A ledger that was restored from an older copy lacks
 * later submissions, but the service knows them. Returns the unknown jobs that stop nothing; undefined if the key may not
 * list jobs.
 * @throws SvcError `outcome_unknown` for an unknown job that may contain the rows of the file, `forbidden` if the list is
 *   needed and the key may not read it
 */
export async function compareJobs(client: Client, beginning: Beginning): Promise<readonly string[] | undefined> {
  const { job, unclearSince } = beginning;
  const isStrict = isStrictAbout(beginning);
  const newest =
    isStrict || unclearSince.length > 0 ? await listWith(client, beginning) : await newestIfAllowed(client, beginning);
  const listed = newest ?? [];
  const { ledger, isBegun, later, refusal } = await compareListed(beginning, listed, ownership(job, listed));
  if (refusal) throw refusal;
  if (!isBegun) await ledger.begin(job.created_at);
  return newest && later.map(nameOf);
}

/**
 * Compares the newest jobs with the ledger for a dry run. An upload learns the key's creator id from the job that it creates;
 * a dry run creates none, and learns the id from runs of this profile and address. Without such runs, the id is that of all
 * listed jobs if they have one creator and no other profile sent any of them. Where the id stays unknown, returns the jobs
 * that may stop the upload; undefined if the key may not list jobs.
 * @throws SvcError as `compareJobs`
 */
export async function previewComparison(client: Client, comparing: Previewing): Promise<readonly string[] | undefined> {
  const newest = await newestIfAllowed(client, comparing);
  if (newest === undefined) return undefined;
  const recorded = creatorsOf(newest.filter(({ id }) => id && comparing.own.has(id)));
  const creators = recorded.size > 0 ? recorded : creatorsOf(newest);
  const mayBeOwn = ({ created_by: by }: ListedJob): boolean => creators.size > 0 && (!by || creators.has(by));
  const { refusal, refused } = await compareListed(comparing, newest, mayBeOwn);
  const isOfOthers = recorded.size === 0 && newest.some(({ id }) => id && comparing.known.has(id));
  if (refusal && creators.size === 1 && !isOfOthers) throw refusal;
  return refused.map(nameOf);
}

function creatorsOf(jobs: readonly ListedJob[]): ReadonlySet<string> {
  return new Set(jobs.flatMap(({ created_by: by }) => by || []));
}

/** The listed jobs that the ledger does not know. */
interface Compared {
  readonly ledger: Ledger;
  /** Whether the ledger has an entry. */
  readonly isBegun: boolean;
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
  newest: readonly ListedJob[],
  mayBeOwn: (job: ListedJob) => boolean,
): Promise<Compared> {
  const { known, unclearSince, begin } = comparing;
  const ledger = await comparing.ledger.open(comparing.tenant);
  const unknown: ListedJob[] = [];
  for (const each of newest.filter((one) => mayBeOwn(one) && one.status !== 'pending')) {
    const isRecorded = each.id && known.has(each.id);
    // This machine has copies of what it entered into a shared ledger.
    if (isRecorded && comparing.ledger.isShared) continue;
    const isKnown = each.id && (await (each.status === 'failed' ? ledger.isMarked(each.id) : ledger.hasSent(each.id)));
    if (!isKnown && !isRecorded) unknown.push(each);
  }
  const doubtful = unknown.filter((each) => mayComeOfUnclear(each, unclearSince));
  const isBegun = await ledger.isBegun();
  const stoppedBy = (refused: readonly ListedJob[], cause: string): Compared => ({
    ledger,
    isBegun,
    later: [],
    refused,
    refusal: strangersError(refused, cause, comparing),
  });
  if (doubtful.length > 0) return stoppedBy(doubtful, 'a request of this run that got no recorded response');
  const later = await withinLedger(unknown, newest, isBegun ? ledger : undefined);
  if (later.length > 0 && (isBegun ? isStrictAbout(comparing) : !begin))
    return stoppedBy(later, isBegun ? OUTSIDE_THE_LEDGER : BEFORE_THE_LEDGER);
  return { ledger, isBegun, later, refused: [] };
}

/** Who shares a ledger says that every job of this key is in it. */
function isStrictAbout({ ledger, onlyRecorded }: Comparing): boolean {
  return onlyRecorded || ledger.isShared;
}

/**
 * Tells whether the listed jobs are not older than the job of the upload: they include it, or a full page has only later
 * ones, such as those of another system. Such a page does not show who created the job, so that the job itself must say it,
 * and proves nothing about a request that got no response before.
 */
function isAsNewAs({ job, unclearSince }: Beginning, listed: readonly ListedJob[]): boolean {
  if (listed.some(({ id }) => id === job.id)) return true;
  if (!job.created_by || unclearSince.length > 0 || listed.length < PAGE_SIZE) return false;
  const created = parseTime(job.created_at ?? '') ?? NaN;
  return listed.every(({ created_at: at }) => (parseTime(at ?? '') ?? NaN) >= created);
}

/** Reads the newest page until it is not older than the job of the upload, because a lagging list proves nothing. */
async function listWith(client: Client, beginning: Beginning): Promise<readonly ListedJob[]> {
  const { job, random, again, run } = beginning;
  const isListed = (jobs: readonly ListedJob[]): boolean => isAsNewAs(beginning, jobs);
  const { seen: listed } = await pollUntil(client, {
    poll: () => newestJobs(client, beginning),
    isDone: isListed,
    limitMs: () => MISSING_MS,
    random,
  });
  if (isListed(listed)) return listed;
  throw new SvcError('bad_response', `the list of jobs does not show job ${job.id}, which was just created`, {
    hint: 'Nothing was uploaded: the list has to show whether this file was submitted before. Upload it in a few minutes:',
    next: again,
    retryable: true,
    facts: { run, job: job.id },
  });
}

/**
 * Reads the newest jobs. Returns undefined if this key may not list jobs and nothing depends on it.
 * @throws SvcError `forbidden` if something does, such as an empty ledger, which does not know what was sent before
 */
async function newestIfAllowed(client: Client, comparing: Comparing): Promise<readonly ListedJob[] | undefined> {
  const { ledger, tenant, begin, unclearSince, words, run } = comparing;
  try {
    return await newestJobs(client, comparing);
  } catch (error) {
    const isOptional = !isStrictAbout(comparing) && unclearSince.length === 0;
    if (!isOptional || !isSvcError(error, 'forbidden')) throw error;
    if (begin || (await (await ledger.open(tenant)).isBegun())) return undefined;
    throw error.with({
      message: `the ledger is empty, and could not be compared with the jobs of the service: ${error.message}; nothing was uploaded`,
      hint: 'The rows of this file may have been submitted already, as after a lost state directory: restore it, or use a key that may list jobs. Only if no earlier job has rows of this file, run the last of these commands.',
      next: ['whoami'],
      alternatives: [[...words, '--begin']],
      facts: { run },
    });
  }
}

/** Reads the newest jobs of the list: a page, or as far back as a request without a response may have created a job. */
async function newestJobs(client: Client, beginning: Comparing): Promise<readonly ListedJob[]> {
  const since = Math.min(...beginning.unclearSince) - MINUTE_MS;
  const jobs: ListedJob[] = [];
  for await (const items of jobPages(client)) {
    jobs.push(...items);
    if (jobs.length >= PAGE_SIZE && items.some(({ created_at: at }) => !(Date.parse(at ?? '') >= since))) break;
  }
  return jobs;
}

function mayComeOfUnclear({ created_at: at }: ListedJob, unclearSince: readonly number[]): boolean {
  const created = Date.parse(at ?? '');
  const isUnknown = Number.isNaN(created);
  return unclearSince.some((since) => isUnknown || (created >= since - MINUTE_MS && created <= since + CREATION_MS));
}

function strangersError(jobs: readonly ListedJob[], cause: string, beginning: Comparing): SvcError {
  const { ledger, words, run } = beginning;
  const ids = jobs.flatMap(({ id }) => id || []);
  const shown = jobs.map((job) => {
    const { status, created_at: at } = job;
    return `${nameOf(job)} (${status ?? 'of unknown status'}, created ${at ?? 'at an unknown time'})`;
  });
  const isNew = cause === BEFORE_THE_LEDGER;
  const newHint = ledger.isShared ? NEW_SHARED_HINT : NEW_HINT;
  // An item without an id cannot be ignored, so that the command would be refused again.
  const isNamed = ids.length === jobs.length;
  const cure = isNew ? [...words, '--begin'] : ['au', 'ignore', ...ids.slice(0, 1)];
  return new SvcError(
    'outcome_unknown',
    `outcome unknown: ${countText(jobs.length, 'job')} of this key that the ledger does not know may come from ${cause}: ${shown.join(', ')}; nothing was uploaded`,
    {
      hint: isNamed ? (isNew ? newHint : LEDGER_HINT) : UNREADABLE_HINT,
      next: ids[0] === undefined ? ['au', 'jobs'] : ['au', 'status', ids[0]],
      alternatives: [['au', 'jobs'], ...(isNamed ? [cure] : [])],
      retryable: false,
      facts: { run, unrecorded_jobs: ids },
    },
  );
}

const NEW_HINT =
  'Their rows may be those of this file, and the ledger is empty, as after a lost state directory: restore it, or set the ledger that the other machines use. Only if these jobs have nothing to do with this file, run the last of these commands.';
const NEW_SHARED_HINT =
  "Their rows may be those of this file: run 'svc au resume' with this ledger set on the machine that sent them, which enters its runs. Only if these jobs have nothing to do with this file, run the last of these commands.";
const UNREADABLE_HINT =
  'The rows of this file may have been submitted already, and the list does not say in which job: ask the support of the service about the item without an id. svc goes on once the list names it.';
const LEDGER_HINT =
  "The rows of this file may have been submitted already: run 'svc au resume' with this ledger set on the machine that sent them, which enters its runs. Only if the jobs are of another system, ignore them, once for all machines: their rows are sent again if a file has them.";

/**
 * Returns the jobs that are too new to be known from before the ledger. Without a ledger, all of the last weeks count.
 */
async function withinLedger(
  jobs: readonly ListedJob[],
  newest: readonly ListedJob[],
  ledger: Ledger | undefined,
): Promise<readonly ListedJob[]> {
  if (jobs.length === 0) return jobs;
  const times = newest.map(({ created_at: at }) => Date.parse(at ?? '')).filter((time) => !Number.isNaN(time));
  const weeks = Math.max(...times) - UNKNOWN_MS;
  const since = Math.max(weeks, (await ledger?.since()) ?? weeks);
  // The list may give whole seconds where the ledger has a fraction.
  return jobs.filter(({ created_at: at }) => !(Date.parse(at ?? '') < wholeSecond(since)));
}

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
