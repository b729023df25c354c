// Recognizes a results file that svc wrote, before jobs that came later had results too.

import type { Context } from '../../cli/app/command.ts';
import { hashIfReadable } from '../../client/transfer/source.ts';
import { deliveryOf, sortClaims, standingClaims } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { Entry } from '../ledger/entry.ts';
import { openSpool } from '../request/spool.ts';
import { mergeResults } from './merge.ts';
import { keptResults } from './reading.ts';

/** A cycle as the ledger has it. */
interface CycleOfFile {
  readonly tenant: string;
  readonly ledger: CommandLedger;
  readonly entries: readonly Entry[];
}

/**
 * Tells whether a file has exactly the results of a cycle that were delivered, as `svc au resume` wrote them: nobody changed it
 * since, so that the results of all jobs may replace it.
 */
export async function isOwnResults(
  context: Context,
  { tenant, ledger, entries }: CycleOfFile,
  file: string,
): Promise<boolean> {
  const sha256 = await hashIfReadable(file);
  const delivered = sortClaims(standingClaims(entries)).filter(({ job }) => deliveryOf(entries, job) !== undefined);
  if (sha256 === undefined || delivered.length === 0) return false;
  const files: string[] = [];
  for (const { job } of delivered) {
    const kept = await keptResults(ledger, tenant, job);
    if (kept === undefined) return false;
    files.push(kept);
  }
  const merging = { overwrite: true, writer: context.system };
  return (await mergeResults(files, await openSpool(context), merging)).sha256 === sha256;
}
