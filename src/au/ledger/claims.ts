// What the entries of a cycle say: which claims stand, which results were read, which were delivered.

import { operatorText } from '../../base/account.ts';
import { cleanText } from '../../cli/output/text.ts';
import { parseTime } from '../../cli/output/time.ts';
import type { ClaimEntry, DoneEntry, Entry, EntryBody } from './entry.ts';

/** A claim that shares rows with a file, and the state of its job. */
export interface SettledClaim {
  readonly claim: ClaimEntry;
  /** The number of rows that the claim and the file share. */
  readonly rows: number;
  /** The job's status: undefined if the service does not find the job, null if the command did not ask. */
  readonly status: string | null | undefined;
  /** Whether somebody read the results of the job. */
  readonly wasRead: boolean;
}

/** A claim that ended, and the release that ended it. */
interface EndedClaim {
  readonly claim: ClaimEntry;
  readonly end: Extract<Entry, { kind: 'release' }>;
}

/** The most characters of a user and host in a message. */
const MAX_NAME_LENGTH = 80;

/** Returns the operator who made an entry, for messages. */
export function senderName({ by }: Pick<Entry, 'by'>): string {
  // Another machine wrote the name, so control characters in it must not reach this terminal.
  return cleanText(operatorText(by)).slice(0, MAX_NAME_LENGTH);
}

/** Returns when the job of a claim was created, in epoch milliseconds of the service's time. */
export function creationOf({ created_at: at }: Pick<ClaimEntry, 'created_at'>): number {
  return parseTime(at) ?? Date.parse(at);
}

/**
 * Returns the claims without a later release. A claim after the release of its job stands again: the job turned out to have
 * the file.
 */
export function standingClaims(entries: readonly Entry[]): ClaimEntry[] {
  return newestClaims(entries).flatMap(({ claim, end }) => (end === undefined ? claim : []));
}

/** Returns the claims with a later release. */
export function endedClaims(entries: readonly Entry[]): EndedClaim[] {
  return newestClaims(entries).flatMap(({ claim, end }) => (end === undefined ? [] : { claim, end }));
}

/** Returns the newest claim of each job, with the release that ended it. */
function newestClaims(entries: readonly Entry[]): (Pick<EndedClaim, 'claim'> & Partial<EndedClaim>)[] {
  const newest = new Map<string, Pick<EndedClaim, 'claim'> & Partial<EndedClaim>>();
  for (const entry of entries) {
    const before = newest.get(entry.job);
    if (entry.kind === 'claim') {
      newest.delete(entry.job);
      newest.set(entry.job, { claim: entry });
    } else if (entry.kind === 'release' && before !== undefined)
      newest.set(entry.job, { claim: before.claim, end: entry });
  }
  return [...newest.values()];
}

/** Sorts claims by file, and the claims of one file by the place of their rows. */
export function sortClaims(claims: readonly ClaimEntry[]): ClaimEntry[] {
  const files = claims.map(({ file }) => file.sha256);
  return claims.toSorted((a, b) => files.indexOf(a.file.sha256) - files.indexOf(b.file.sha256) || a.part - b.part);
}

export function hasStandingClaim(entries: readonly Entry[], job: string): boolean {
  return standingClaims(entries).some((claim) => claim.job === job);
}

/** Tells whether the ledger knows the new tokens of a job; false also if the results were gone before anybody read them. */
export function areTokensKnown(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind === 'done' && entry.job === job && entry.born !== null);
}

/** Returns the newest entry that describes the results of a job; undefined without such an entry. */
export function lastReading(entries: readonly Entry[], job: string): DoneEntry | undefined {
  return entries
    .filter((entry) => entry.kind === 'done')
    .findLast((done) => done.job === job && done.results !== undefined);
}

/** Returns the entry that records the delivery of a job's results; undefined if nobody received them. */
export function deliveryOf(entries: readonly Entry[], job: string): DoneEntry | undefined {
  return entries.filter((entry) => entry.kind === 'done').find((done) => done.job === job && done.delivered !== false);
}

/** Returns the jobs with standing claims whose results nobody received. */
export function openJobs(entries: readonly Entry[]): string[] {
  return standingClaims(entries)
    .map(({ job }) => job)
    .filter((job) => deliveryOf(entries, job) === undefined);
}

/** Tells whether a job has a claim, standing or ended. */
export function hasClaim(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind === 'claim' && entry.job === job);
}

/** Tells whether somebody read the results of a job, which proves that the service had its file. */
export function wereResultsRead(entries: readonly Entry[], job: string): boolean {
  return entries.some((entry) => entry.kind === 'done' && entry.job === job);
}

/** Tells whether a `done` entry adds tokens, other results, or a delivery to the entries. */
function addsResults(
  entries: readonly Entry[],
  { job, born, results, delivered }: Pick<DoneEntry, 'job' | 'born' | 'results' | 'delivered'>,
): boolean {
  if (born !== null && !areTokensKnown(entries, job)) return true;
  if (results !== undefined && lastReading(entries, job)?.results?.sha256 !== results.sha256) return true;
  return delivered === false ? !wereResultsRead(entries, job) : deliveryOf(entries, job) === undefined;
}

/** Tells whether an entry changes what the other entries say. Only the operator can release a claim whose results were read. */
export function addsToEntries(entries: readonly Entry[], body: EntryBody): boolean {
  if (body.kind === 'done') return addsResults(entries, body);
  if (body.kind === 'claim') return !hasStandingClaim(entries, body.job);
  if (body.kind === 'left_out')
    return !entries.some(
      (entry) => entry.kind === 'left_out' && entry.job === body.job && entry.row_set === body.row_set,
    );
  return hasStandingClaim(entries, body.job) && (body.why === 'operator' || !wereResultsRead(entries, body.job));
}
