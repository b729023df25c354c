import { operatorText } from '../../base/account.ts';
import { cleanText } from '../../cli/output/text.ts';
import type { ClaimEntry, DoneEntry, Entry, EntryBody } from './entry.ts';

/** A standing claim that has some of the rows. */
export interface Taken {
  readonly claim: ClaimEntry;
  /** How many of the rows it has. */
  readonly rows: number;
  /** What the service said of its job in this command: undefined if it does not know the job, null if it was not asked. */
  readonly status: string | null | undefined;
  /** Whether somebody read the results of the job. */
  readonly isDone: boolean;
}

/** The most characters of a user and host in a message. */
const LONGEST_NAME = 80;

/** Returns who made an entry. */
export function byText({ by }: Pick<Entry, 'by'>): string {
  // Another machine wrote these words, so they must not act on this terminal.
  return cleanText(operatorText(by)).slice(0, LONGEST_NAME);
}

/**
 * Returns the claims that stand: those that no later release ends. A claim that follows the release of its job stands
 * again, because the job turned out to have the file.
 */
export function standingClaims(entries: readonly Entry[]): ClaimEntry[] {
  const standing = new Map<string, ClaimEntry>();
  for (const entry of entries) {
    if (entry.kind === 'claim') standing.set(entry.job, entry);
    else if (entry.kind === 'release') standing.delete(entry.job);
  }
  return [...standing.values()];
}

/** Tells whether the claim of a job stands. */
export function stands(entries: readonly Entry[], job: string): boolean {
  return standingClaims(entries).some((claim) => claim.job === job);
}

/** Tells whether the ledger knows the tokens that a job made. It does not where its results were gone when they were entered. */
export function areTokensKnown(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind === 'done' && entry.job === job && entry.born !== null);
}

/** Returns what the ledger has of the results of a job as they were read last; undefined if it was never noted. */
export function lastReading(entries: readonly Entry[], job: string): DoneEntry | undefined {
  return entries
    .filter((entry) => entry.kind === 'done')
    .findLast((done) => done.job === job && done.results !== undefined);
}

/** Returns the entry with which the results of a job were delivered; undefined if nobody received them. */
export function deliveryOf(entries: readonly Entry[], job: string): DoneEntry | undefined {
  return entries.filter((entry) => entry.kind === 'done').find((done) => done.job === job && done.delivered !== false);
}

/** Returns the jobs with standing claims whose results nobody received. */
export function openJobs(entries: readonly Entry[]): string[] {
  return standingClaims(entries)
    .map(({ job }) => job)
    .filter((job) => deliveryOf(entries, job) === undefined);
}

/** Tells whether there is a claim of a job, which may have ended. */
export function hasClaim(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind === 'claim' && entry.job === job);
}

/** Tells whether somebody read the results of a job, so that the service had its file. */
export function isDone(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind === 'done' && entry.job === job);
}

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
 * Tells whether a claim, or what ends one, is still to be said. Results may be read after a release, and the operator may free
 * rows whose results were read.
 */
export function isWanted(entries: readonly Entry[], end: EntryBody): boolean {
  if (end.kind === 'done') return isNews(entries, end);
  if (end.kind === 'claim') return !stands(entries, end.job);
  return stands(entries, end.job) && (end.why === 'operator' || !isDone(entries, end.job));
}
