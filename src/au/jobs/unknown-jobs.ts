// Finds the jobs of the service that the ledger does not know, and the error with which they stop an upload.

import { firstOf, nameOf } from '../job/job.ts';
import type { CommandLedger, LedgerToCompare } from '../ledger/command-ledger.ts';
import { SvcError } from '../../base/errors.ts';
import { sideBySide } from '../../base/side-by-side.ts';
import { parseTime, wholeSecond } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import type { ListedJob } from '../../schema/account-updater.ts';
import { DAY_MS } from '../../schema/durations.ts';

/** How many jobs are looked up in the ledger at the same time. */
export const AT_ONCE = 8;

/** Jobs older than the newest listed job by more than this are not compared with the ledger. */
const UNKNOWN_JOBS_MS = 30 * DAY_MS;

export type JobsLedger = Pick<CommandLedger, 'isShared' | 'ledgerToCompare'>;

/** The ledger to compare with, and how strict the comparison is. */
export interface Comparison {
  readonly ledger: JobsLedger;
  /** The tenant of the key. */
  readonly tenant: string;
  /** Whether an unknown job stops the upload even if the ledger is not shared. */
  readonly onlyRecorded: boolean;
  /** Whether an empty ledger is accepted although the key has jobs. Undefined for a command without `--new-ledger`. */
  readonly newLedger: boolean | undefined;
  /** The command that continues later, as words. */
  readonly words: readonly string[];
  /** The pending jobs that may have files of which an empty ledger knows nothing. */
  readonly pendingBefore?: ReadonlySet<string> | undefined;
}

/** The ledger that the jobs are compared with. */
export interface ComparedLedger extends LedgerToCompare {
  /** Whether older jobs were compared when the ledger began. */
  readonly isBegun: boolean;
  /** The time of the ledger's first claim, in the service's time; undefined before the first claim. */
  readonly since: number | undefined;
}

/** Tells whether the ledger knows a job, or a machine that begins to share the ledger will enter the job's claim. */
async function isKnown({ ledger, former }: LedgerToCompare, { id, status }: ListedJob): Promise<boolean> {
  if (!id) return false;
  if (former !== undefined && ((await former.hasSent(id)) || (await ledger.isAnnounced(id)))) return true;
  return status === 'failed' ? ledger.isMarked(id) : ledger.hasSent(id);
}

/** The listed jobs that the ledger does not know. */
interface UnknownJobs {
  /** The jobs that do not stop the upload. */
  readonly later: readonly ListedJob[];
  /** The jobs that stop the upload. */
  readonly refused: readonly ListedJob[];
  /** The error that stops the upload; undefined if no job stops it. */
  readonly refusal?: SvcError;
}

/** Finds the listed jobs that the ledger does not know, and decides whether they stop the upload. */
export async function findUnknownJobs(
  comparison: Comparison,
  known: ComparedLedger,
  listed: readonly ListedJob[],
  mayBeOwn: (job: ListedJob) => boolean,
): Promise<UnknownJobs> {
  const { newLedger, pendingBefore } = comparison;
  const { isBegun, since } = known;
  const mayHaveFile = ({ id, status }: ListedJob): boolean =>
    status !== 'pending' || (!isBegun && pendingBefore?.has(id ?? '') === true);
  const candidates = listed.filter((one) => mayBeOwn(one) && mayHaveFile(one));
  const unknown: ListedJob[] = [];
  const lookups = sideBySide(candidates, AT_ONCE, async (each) => ((await isKnown(known, each)) ? [] : [each]));
  for await (const jobs of lookups) unknown.push(...jobs);
  const later = unknown.filter(mayBeSince(Math.max(earlierMonthsEnd(listed), since ?? -Infinity)));
  const stopsUpload = later.length > 0 && (isBegun ? stopsForUnknownJobs(comparison) : !newLedger);
  if (!stopsUpload) return { later, refused: [] };
  if (later.every(({ status }) => status === 'pending'))
    return { later: [], refused: later, refusal: pendingJobsError(later, comparison) };
  return { later: [], refused: later, refusal: unknownJobsError(later, comparison, isBegun) };
}

/** Returns the time before which a listed job belongs to an earlier month. */
export function earlierMonthsEnd(listed: readonly ListedJob[]): number {
  return Math.max(...listed.flatMap((job) => creationTime(job) ?? [])) - UNKNOWN_JOBS_MS;
}

/** Returns a test for jobs that may have been created since a time. The list may give whole seconds. */
function mayBeSince(since: number): (job: ListedJob) => boolean {
  return (job) => !((creationTime(job) ?? NaN) < wholeSecond(since));
}

export function creationTime({ created_at: at }: ListedJob): number | undefined {
  return parseTime(at ?? '');
}

/** Tells whether every job of the key must be in the ledger, as in one that machines share. */
export function stopsForUnknownJobs({ ledger, onlyRecorded }: Comparison): boolean {
  return onlyRecorded || ledger.isShared;
}

/** Tells whether an unknown job can stop the upload. */
export function mayRefuse(comparison: Comparison, { isBegun }: ComparedLedger): boolean {
  return stopsForUnknownJobs(comparison) || (!isBegun && !comparison.newLedger);
}

/** Returns the error for jobs of which the service shows within the hour whether they have files. */
function pendingJobsError(jobs: readonly ListedJob[], { words }: Comparison): SvcError {
  return new SvcError(
    'pending',
    `the ledger is empty, and ${countText(jobs.length, 'pending job')} of this key may have the rows of this file: ${jobsText(jobs)}; nothing was uploaded`,
    {
      hint: 'A state directory that was lost may have sent the rows there. The service removes a job without a file within an hour of its creation, so run the same command again then. Only if nothing was sent to these jobs, run the last of these commands.',
      next: words,
      alternatives: [
        ['au', 'jobs'],
        [...words, '--new-ledger'],
      ],
      facts: { unrecorded_jobs: jobs.flatMap(({ id }) => id || []) },
    },
  );
}

function jobsText(jobs: readonly ListedJob[]): string {
  const named = jobs.map((job) => {
    const { status, created_at: at } = job;
    return `${nameOf(job)} (${status ?? 'of unknown status'}, created ${at ?? 'at an unknown time'})`;
  });
  return firstOf(named);
}

function unknownJobsError(
  jobs: readonly ListedJob[],
  { ledger, words, newLedger }: Comparison,
  isBegun: boolean,
): SvcError {
  const ids = jobs.flatMap(({ id }) => id || []);
  const cause = isBegun
    ? 'a machine that does not use this ledger'
    : 'another state directory, since this ledger is new';
  const canBegin = !isBegun && newLedger !== undefined;
  const newHint = ledger.isShared ? NEW_SHARED_HINT : NEW_HINT;
  // 'au ignore' needs an id, so a listed job without an id would stop the command again.
  const hasIds = ids.length === jobs.length;
  const remedy = canBegin ? [...words, '--new-ledger'] : ['au', 'ignore', ...ids.slice(0, 1)];
  return new SvcError(
    'outcome_unknown',
    `outcome unknown: ${countText(jobs.length, 'job')} of this key that the ledger does not know may come from ${cause}: ${jobsText(jobs)}; nothing was uploaded`,
    {
      hint: hasIds ? (canBegin ? newHint : LEDGER_HINT) : UNREADABLE_HINT,
      next: ids[0] === undefined ? ['au', 'jobs'] : ['au', 'status', ids[0]],
      alternatives: [['au', 'jobs'], ...(hasIds ? [remedy] : [])],
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
