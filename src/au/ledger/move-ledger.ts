import { standingClaims } from './claims.ts';
import type { LedgerCycle } from './cycle.ts';
import { copiedKeys } from './earlier-keys.ts';
import type { ClaimEntry, DoneEntry } from './entry.ts';
import type { Ledger } from './ledger.ts';

/**
 * Copies the claims that stand in the ledger that this machine had alone into the one that it shares from now on, unless
 * the jobs are known there, with what was read of their results. All ledgers of a tenant have the same keys. Doing it twice
 * changes nothing.
 */
export async function copyClaims(own: Ledger, shared: Ledger): Promise<void> {
  const copied = new Set<string>();
  // A process that still works with the former ledger may have claimed the rows of a job again meanwhile.
  let before: number;
  do {
    before = copied.size;
    for (const name of await own.cycleNames()) {
      const cycle = own.cycle(name);
      for (const claim of standingClaims(await cycle.read()).filter(({ job }) => !copied.has(job))) {
        await copyClaim(cycle, claim, shared);
        copied.add(claim.job);
      }
    }
  } while (copied.size > before);
}

/** Tells whether the ledger that this machine had alone has claims of jobs that the shared one does not know. */
export async function hasUncopied(own: Ledger, shared: Ledger): Promise<boolean> {
  for await (const _ of uncopied(own, shared)) return true;
  return false;
}

/**
 * Notes in the shared ledger which jobs this machine is about to enter there. Of two machines that begin to share, neither knows
 * the jobs of the other, so that without these notes each would wait for the other.
 */
export async function announceClaims(own: Ledger, shared: Ledger): Promise<void> {
  for await (const { job } of uncopied(own, shared)) await shared.announce(job);
}

async function* uncopied(own: Ledger, shared: Ledger): AsyncGenerator<ClaimEntry> {
  for (const name of await own.cycleNames())
    for (const claim of standingClaims(await own.cycle(name).read()))
      if (!(await shared.isMarked(claim.job))) yield claim;
}

async function copyClaim(from: LedgerCycle, claim: ClaimEntry, shared: Ledger): Promise<void> {
  const { version: _version, previous: _previous, at: _at, by: _by, ...body } = claim;
  const { job } = claim;
  const to = (await shared.cycleOfJob(job)) ?? shared.cycle(from.name);
  const rows = await from.rowSetOf(claim);
  if (rows) await to.createRowSet(rows);
  const copied = { ...body, ...copiedKeys(claim, rows) };
  await to.append(async (now) => (now.some((entry) => entry.job === job) ? undefined : copied));
  // Until its claim stands, other machines must not take the job for a known one: the service may have its file.
  await shared.mark(job, from.name);
  for (const entry of await from.read())
    if (entry.kind === 'done' && entry.job === job) await copyDone(from, entry, to);
}

async function copyDone(from: LedgerCycle, done: DoneEntry, to: LedgerCycle): Promise<void> {
  const { version: _version, previous: _previous, at: _at, by: _by, ...body } = done;
  const [born] = await from.newTokens([done]);
  const closed = done.closed === undefined ? undefined : await from.rowSet(done.closed, done);
  for (const set of [born, closed]) if (set) await to.createRowSet(set);
  await to.endClaim({ ...body, ...copiedKeys(done, born) });
}
