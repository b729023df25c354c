import { SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/time.ts';
import { standingClaims } from '../ledger/claims.ts';
import type { ClaimEntry, Entry } from '../ledger/entry.ts';
import { submitWords } from './submission-errors.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import type { NamedCycle } from './named-cycle.ts';

type RowSets = Pick<LedgerCycle, 'rowsOf'>;

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
    const { job, sha256, file } = claim;
    const rows = await cycle.rowsOf(claim);
    if (rows === undefined) continue;
    const sets = await Promise.all(settled.map((other) => cycle.rowsOf(other)));
    // Sets of an earlier build cannot be compared, but the same bytes are the same rows.
    const isSame = settled.some((other) => other.sha256 === sha256);
    const left = isSame ? 0 : rows.left(sets.filter((set) => set !== undefined));
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
