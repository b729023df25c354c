import type { RowSet } from './row-set.ts';

/** Returns the cycle of a file that belongs to none: the same rows in any order and with any quotes are the same file. */
export function fileCycle(rows: RowSet): string {
  return `file-${rows.name().slice(0, 16)}`;
}
