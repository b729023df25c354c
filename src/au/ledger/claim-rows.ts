// Adds the claim of a job to the ledger: from then on, its rows belong to the job, and no other job may send them.

import { SvcError } from '../../base/errors.ts';
import { parseTime, utcTime } from '../../cli/output/time.ts';
import type { UploadSource } from '../../client/transfer/source.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { hasClaim, standingClaims } from './claims.ts';
import type { ClaimEntry, Entry, EntryBody } from './entry.ts';
import type { LedgerCycle } from './cycle.ts';
import type { Ledger } from './ledger.ts';
import { provableFrom } from './proof-of-absence.ts';
import { type FileRows, newTokenKeys } from './request-rows.ts';

/** Rows to claim, and the job that was created for them. */
export interface RowsToClaim {
  readonly job: AccountUpdaterJob;
  readonly cycle: string;
  readonly rows: FileRows;
  readonly source: Pick<UploadSource, 'open'>;
  /** The number of the job within the file, in the order of the rows. */
  readonly part: number;
  readonly file: ClaimEntry['file'];
  readonly bytes: number;
  readonly sha256: string;
}

/** The error for rows that must be divided again: another job got some of them, or their own job was removed. */
export class RowsTaken extends SvcError {}

/**
 * Claims rows for their job, before the first byte is sent. Returns false if the claim existed already: an earlier attempt
 * made it, or another machine that uploads the same file to the job.
 * @throws RowsTaken if another job has some of the rows, SvcError `pending` if both jobs have them, `job_expired` if the
 *   job's own claim has ended, `conflict` if the job belongs to another file or cycle
 */
export async function claimRows(ledger: Ledger, claiming: RowsToClaim): Promise<boolean> {
  const { job, rows } = claiming;
  const cycle = ledger.cycle(claiming.cycle);
  // A claim in this machine's copies may be missing in a restored ledger.
  await cycle.heal();
  const claimed = await cycle.read();
  if (await isClaimed(cycle, claimed, claiming)) {
    await cycle.requireCondition();
    await requireOnlyClaim(cycle, claiming, claimed);
    return false;
  }
  const times = { created_at: serviceTime(job, job.created_at), expires_at: serviceTime(job, job.expires_at) };
  if (!(await ledger.mark(job.id, claiming.cycle))) throw jobBoundError(job.id);
  const body = claimBody(claiming, await cycle.createRowSet(rows.rows), times);
  return cycle.append(async (entries) => {
    if (await isClaimed(cycle, entries, claiming)) return undefined;
    await requireFreeRows(cycle, claiming, entries);
    return body;
  });
}

/** Returns the error for a job that belongs to another file: the rows of one of the two files would never be sent. */
export function jobBoundError(job: string): SvcError {
  return new SvcError('conflict', `job ${job} belongs to another file or to another system; nothing was sent`, {
    hint: 'Submit the file, which creates another job.',
    next: ['au', 'status', job],
    facts: { job },
  });
}

/**
 * Checks that no other job has claimed the same rows. A second claim may come from a ledger that was copied into this one, or
 * from a job that was given up but has its file. While both claims stand, neither job gets a file.
 * @throws SvcError `pending`
 */
async function requireOnlyClaim(
  cycle: LedgerCycle,
  { job, rows, file }: RowsToClaim,
  entries: readonly Entry[],
): Promise<void> {
  const others = standingClaims(entries).filter((claim) => claim.job !== job.id);
  const other = await firstClaimWithRows(cycle, others, rows);
  if (other === undefined) return;
  const freed = provableFrom({ expires_at: job.expires_at ?? null });
  const when = freed === undefined ? '' : ` from ${utcTime(freed)} on`;
  throw new SvcError(
    'pending',
    `jobs ${job.id} and ${other.job} both have rows of ${file.name}, so nothing was sent to either`,
    {
      hint: `The jobs end without a file. Submit the file again${when}: its rows are then sent in another job, unless one of these has them.`,
      next: ['au', 'status', other.job],
      facts: { jobs: [job.id, other.job] },
    },
  );
}

async function firstClaimWithRows(
  cycle: LedgerCycle,
  claims: readonly ClaimEntry[],
  rows: FileRows,
): Promise<ClaimEntry | undefined> {
  for (const claim of claims) if ((await rows.countShared(await cycle.rowSetOf(claim))) > 0) return claim;
  return undefined;
}

/** Checks that no claim has the rows, and that none of their tokens came from results of the cycle. @throws RowsTaken */
async function requireFreeRows(
  cycle: LedgerCycle,
  { rows, source, file }: RowsToClaim,
  entries: readonly Entry[],
): Promise<void> {
  const taken = await firstClaimWithRows(cycle, standingClaims(entries), rows);
  if (taken !== undefined)
    throw new RowsTaken('conflict', `job ${taken.job} got rows of ${file.name} meanwhile; nothing was sent`, {
      hint: 'Run the same command again: it sends the other rows, and goes on with that job.',
      next: ['au', 'status', taken.job],
      retryable: true,
      facts: { job: taken.job },
    });
  for (const newTokens of await cycle.newTokens(entries))
    if ((await newTokenKeys(newTokens.salt, source)).countShared(newTokens) > 0)
      throw new RowsTaken('conflict', `results of this cycle made tokens of ${file.name} meanwhile; nothing was sent`, {
        hint: 'Run the same command again: it sends the other rows.',
        retryable: true,
      });
}

/**
 * Tells whether the job has a standing claim of this very file.
 * @throws SvcError `job_expired` for a claim that ended, `conflict` for a claim of another file
 */
async function isClaimed(
  cycle: LedgerCycle,
  entries: readonly Entry[],
  { job, rows, sha256 }: RowsToClaim,
): Promise<boolean> {
  if (!hasClaim(entries, job.id)) return false;
  const ownClaim = standingClaims(entries).find((claim) => claim.job === job.id);
  if (ownClaim === undefined)
    throw new SvcError('job_expired', `job ${job.id} was ended in the ledger, because it has no file`);
  if (ownClaim.sha256 !== sha256) throw jobBoundError(job.id);
  const claimed = await cycle.rowSetOf(ownClaim);
  if (claimed !== undefined && !(await rows.areAllOf(claimed))) throw jobBoundError(job.id);
  return true;
}

function claimBody(
  { job, rows: { rows }, part, file, bytes, sha256 }: RowsToClaim,
  rowSet: string,
  times: Pick<ClaimEntry, 'created_at' | 'expires_at'>,
): EntryBody {
  return { kind: 'claim', job: job.id, keys: 2, ...times, row_set: rowSet, rows: rows.size, part, file, bytes, sha256 };
}

/** Returns a time of a job. A job without times is refused, because only they can prove later that it has no file. */
function serviceTime(job: AccountUpdaterJob, at: string | null | undefined): string {
  if (at && parseTime(at) !== undefined) return at;
  throw new SvcError('bad_response', `the service created job ${job.id} without its times; nothing was sent`, {
    hint: 'Try again later; if it happens again, contact support with the job id.',
    facts: { job: job.id },
  });
}
