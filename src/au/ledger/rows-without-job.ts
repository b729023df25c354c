// Finds rows of a cycle that no job has: their job ended without results, or never existed.

import { endedClaims, openJobs, standingClaims } from './claims.ts';
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
  /** Whether the operator freed the rows without a proof, so that they may have been paid for. */
  readonly isAbandoned: boolean;
  readonly rows: RowSet;
}

/**
 * Returns the rows that files of the cycle have and no job has, by the claims of the files. Rows that the operator left out do not
 * count, unless a later claim has them. Returns none where the rows of a standing claim are unknown.
 */
export async function rowsWithoutJob(of: CycleRows): Promise<readonly RowsWithoutJob[]> {
  if (standingClaims(of.entries).some(({ row_set: set }) => set === null)) return [];
  const ended = await unaccounted(of, true, []);
  // A later claim of the same file may name rows of a job that ended. They belong to that job's claim.
  return [...ended, ...(await unaccounted(of, false, ended))];
}

/**
 * Returns the rows that have no job, that somebody wants, and that were not found before: rows of claims that ended, or else rows of
 * their files that never had a job.
 */
async function unaccounted(
  { cycle, entries }: CycleRows,
  isEnded: boolean,
  before: readonly RowsWithoutJob[],
): Promise<readonly RowsWithoutJob[]> {
  const setsBefore = before.map(({ rows }) => rows);
  const accounted = new AccountedRows(cycle, setsBefore);
  for (const claim of standingClaims(entries)) accounted.add(claim);
  const abandoned = new Set(
    endedClaims(entries).flatMap(({ claim, end }) => (end.why === 'operator' ? claim.job : [])),
  );
  const found: RowsWithoutJob[] = [];
  // A row may have had several claims. The last one decides, so the entries are read from the end.
  for (const [index, entry] of [...entries.entries()].toReversed()) {
    if (entry.kind === 'left_out') accounted.add(entry);
    // The whole submission was refused, since another cycle has its rows.
    else if (entry.kind === 'release' && entry.why === 'refused') {
      const claim = claimsOf(entries.slice(0, index)).findLast(({ job }) => job === entry.job);
      if (claim !== undefined) accounted.addFile(claim);
    } else if (entry.kind === 'claim') {
      const own = entry.row_set === null ? [] : [entry.row_set];
      const rows = await accounted.takeOthers(entry, isEnded ? own : (entry.file.row_sets ?? []));
      if (rows.size > 0) found.push({ claim: entry, isEnded, isAbandoned: isEnded && abandoned.has(entry.job), rows });
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
  readonly #found: RowSet[];

  constructor(cycle: CycleRows['cycle'], found: readonly RowSet[]) {
    this.#cycle = cycle;
    this.#found = [...found];
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

  /** Returns the other rows in sets of a claim, which are accounted for from now on. */
  async takeOthers(claim: ClaimEntry, of: readonly string[]): Promise<RowSet> {
    const isSent = (name: string): boolean => name === claim.row_set && this.#files.has(claim.sha256);
    const names = of.filter((name) => !this.#sets.has(name) && !isSent(name));
    const sets = await Promise.all(names.map((name) => this.#cycle.rowSet(name, claim)));
    const [first] = sets;
    if (first === undefined) return RowSet.of([], '');
    const accounted = await Promise.all([...this.#sets].map(([name, keys]) => this.#cycle.rowSet(name, keys)));
    const rows = RowSet.union(sets, first.salt).without([...accounted, ...this.#found]);
    this.#found.push(rows);
    return rows;
  }
}
