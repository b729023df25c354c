import { standingClaims } from './claims.ts';
import { endClaim } from './end-claim.ts';
import { copiedKeys } from './earlier-keys.ts';
import type { ClaimEntry, DoneEntry } from './entry.ts';
import type { Ledger, LedgerCycle } from './ledger.ts';

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

async function copyClaim(from: LedgerCycle, claim: ClaimEntry, shared: Ledger): Promise<void> {
  const { job, row_set: set } = claim;
  const { version: _version, previous: _previous, at: _at, by: _by, ...body } = claim;
  const to = (await shared.cycleOfJob(job)) ?? shared.cycle(from.name);
  if (set !== null) await to.createRowSet(await from.rowSet(set));
  const salted = { ...body, ...copiedKeys(from, claim, set) };
  await to.append(async (now) => (now.some((entry) => entry.job === job) ? undefined : salted));
  // Until its claim stands, other machines must not take the job for a known one: the service may have its file.
  await shared.mark(job, from.name);
  for (const entry of await from.read())
    if (entry.kind === 'done' && entry.job === job) await copyDone(from, entry, to);
}

async function copyDone(from: LedgerCycle, done: DoneEntry, to: LedgerCycle): Promise<void> {
  const { version: _version, previous: _previous, at: _at, by: _by, ...body } = done;
  for (const set of [done.born, done.closed]) if (set) await to.createRowSet(await from.rowSet(set));
  await endClaim(to, done.job, { ...body, ...copiedKeys(from, done, done.born) });
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
