/** Shares in percent have at most 6 decimals where they are typed. */
const PARTS = 1e8;

/**
 * Compares the share that a count has of a whole with a share of at most 8 decimals: negative if it is smaller, 0 if it is
 * the same. Compares whole numbers, because 100 * 0.29 is less than 29 in binary fractions.
 */
export function compareShare(count: number, whole: number, share: number): number {
  return count * PARTS - whole * Math.round(share * PARTS);
}
