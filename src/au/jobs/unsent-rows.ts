import { SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/time.ts';
import { standingClaims } from '../ledger/claims.ts';
import type { ClaimEntry, Entry } from '../ledger/entry.ts';
import { submitWords } from '../ledger/claim-errors.ts';
import { hasSameKeys, hasSameRows } from '../ledger/earlier-keys.ts';
import type { LedgerCycle } from '../ledger/ledger.ts';
import type { NamedCycle } from '../ledger/named-cycle.ts';
import { RowSet } from '../ledger/row-set.ts';

type RowSets = Pick<LedgerCycle, 'rowSet'>;

interface CycleRows extends Pick<NamedCycle, 'name' | 'entries'> {
  readonly cycle: RowSets;
}

/**
 * Returns the error for rows that a job had which failed or never got its file, and that no other job has. Rows that the
 * operator freed after that are left to the operator. Undefined if there are none, or if a job may have any row.
 */
export async function unsentRows({ name, cycle, entries }: CycleRows): Promise<SvcError | undefined> {
  const ended = endedClaims(entries);
  const standing = standingClaims(entries);
  if (ended.length === 0 || standing.some(({ row_set: set }) => set === null)) return undefined;
  const settled = [...standing];
  // The last end of a row's claims decides, so the claims are read from the last one that ended to the first.
  for (const { claim, isFreed } of ended.toReversed()) {
    const { job, row_set: set, file } = claim;
    if (set === null) continue;
    const rows = await cycle.rowSet(set);
    const left = hasSameRows(settled, claim) ? 0 : rows.size - rows.shared(await rowsOf(cycle, settled, claim));
    if (isFreed) settled.push(claim);
    else if (left > 0)
      return new SvcError(
        'job_failed',
        `no job has ${countText(left, 'row')} of ${file.name}: job ${job} ended without results`,
        {
          hint: 'The results of the cycle lack them. Submit the file again, which sends them in another job:',
          next: submitWords('<file>', name),
          facts: { job, cycle: name, rows: left },
        },
      );
  }
  return undefined;
}

interface EndedClaim {
  readonly claim: ClaimEntry;
  /** Whether the operator freed its rows. */
  readonly isFreed: boolean;
}

/** Returns the claims that do not stand, in the order in which they ended. */
function endedClaims(entries: readonly Entry[]): EndedClaim[] {
  const claims = new Map<string, ClaimEntry>();
  const ended = new Map<string, EndedClaim>();
  for (const entry of entries) {
    if (entry.kind === 'done') continue;
    const claim = claims.get(entry.job);
    // A job may end more than once, if it turned out to have its file after its first end.
    ended.delete(entry.job);
    if (entry.kind === 'claim') claims.set(entry.job, entry);
    else if (claim !== undefined) ended.set(entry.job, { claim, isFreed: entry.why === 'operator' });
  }
  return [...ended.values()];
}

/** Returns the rows of claims whose keys are those of another claim. */
async function rowsOf(cycle: RowSets, claims: readonly ClaimEntry[], like: ClaimEntry): Promise<RowSet> {
  const alike = claims.filter((claim) => hasSameKeys(claim, like));
  return RowSet.union(await Promise.all(alike.flatMap(({ row_set: set }) => (set ? [cycle.rowSet(set)] : []))));
}
