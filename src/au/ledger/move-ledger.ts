import { isDone, standingClaims } from './claims.ts';
import type { Ledger } from './ledger.ts';

/**
 * Enters the claims of a ledger that this machine had alone into the one that it shares from now on, unless the jobs are
 * known there. The rows of a claim whose run is gone cannot be told any more, so that such a claim may have any row of its
 * cycle. Doing it twice changes nothing.
 */
export async function enterClaims(own: Ledger, shared: Ledger): Promise<void> {
  for (const name of await own.cycleNames()) {
    const entries = await own.cycle(name).read();
    for (const claim of standingClaims(entries)) {
      const { job } = claim;
      // A mark may stand without its claim, because an earlier attempt was killed between the two.
      await shared.mark(job, name);
      const cycle = (await shared.cycleOfJob(job)) ?? shared.cycle(name);
      const { created_at, expires_at, rows, run, part, file, bytes, sha256 } = claim;
      const body = { job, created_at, expires_at, rows, run, part, file, bytes, sha256 };
      await cycle.append(async (now) =>
        now.some((entry) => entry.job === job) ? undefined : { kind: 'claim', row_set: null, ...body },
      );
      if (!isDone(entries, job)) continue;
      await cycle.append(async (now) => (isDone(now, job) ? undefined : { kind: 'done', job, born: null }));
    }
  }
}
