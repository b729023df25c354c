// Copies a machine's own ledger to the shared one that it begins to use.

import { standingClaims } from './claims.ts';
import type { LedgerCycle } from './cycle.ts';
import { keysOfCopy } from './earlier-keys.ts';
import type { ClaimEntry, DoneEntry } from './entry.ts';
import type { Ledger } from './ledger.ts';

/**
 * Copies the standing claims of this machine's own ledger to the shared one, with the entries about their results. Jobs that the
 * shared ledger knows are skipped, so copying twice changes nothing.
 */
export async function copyClaims(own: Ledger, shared: Ledger): Promise<void> {
  const copied = new Set<string>();
  // Another process may still add claims to the own ledger, so it is read until no new claim appears.
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

/** Tells whether this machine's own ledger has claims of jobs that the shared one does not know. */
export async function hasUncopied(own: Ledger, shared: Ledger): Promise<boolean> {
  for await (const _ of uncopied(own, shared)) return true;
  return false;
}

/**
 * Announces in the shared ledger the jobs whose claims this machine will copy there. Without announcements, two machines that
 * begin to share would each stop at the unknown jobs of the other.
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
  const target = (await shared.cycleOfJob(job)) ?? shared.cycle(from.name);
  const rows = await from.rowSetOf(claim);
  if (rows) await target.createRowSet(rows);
  for (const set of claim.file.row_sets ?? []) await target.createRowSet(await from.rowSet(set, claim));
  const copied = { ...body, ...keysOfCopy(claim, rows) };
  await target.append(async (now) => (now.some((entry) => entry.job === job) ? undefined : copied));
  // The mark comes after the claim: the service may have the job's file, and a mark without a claim would hide that.
  await shared.mark(job, from.name);
  for (const entry of await from.read())
    if (entry.kind === 'done' && entry.job === job) await copyDone(from, entry, target);
}

async function copyDone(from: LedgerCycle, done: DoneEntry, to: LedgerCycle): Promise<void> {
  const { version: _version, previous: _previous, at: _at, by: _by, ...body } = done;
  const [born] = await from.newTokens([done]);
  const closed = done.closed === undefined ? undefined : await from.rowSet(done.closed, done);
  for (const set of [born, closed]) if (set) await to.createRowSet(set);
  await to.endClaim({ ...body, ...keysOfCopy(done, born) });
}
