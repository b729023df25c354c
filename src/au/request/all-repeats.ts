import type { RepeatedRows, RequestFileCheck } from './request-file.ts';
import { type HashShare, KEPT, MOST_ROWS } from './row-repeats.ts';

/** How full a table gets on average. Hashes spread evenly, but not exactly. */
const LOAD = 0.9;

/**
 * Returns all repeated rows of a checked file. Where the check met more different rows than it remembers, `checkShare`
 * reads the file again for each share of the hashes, so that memory stays bounded however many rows there are.
 */
export async function allRepeats(
  { rows, duplicates }: RequestFileCheck,
  checkShare: (share: HashShare) => Promise<RequestFileCheck>,
  most = MOST_ROWS,
): Promise<RepeatedRows> {
  if (duplicates.isComplete) return duplicates;
  for (let of = Math.ceil(rows / (most * LOAD)); ; of *= 2) {
    const found: RepeatedRows[] = [];
    for (let number = 0; number < of; number += 1) found.push((await checkShare({ number, of })).duplicates);
    if (found.every(({ isComplete }) => isComplete)) return merged(found, duplicates);
  }
}

function merged(found: readonly RepeatedRows[], { hasSeveralMerchants }: RepeatedRows): RepeatedRows {
  const lines = Int32Array.from(found.flatMap((share) => share.lines)).toSorted();
  const first = found.flatMap((share) => share.first).toSorted((one, other) => one.line - other.line);
  return { count: lines.length, first: first.slice(0, KEPT), lines: [...lines], isComplete: true, hasSeveralMerchants };
}
