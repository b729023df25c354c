/** A typed percentage has at most 6 decimals. */
const PARTS = 1e8;

/**
 * Compares a count divided by a whole with a share of at most 8 decimals. Returns a negative number if it is smaller, 0 if it
 * is equal. It compares whole numbers, because 100 * 0.29 is less than 29 in binary fractions.
 */
export function compareShare(count: number, whole: number, share: number): number {
  return count * PARTS - whole * Math.round(share * PARTS);
}
