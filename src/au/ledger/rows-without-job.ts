// Finds rows of a cycle that no job has: their job ended without results, or never existed.

import { hasStandingClaim, openJobs, standingClaims } from './claims.ts';
import type { LedgerCycle } from './cycle.ts';
import type { ClaimEntry, Entry, Keys } from './entry.ts';
import { RowSet } from './row-set.ts';

/** The entries of a cycle, and its sets of rows. */
export interface CycleRows {
  readonly entries: readonly Entry[];
  readonly cycle: Pick<LedgerCycle, 'rowSet'>;
}

/** Rows of the file of a claim that no job has. */
export interface RowsWithoutJob {
  readonly claim: ClaimEntry;
  /** Whether the claim ended. If not, the rows never had a job, as after a submission that stopped between two jobs. */
  readonly isEnded: boolean;
  readonly rows: RowSet;
}

/**
 * Returns the rows that files of the cycle have and no job has, by the claims of the files. Rows that the operator freed or left out
 * do not count, unless a later claim has them. Returns none where the rows of a standing claim are unknown.
 */
export async function rowsWithoutJob({ cycle, entries }: CycleRows): Promise<readonly RowsWithoutJob[]> {
  const standing = standingClaims(entries);
  if (standing.some(({ row_set: set }) => set === null)) return [];
  const accounted = new AccountedRows(cycle);
  for (const claim of standing) accounted.add(claim);
  const found: RowsWithoutJob[] = [];
  // A row may have had several claims. The last one decides, so the entries are read from the end.
  for (const [index, entry] of [...entries.entries()].toReversed()) {
    if (entry.kind === 'left_out') accounted.add(entry);
    else if (entry.kind === 'release') {
      const claim = claimsOf(entries.slice(0, index)).findLast(({ job }) => job === entry.job);
      if (claim !== undefined && entry.why === 'operator') accounted.add(claim);
      // The whole submission was refused, since another cycle has its rows.
      if (claim !== undefined && entry.why === 'refused') accounted.addFile(claim);
    } else if (entry.kind === 'claim') {
      const rows = await accounted.takeOthers(entry);
      if (rows.size > 0) found.push({ claim: entry, isEnded: !hasStandingClaim(entries, entry.job), rows });
    }
  }
  return found.toReversed();
}

/**
 * Returns the rows that no job has, without those that another command may still send: while jobs are open, rows that never had a job.
 */
export async function lostRows(of: CycleRows): Promise<readonly RowsWithoutJob[]> {
  const isOpen = openJobs(of.entries).length > 0;
  return (await rowsWithoutJob(of)).filter(({ isEnded }) => isEnded || !isOpen);
}

function claimsOf(entries: readonly Entry[]): ClaimEntry[] {
  return entries.filter((entry) => entry.kind === 'claim');
}

/** An entry with a set of rows. */
type SetEntry = Keys & { readonly row_set: string | null; readonly sha256?: string };

/** Rows that have a job, that nobody wants, or that were found. */
class AccountedRows {
  readonly #cycle: CycleRows['cycle'];
  readonly #sets = new Map<string, Keys>();
  /** The hashes of the files of claims, since row sets of an earlier build cannot be compared. */
  readonly #files = new Set<string>();
  readonly #found: RowSet[] = [];

  constructor(cycle: CycleRows['cycle']) {
    this.#cycle = cycle;
  }

  add(entry: SetEntry): void {
    if (entry.row_set !== null) this.#sets.set(entry.row_set, entry);
    if (entry.sha256 !== undefined) this.#files.add(entry.sha256);
  }

  /** Adds the rows of a claim, and those of its file that had no job then. */
  addFile(claim: ClaimEntry): void {
    this.add(claim);
    for (const name of claim.file.row_sets ?? []) this.#sets.set(name, claim);
  }

  /** Returns the other rows of a claim and its file, which are accounted for from now on. */
  async takeOthers(claim: ClaimEntry): Promise<RowSet> {
    const own = claim.row_set === null || this.#files.has(claim.sha256) ? [] : [claim.row_set];
    const names = [...own, ...(claim.file.row_sets ?? [])].filter((name) => !this.#sets.has(name));
    const sets = await Promise.all(names.map((name) => this.#cycle.rowSet(name, claim)));
    const [first] = sets;
    if (first === undefined) return RowSet.of([], '');
    const accounted = await Promise.all([...this.#sets].map(([name, keys]) => this.#cycle.rowSet(name, keys)));
    const rows = RowSet.union(sets, first.salt).without([...accounted, ...this.#found]);
    this.#found.push(rows);
    return rows;
  }
}
