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

/** Two lists are read, because a job can be missing between two pages, and then stands elsewhere with another size. */
const PAGE_SIZES = [100, 99];

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
 * those that the service gave to the jobs, so that no clock of a machine counts. Returns the proof in words, or undefined.
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
  for (const size of PAGE_SIZES) if (!(await isAbsent(client, claim.job, newer.id, created, size))) return undefined;
  return `two lists show job ${newer.id}, created ${newer.created_at}, and not job ${claim.job}`;
}

async function isAbsent(client: Client, job: string, newer: string, since: number, size: number): Promise<boolean> {
  const { seen } = await pollUntil(client, {
    poll: () => idsSince(client, since, size),
    isDone: (ids) => ids === undefined || ids.has(newer),
    limitMs: () => LAG_MS,
  });
  return seen !== undefined && seen.has(newer) && !seen.has(job);
}

/**
 * Returns the ids of the listed jobs back to a time. Returns undefined for a list that proves nothing: one that is not
 * newest first, that has an item without id or time, or a page that is not full although another follows.
 */
async function idsSince(client: Client, since: number, size: number): Promise<ReadonlySet<string> | undefined> {
  const ids = new Set<string>();
  let last = Infinity;
  for await (const { items, next } of client.accountUpdater.list({ pageSize: size }).pages()) {
    if (items.length > size || (next !== undefined && items.length < size)) return undefined;
    for (const { id, created_at: at } of items) {
      const created = parseTime(at ?? '');
      if (!id || created === undefined || created > last) return undefined;
      ids.add(id);
      last = created;
    }
    if (last < since) break;
  }
  return ids;
}
