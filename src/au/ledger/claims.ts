import { cleanText } from '../../cli/output/text.ts';
import type { ClaimEntry, EndBody, Entry } from './entry.ts';
import type { LedgerCycle } from './ledger.ts';

/** The most characters of a user and host in a message. */
const LONGEST_NAME = 80;

/** Returns who sent the rows of a claim. */
export function byText({ by: { host, user } }: Pick<ClaimEntry, 'by'>): string {
  // Another machine wrote these words, so they must not act on this terminal.
  return cleanText(`${user}@${host}`).slice(0, LONGEST_NAME);
}

/** Returns the claims that stand: those whose job no release names. */
export function standingClaims(entries: readonly Entry[]): ClaimEntry[] {
  const released = new Set(entries.flatMap((entry) => (entry.kind === 'release' ? entry.job : [])));
  return entries.filter((entry) => entry.kind === 'claim').filter(({ job }) => !released.has(job));
}

/** Tells whether somebody read the results of a job. */
export function isDone(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind === 'done' && entry.job === job);
}

/** Tells whether the claim of a job has ended, one way or the other. */
function isEnded(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind !== 'claim' && entry.job === job);
}

/** Returns the names of the sets of tokens that the cycle made. */
export function newTokenSets(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'done' ? (entry.born ?? []) : []));
}

/**
 * Ends the claim of a job, unless it has ended. A release names the job and not the rows, so that a late one does not free
 * a newer claim.
 */
export async function endClaim(cycle: LedgerCycle, job: string, end: EndBody): Promise<void> {
  await cycle.append(async (entries) => {
    const isReleased = entries.some((entry) => entry.kind === 'release' && entry.job === job);
    // Results may still be read after a release, and the operator may free rows whose results were read.
    const isWanted =
      end.kind === 'done' ? !isDone(entries, job) : !(isReleased || (end.why !== 'operator' && isEnded(entries, job)));
    return isWanted ? end : undefined;
  });
}
