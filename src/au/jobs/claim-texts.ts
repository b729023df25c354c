// The words for files, cycles and claims in messages about rows.

import path from 'node:path';
import { type SettledClaim, creationOf, senderName } from '../ledger/claims.ts';
import { REFRESH_REQUEST, submitWords } from '../ledger/cycle-names.ts';
import type { ClaimEntry } from '../ledger/entry.ts';
import { SvcError } from '../../base/errors.ts';
import { formatDuration } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { hashIfReadable } from '../../client/transfer/source.ts';

/** The names of a file and its cycle, for messages. */
export interface NamedFile {
  readonly name: string;
  readonly cycle: string;
  /** Whether the operator named the cycle. If not, its name is made from the rows of the file. */
  readonly isNamed: boolean;
}

export const NOTHING_SENT = '; nothing was sent';

/**
 * Returns the command that sends the rows of a claim in another job, as words. The claim names the file without its folder, so
 * that the command names it only if `cwd` has that very file.
 */
export async function resubmitWords(
  { file: { name, sha256 } }: Pick<ClaimEntry, 'file'>,
  cycle: string,
  cwd: string,
): Promise<string[]> {
  const isHere = async (file: string): Promise<boolean> => (await hashIfReadable(path.join(cwd, file))) === sha256;
  const isOfRefresh = name === REFRESH_REQUEST && (await isHere(path.join('refresh', cycle, name)));
  if (isOfRefresh) return ['au', 'refresh', '--cycle', cycle];
  return submitWords((await isHere(name)) ? name : '<file>', cycle);
}

/** Returns the error for rows whose jobs failed. Their claims ended, so the next command sends the rows. */
export function failedElsewhereError(file: NamedFile, failed: readonly SettledClaim[]): SvcError {
  const jobs = failed.map(({ claim }) => claim.job);
  const what = failed.map(
    ({ claim, rows }) =>
      `job ${claim.job} with ${countText(rows, 'row')} of ${file.name} failed: ${senderName(claim)} sent it as ${claim.file.name}`,
  );
  return new SvcError('job_failed', `${what.join('; ')}; nothing was sent now`, {
    hint: `Nothing was billed for ${jobs.length === 1 ? 'that job' : 'these jobs'}. Run the same command again: it sends the rows in a new job.`,
    next: ['au', 'status', jobs[0] ?? ''],
    retryable: true,
    facts: {
      ...(jobs.length === 1 ? { job: jobs[0] } : { jobs }),
      rows: failed.reduce((sum, { rows }) => sum + rows, 0),
    },
  });
}

export function cycleText({ cycle, isNamed }: Pick<NamedFile, 'cycle' | 'isNamed'>): string {
  return isNamed ? `cycle ${cycle}` : 'the ledger';
}

/** Names the sender of a claim's rows, their age, and the status of the job. */
export function senderText({ claim, status }: SettledClaim, now: number): string {
  const age = formatDuration(Math.max(0, now - creationOf(claim)));
  const shownStatus = status === null ? 'not read in a dry run' : (status ?? 'no longer known to the service');
  return `sent by ${senderName(claim)}, ${age} ago, job ${claim.job} (${shownStatus})`;
}

/** Counts jobs by status, such as "1 processing, 2 completed". */
export function progressText(statuses: readonly string[]): string {
  const [only] = statuses;
  if (statuses.length === 1 && only !== undefined) return only;
  const counts = new Map<string, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${status}`).join(', ');
}
