import type { RowSet } from './row-set.ts';

/** Returns the cycle of a file that belongs to none: the same rows in any order and with any quotes are the same file. */
export function fileCycle(rows: RowSet): string {
  return `file-${rows.name().slice(0, 16)}`;
}

/**
 * Tells whether a name looks like that of a file without a cycle. The name depends on the ledger's salt, so the file has
 * another name in every other ledger.
 */
export function isFileCycle(cycle: string): boolean {
  return /^file-[0-9a-f]{16}$/.test(cycle);
}

/** Returns the cycle of a file without one whose rows are unknown, because no copy of it was found. */
export function unknownRowsCycle(sha256: string): string {
  return `file-unknown-${sha256.slice(0, 16)}`;
}
