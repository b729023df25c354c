import { parseTime } from '../../cli/output/time.ts';
import type { Client } from '../../client/api/client.ts';
import { pollUntil } from '../../client/api/poll.ts';
import { UNDER_WAY_MS } from '../../schema/account-updater-files.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { DAY_MS, MINUTE_MS } from '../../schema/durations.ts';
import type { ClaimEntry } from './entry.ts';

/** How long the service remembers a job with a file at least. Later, its absence proves nothing. */
const REMEMBERED_MS = 7 * DAY_MS;

/** How long a list may take to show a job that was just created. */
const LAG_MS = 2 * MINUTE_MS;

/** The sizes of pages that are tried until enough lists count. */
const PAGE_SIZES = [100, 99, 83, 71];

/** The number of lists that must not show the job. */
const LISTS = 2;

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
 * those that the service gave to the jobs, so that no clock of a machine counts. A job can be missing between two pages, so
 * that a list in which this job would be there does not count. Returns the proof in words, or undefined.
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
  let lists = 0;
  for (const size of PAGE_SIZES) {
    const listed = await listSince(client, newer.id, created, size);
    if (listed === undefined || !listed.ids.has(newer.id) || listed.ids.has(claim.job)) return undefined;
    if (!listed.isBetweenPages) lists += 1;
    if (lists === LISTS) return `two lists show job ${newer.id}, created ${newer.created_at}, and not job ${claim.job}`;
  }
  return undefined;
}

/** The jobs of a list back to a time. */
interface Listed {
  readonly ids: ReadonlySet<string>;
  /** Whether a job of that time would be the last of a page or the first of the next one. */
  readonly isBetweenPages: boolean;
}

/** Reads the list until it shows the newer job. Returns undefined for a list that proves nothing. */
async function listSince(client: Client, newer: string, since: number, size: number): Promise<Listed | undefined> {
  const { seen } = await pollUntil(client, {
    poll: () => readSince(client, since, size),
    isDone: (listed) => listed === undefined || listed.ids.has(newer),
    limitMs: () => LAG_MS,
  });
  return seen;
}

/**
 * Reads the list back to a time. Returns undefined for one that proves nothing: one that is not newest first, that has an
 * item without id or time, or a page that is not full although another follows.
 */
async function readSince(client: Client, since: number, size: number): Promise<Listed | undefined> {
  const ids = new Set<string>();
  let last = Infinity;
  let isBetweenPages = false;
  for await (const { items, next } of client.accountUpdater.list({ pageSize: size }).pages()) {
    if (items.length > size || (next !== undefined && items.length < size)) return undefined;
    const first = parseTime(items[0]?.created_at ?? '') ?? -Infinity;
    if (ids.size > 0 && first <= since && since <= last) isBetweenPages = true;
    for (const { id, created_at: at } of items) {
      const created = parseTime(at ?? '');
      if (!id || created === undefined || created > last) return undefined;
      ids.add(id);
      last = created;
    }
    if (last < since) break;
  }
  return { ids, isBetweenPages };
}
