import { areTokensKnown, deliveryOf, lastReading, stands } from './claims.ts';
import type { DoneEntry, EndBody, Entry } from './entry.ts';
import { isDone } from './is-done.ts';
import type { LedgerCycle } from './ledger.ts';

/** Tells whether a `done` entry says something new. Results that were read only for their tokens can still be delivered. */
function isNews(
  entries: readonly Entry[],
  { job, born, results, delivered }: Pick<DoneEntry, 'job' | 'born' | 'results' | 'delivered'>,
): boolean {
  if (born !== null && !areTokensKnown(entries, job)) return true;
  if (results !== undefined && lastReading(entries, job)?.results?.sha256 !== results.sha256) return true;
  return delivered === false ? !isDone(entries, job) : deliveryOf(entries, job) === undefined;
}

/**
 * Ends the claim of a job, unless it has ended. A release names the job and not the rows, so that a late one does not free
 * a newer claim.
 */
export async function endClaim(cycle: LedgerCycle, job: string, end: EndBody): Promise<void> {
  await cycle.append(async (entries) => {
    // Results may still be read after a release, and the operator may free rows whose results were read.
    const wasRead = isDone(entries, job);
    const isWanted =
      end.kind === 'done' ? isNews(entries, end) : stands(entries, job) && (!wasRead || end.why === 'operator');
    return isWanted ? end : undefined;
  });
}
