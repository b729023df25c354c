/** A typed percentage has at most 6 decimals. */
const PARTS = 1e8;

/**
 * Compares `count / whole` with a share of at most 8 decimals. Returns a negative number if `count / whole` is smaller, 0 if
 * both are equal. Compares integers, because 100 * 0.29 is less than 29 in binary fractions.
 */
export function compareShare(count: number, whole: number, share: number): number {
  return count * PARTS - whole * Math.round(share * PARTS);
}
