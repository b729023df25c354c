// Proves from the service's lists that a job was removed without ever getting its file.

import { isSvcError } from '../../base/errors.ts';
import { parseTime, wholeSecond } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import { UNDER_WAY_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';
import { MAX_PAGE_SIZE } from '../../schema/page-size.ts';
import { isReadable, soundPages, UnsoundList } from '../job/job.ts';
import { creationOf } from './claims.ts';
import type { ClaimEntry } from './entry.ts';

/** The service remembers a job with a file at least this long. Later, its absence proves nothing. */
const MIN_REMEMBERED_MS = 7 * DAY_MS;

/** How long a list may take to show a job that was just created. */
const LAG_MS = 2 * MINUTE_MS;

/** The page sizes to try until two lists prove the absence. */
const PAGE_SIZES = [100, 99, 83, 71];

/** Returns the time from which absence proves that a job never got its file; undefined without a time of expiration. */
export function provableFrom({ expires_at: expires }: Pick<ClaimEntry, 'expires_at'>): number | undefined {
  const end = expires === null ? undefined : parseTime(expires);
  return end === undefined ? undefined : end + UNDER_WAY_MS;
}

/** Returns the time after which absence proves nothing, because the service may have forgotten the job. */
export function provableUntil(claim: Pick<ClaimEntry, 'created_at'>): number {
  return creationOf(claim) + MIN_REMEMBERED_MS;
}

/**
 * Proves that the job of a claim was removed without a file: two lists show a newer job and not this one. A list may miss a job
 * between two of its pages, so the other list must show the jobs on both sides of that gap on one page, and all jobs in the same
 * order. All times are the service's, so no machine's clock matters. Returns the proof in words, or undefined.
 */
export async function proofOfAbsence(
  client: Client,
  claim: ClaimEntry,
  newer: AccountUpdaterJob,
): Promise<string | undefined> {
  const from = provableFrom(claim);
  const created = parseTime(claim.created_at);
  const newerAt = parseTime(newer.created_at ?? '');
  if (from === undefined || created === undefined || newerAt === undefined) return undefined;
  if (newerAt < from || newerAt > provableUntil(claim)) return undefined;
  const lists: Listed[] = [];
  for (const size of PAGE_SIZES) {
    const listed = await listSince(client, newer.id, wholeSecond(created), size);
    if (listed === undefined || !listed.pages.has(newer.id) || listed.pages.has(claim.job)) return undefined;
    if (lists.some((earlier) => showsAll(earlier, listed)))
      return `two lists show job ${newer.id}, created ${newer.created_at}, and not job ${claim.job}`;
    lists.push(listed);
  }
  return undefined;
}

/** Finds the job of a claim in the list, since reading the job may miss it on a lagging replica. Undefined if it is not found. */
export async function listedJob(client: Client, claim: ClaimEntry): Promise<AccountUpdaterJob | undefined> {
  const since = wholeSecond(creationOf(claim));
  try {
    for await (const { items } of soundPages(client, MAX_PAGE_SIZE)) {
      const job = items.find(({ id }) => id === claim.job);
      if (job) return isReadable(job) ? job : undefined;
      if (items.some(({ created_at: at }) => (parseTime(at ?? '') ?? Infinity) < since)) return undefined;
    }
  } catch (error) {
    if (!(error instanceof UnsoundList) && !isSvcError(error, 'forbidden')) throw error;
  }
  return undefined;
}

/** Stands for a job's id after the last job of a list. */
const END = '';

/** The jobs of a list back to a time. */
interface Listed {
  /** The page number of each job, in the order of the list. */
  readonly pages: ReadonlyMap<string, number>;
  /** The jobs before and after each page break at which a job of that time could be missing. */
  readonly gaps: readonly (readonly [string, string])[];
}

/** Tells whether a later list covers all page breaks of an earlier one. */
function showsAll(earlier: Listed, { pages }: Listed): boolean {
  const isSound = earlier.gaps.every(([before, after]) => pages.has(before) && pages.get(before) === pages.get(after));
  return isSound && hasSameOrder(earlier.pages, pages);
}

/** Tells whether two lists show their common jobs in the same order. */
function hasSameOrder(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  const left = [...one.keys()].filter((id) => id !== END && other.has(id));
  const right = [...other.keys()].filter((id) => id !== END && one.has(id));
  return left.every((id, at) => id === right[at]);
}

/** Reads the list until it shows the newer job. Returns undefined for an unsound list. */
async function listSince(client: Client, newer: string, since: number, size: number): Promise<Listed | undefined> {
  const { seen } = await pollUntil(client, {
    poll: () => readSince(client, since, size),
    isDone: (listed) => listed === undefined || listed.pages.has(newer),
    limitMs: () => LAG_MS,
  });
  return seen;
}

/** Reads the list back to a second. Returns undefined if a job has no id or time, or the jobs are not newest first. */
async function readSince(client: Client, since: number, size: number): Promise<Listed | undefined> {
  try {
    return await readSoundList(client, since, size);
  } catch (error) {
    if (error instanceof UnsoundList) return undefined;
    throw error;
  }
}

async function readSoundList(client: Client, since: number, size: number): Promise<Listed | undefined> {
  const pages = new Map<string, number>();
  const gaps: (readonly [string, string])[] = [];
  let [last, lastAt, page] = [END, Infinity, 0];
  for await (const { items, next } of soundPages(client, size)) {
    const [first] = items;
    // The list may give whole seconds where the claim has a fraction.
    const firstAt = wholeSecond(parseTime(first?.created_at ?? '') ?? -Infinity);
    if (page > 0 && firstAt <= since && since <= wholeSecond(lastAt)) gaps.push([last, first?.id || END]);
    for (const { id, created_at: at } of items) {
      const created = parseTime(at ?? '');
      if (!id || created === undefined || created > lastAt) return undefined;
      pages.set(id, page);
      [last, lastAt] = [id, created];
    }
    if (next === undefined) pages.set(END, page);
    if (wholeSecond(lastAt) < since) break;
    page += 1;
  }
  return { pages, gaps };
}
