// Finds rows of a cycle that no job has: their job ended without results, or never existed.

import { standingClaims } from './claims.ts';
import type { LedgerCycle } from './cycle.ts';
import type { ClaimEntry, Entry } from './entry.ts';

/** The entries of a cycle, and its sets of rows. */
export interface CycleRows {
  readonly entries: readonly Entry[];
  readonly cycle: Pick<LedgerCycle, 'rowSetOf'>;
}

/** Rows that no job has. */
export interface RowsWithoutJob {
  /** The last claim of their file, or the one that ended without results. */
  readonly claim: ClaimEntry;
  readonly rows: number;
}

/**
 * Returns rows that were lost with a failed or deleted job and that no other job got since. Rows that the operator freed do not
 * count. Returns undefined without such rows, and where the rows of a standing claim are unknown.
 */
export async function rowsOfEndedJob({ cycle, entries }: CycleRows): Promise<RowsWithoutJob | undefined> {
  const ended = endedClaims(entries);
  const standing = standingClaims(entries);
  if (ended.length === 0 || standing.some(({ row_set: set }) => set === null)) return undefined;
  const accountedFor = [...standing];
  // A row may have had several claims. The one that ended last decides, so it comes first.
  for (const { claim, isFreed } of ended.toReversed()) {
    if (isFreed) {
      accountedFor.push(claim);
      continue;
    }
    // Files with the same bytes have the same rows, also where the row sets of an earlier build cannot be compared.
    if (accountedFor.some((other) => other.sha256 === claim.sha256)) continue;
    const [rows, ...others] = await Promise.all([claim, ...accountedFor].map((each) => cycle.rowSetOf(each)));
    const unsent = rows?.countMissingFrom(others.filter((set) => set !== undefined)) ?? 0;
    if (unsent > 0) return { claim, rows: unsent };
  }
  return undefined;
}

/**
 * Returns rows of a file that never had a job, as after a submission that stopped between two jobs. Returns undefined where other
 * jobs may have these rows.
 */
export function unclaimedRows(entries: readonly Entry[]): RowsWithoutJob | undefined {
  const freed = endedClaims(entries).flatMap(({ claim, isFreed }) => (isFreed ? [claim] : []));
  const claims = [...standingClaims(entries), ...freed];
  // An operator who takes rows out of a file and submits it again does not want them.
  const newest = new Map<string, ClaimEntry>();
  for (const entry of entries) if (entry.kind === 'claim') newest.set(entry.file.name, entry);
  for (const claim of newest.values()) {
    const { file } = claim;
    const isOfFile = (entry: Entry): boolean => entry.kind === 'claim' && entry.file.sha256 === file.sha256;
    const first = entries.findIndex(isOfFile);
    // Other machines may have claimed rows of the file at the same time, from the same file or from another one.
    const own = countRows(claims.filter(isOfFile));
    const others = countRows(claims.filter((other) => !isOfFile(other) && entries.indexOf(other) > first));
    const rows = Math.min(file.unclaimed ?? 0, file.rows - own) - others;
    if (rows > 0) return { claim, rows };
  }
  return undefined;
}

export function countRows(claims: readonly ClaimEntry[]): number {
  return claims.reduce((sum, { rows }) => sum + rows, 0);
}

interface EndedClaim {
  readonly claim: ClaimEntry;
  /** Whether the operator freed the rows of the claim. */
  readonly isFreed: boolean;
}

/** Returns the ended claims in the order in which they ended. */
function endedClaims(entries: readonly Entry[]): EndedClaim[] {
  const claims = new Map<string, ClaimEntry>();
  const ended = new Map<string, EndedClaim>();
  for (const entry of entries) {
    if (entry.kind === 'done') continue;
    const claim = claims.get(entry.job);
    // A claim can end twice: the job was given up, then turned out to have its file, and failed.
    ended.delete(entry.job);
    if (entry.kind === 'claim') claims.set(entry.job, entry);
    else if (claim !== undefined) ended.set(entry.job, { claim, isFreed: entry.why === 'operator' });
  }
  return [...ended.values()];
}
