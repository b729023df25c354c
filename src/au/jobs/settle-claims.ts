import type { Client } from '../../client/api/client.ts';
import type { AccountUpdaterJob } from '../../schema/account-updater.ts';
import { findJob } from '../job/job.ts';
import { isDone, standingClaims, stands, type Taken } from '../ledger/claims.ts';
import type { LedgerCycle } from '../ledger/cycle.ts';
import { proofOfAbsence, provableFrom, provableUntil } from '../ledger/proof-of-absence.ts';
import type { FileRows } from '../ledger/request-rows.ts';

export interface Settled {
  /** Claims that still stand. */
  readonly taken: readonly Taken[];
  /** Claims that ended now because their jobs failed. Their rows are free. */
  readonly failed: readonly Taken[];
}

export interface SettleOptions {
  /** Jobs of the caller, whose claims do not count. */
  readonly own?: ReadonlySet<string> | undefined;
  /** Jobs that certainly have no file, as the records of the only machine with this ledger say. */
  readonly ended?: ReadonlySet<string> | undefined;
  /** Tells whether the store confirmed the file of a job to this machine. Then no list proves that the job has no file. */
  readonly stored?: ((job: string) => boolean) | undefined;
  /** Returns a job that was created just now, as a proof that a list of jobs is up to date; undefined if none may be. */
  readonly newer?: (() => Promise<AccountUpdaterJob | undefined>) | undefined;
}

/**
 * Reads the job of each standing claim that has some of the rows, and ends the claim where the service's word allows it.
 * Without a client, nothing is read and every claim stands.
 */
export async function settleClaims(
  client: Client | undefined,
  cycle: LedgerCycle,
  rows: FileRows,
  { own, ...how }: SettleOptions = {},
): Promise<Settled> {
  const taken: Taken[] = [];
  const failed: Taken[] = [];
  const entries = [...(await cycle.read())];
  for (const claim of standingClaims(entries)) {
    if (own?.has(claim.job)) continue;
    const shared = await rows.shared(await cycle.rowsOf(claim));
    if (shared === 0) continue;
    const { end, ...read } = await settleClaim(client, cycle, { claim, isDone: isDone(entries, claim.job) }, how);
    const one = { ...read, rows: shared };
    if (end === undefined) taken.push(one);
    else if (end === 'failed') failed.push(one);
  }
  return { taken, failed };
}

/**
 * Reads the job of one claim, and ends the claim where the service's word allows it. Returns what was read, and why the
 * claim ended: `end` is undefined for one that stands.
 */
export async function settleClaim(
  client: Client | undefined,
  cycle: LedgerCycle,
  { claim, isDone: wasRead }: Pick<Taken, 'claim' | 'isDone'>,
  how: Pick<SettleOptions, 'ended' | 'newer' | 'stored'>,
): Promise<Omit<Taken, 'rows'> & { readonly end: 'failed' | 'gone' | undefined }> {
  const { job } = claim;
  const status = client === undefined ? null : (await findJob(client, job))?.status;
  const read = { claim, status, isDone: wasRead };
  const proof = client && (await endOf(client, read, how));
  if (proof === undefined) return { ...read, end: undefined };
  await cycle.endClaim({ kind: 'release', job, ...proof });
  // Whoever read the results of the job, before this or meanwhile, keeps the claim.
  const now = await cycle.read();
  return { ...read, isDone: isDone(now, job), end: stands(now, job) ? undefined : proof.why };
}

/** Returns why the claim of a job ends, with what was read; undefined if it stands. */
async function endOf(
  client: Client,
  { claim, status, isDone: wasRead }: Omit<Taken, 'rows'>,
  { ended, newer, stored }: Pick<SettleOptions, 'ended' | 'newer' | 'stored'>,
): Promise<{ readonly why: 'failed' | 'gone'; readonly proof: string } | undefined> {
  const { job } = claim;
  if (status === 'failed') return { why: 'failed', proof: `the service said that job ${job} failed` };
  if (status !== undefined || wasRead) return undefined;
  if (ended?.has(job)) return { why: 'gone', proof: `the record of this machine: job ${job} never had its file` };
  if (stored?.(job)) return undefined;
  const from = provableFrom(claim);
  // A proof needs another job, which is created only if the proof can succeed.
  if (from === undefined || client.now() < from || client.now() > provableUntil(claim)) return undefined;
  const created = await newer?.();
  const proof = created && (await proofOfAbsence(client, claim, created));
  return proof === undefined ? undefined : { why: 'gone', proof };
}
