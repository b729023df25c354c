import { isSvcError } from '../../base/errors.ts';
import { parseTime, wholeSecond } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import { UNDER_WAY_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';
import { isReadable, soundPages, UnsoundList } from '../job/job.ts';
import type { ClaimEntry } from './entry.ts';

/** How long the service remembers a job with a file at least. Later, its absence proves nothing. */
const REMEMBERED_MS = 7 * DAY_MS;

/** How long a list may take to show a job that was just created. */
const LAG_MS = 2 * MINUTE_MS;

/** The sizes of pages that are tried until two lists prove it. */
const PAGE_SIZES = [100, 99, 83, 71];

/** Returns when it can be proven that the job of a claim never got its file; undefined if it never can. */
export function provableFrom({ expires_at: expires }: Pick<ClaimEntry, 'expires_at'>): number | undefined {
  const end = expires === null ? undefined : parseTime(expires);
  return end === undefined ? undefined : end + UNDER_WAY_MS;
}

/** Returns when the absence of a claim's job begins to prove nothing, because the service may have forgotten the job. */
export function provableUntil({ created_at: at }: Pick<ClaimEntry, 'created_at'>): number {
  return (parseTime(at) ?? Date.parse(at)) + REMEMBERED_MS;
}

/**
 * Proves that the job of a claim was removed without a file: two lists show a newer job and not this one. All times are
 * those that the service gave to the jobs, so that no clock of a machine counts. A job can be missing between two pages of
 * a list, so that the other list must show the neighbors of that place on one page, and all jobs in the same order. Returns
 * the proof in words, or undefined.
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

/**
 * Returns the job of a claim as the list shows it: a read alone may miss a job, as of a replica that lags. Undefined if the
 * list does not show it, or cannot be read.
 */
export async function listedJob(client: Client, claim: ClaimEntry): Promise<AccountUpdaterJob | undefined> {
  const since = wholeSecond(parseTime(claim.created_at) ?? Date.parse(claim.created_at));
  try {
    for await (const { items } of soundPages(client, 100)) {
      const found = items.find(({ id }) => id === claim.job);
      if (found) return isReadable(found) ? found : undefined;
      if (items.some(({ created_at: at }) => (parseTime(at ?? '') ?? Infinity) < since)) return undefined;
    }
  } catch (error) {
    if (!(error instanceof UnsoundList) && !isSvcError(error, 'forbidden')) throw error;
  }
  return undefined;
}

/** Takes the place of a job's id at the end of a list. */
const END = '';

/** The jobs of a list back to a time. */
interface Listed {
  /** The number of the page that each job is on, in the order of the list. */
  readonly pages: ReadonlyMap<string, number>;
  /** The jobs on both sides of each place between two pages where a job of that time could be missing. */
  readonly gaps: readonly (readonly [string, string])[];
}

/** Tells whether a later list would show each job that an earlier one may miss between its pages. */
function showsAll(earlier: Listed, { pages }: Listed): boolean {
  const isSound = earlier.gaps.every(([before, after]) => pages.has(before) && pages.get(before) === pages.get(after));
  return isSound && hasSameOrder(earlier.pages, pages);
}

/** Tells whether two lists show their common jobs in the same order. Jobs of one second may change places. */
function hasSameOrder(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  const left = [...one.keys()].filter((id) => id !== END && other.has(id));
  const right = [...other.keys()].filter((id) => id !== END && one.has(id));
  return left.every((id, at) => id === right[at]);
}

/** Reads the list until it shows the newer job. Returns undefined for a list that proves nothing. */
async function listSince(client: Client, newer: string, since: number, size: number): Promise<Listed | undefined> {
  const { seen } = await pollUntil(client, {
    poll: () => readSince(client, since, size),
    isDone: (listed) => listed === undefined || listed.pages.has(newer),
    limitMs: () => LAG_MS,
  });
  return seen;
}

/**
 * Reads the list back to a second. Returns undefined for one that proves nothing: also one that has an item without id or
 * time, or whose jobs of one second are not newest first.
 */
async function readSince(client: Client, since: number, size: number): Promise<Listed | undefined> {
  try {
    return await readSound(client, since, size);
  } catch (error) {
    if (error instanceof UnsoundList) return undefined;
    throw error;
  }
}

async function readSound(client: Client, since: number, size: number): Promise<Listed | undefined> {
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
