import { mkdirSync } from 'node:fs';

/** Makes a directory for a ledger that machines share. Returns the variable that names it. */
export function sharedLedger(directory: string): { SVC_LEDGER: string } {
  mkdirSync(directory, { recursive: true });
  return { SVC_LEDGER: directory };
}
