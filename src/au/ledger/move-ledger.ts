import { deliveryOf, standingClaims } from './claims.ts';
import { endClaim } from './end-claim.ts';
import type { ClaimEntry, Entry } from './entry.ts';
import { isFileCycle, unknownRowsCycle } from './file-cycle.ts';
import type { Ledger, LedgerCycle } from './ledger.ts';

/** Returns the jobs whose claims stand in a ledger. */
export async function claimedJobs(own: Ledger): Promise<ReadonlySet<string>> {
  const jobs = new Set<string>();
  for (const name of await own.cycleNames())
    for (const { job } of standingClaims(await own.cycle(name).read())) jobs.add(job);
  return jobs;
}

/** Returns the runs that made claims, whatever became of these. */
export async function claimingRuns(ledger: Ledger): Promise<ReadonlySet<string>> {
  const runs = new Set<string>();
  for (const name of await ledger.cycleNames())
    for (const entry of await ledger.cycle(name).read()) if (entry.kind === 'claim') runs.add(entry.run);
  return runs;
}

/**
 * Enters the claims of a ledger that this machine had alone into the one that it shares from now on, unless the jobs are
 * known there. The rows of a claim whose run is gone cannot be told any more, so that such a claim may have any row of its
 * cycle. A file without a cycle is entered under its hash, by which it is found again. Doing it twice changes nothing.
 */
export async function enterClaims(own: Ledger, shared: Ledger): Promise<void> {
  const entered = new Set<string>();
  // A process that still works with the former ledger may have claimed the rows of a job again meanwhile.
  let before: number;
  do {
    before = entered.size;
    for (const name of await own.cycleNames()) {
      const entries = await own.cycle(name).read();
      for (const claim of standingClaims(entries).filter(({ job }) => !entered.has(job))) {
        await enterClaim(shared, name, claim, entries);
        entered.add(claim.job);
      }
    }
  } while (entered.size > before);
}

async function enterClaim(shared: Ledger, of: string, claim: ClaimEntry, entries: readonly Entry[]): Promise<void> {
  const { job, created_at, expires_at, rows, run, part, file, bytes, sha256 } = claim;
  const name = isFileCycle(of) ? unknownRowsCycle(file.sha256) : of;
  const cycle = (await shared.cycleOfJob(job)) ?? shared.cycle(name);
  const body = { job, created_at, expires_at, rows, run, part, file, bytes, sha256 };
  await cycle.append(async (now) =>
    now.some((entry) => entry.job === job) ? undefined : { kind: 'claim', row_set: null, ...body },
  );
  // Until its claim stands, other machines must not take the job for a known one: the service may have its file.
  await shared.mark(job, name);
  // Results are read again for their tokens, because the sets of tokens differ between ledgers.
  if (deliveryOf(entries, job) !== undefined) await endClaim(cycle, job, { kind: 'done', job, born: null });
}

/** Returns the claims of a cycle of this machine's former ledger that the shared ledger has without their rows. */
export async function enteredWithoutRows(own: LedgerCycle, shared: Ledger): Promise<readonly ClaimEntry[]> {
  const entered: ClaimEntry[] = [];
  for (const { job } of standingClaims(await own.read())) {
    const claims = standingClaims((await (await shared.cycleOfJob(job))?.read()) ?? []);
    entered.push(...claims.filter((claim) => claim.job === job && claim.row_set === null));
  }
  return entered;
}
