import { cleanText } from '../../cli/output/text.ts';
import type { Client } from '../../client/api/client.ts';
import { findJobs } from '../job/find-jobs.ts';
import { byText, openJobs, standingClaims } from './claims.ts';
import type { ClaimEntry } from './entry.ts';
import { type CycleRow, UNKNOWN } from './cycle-view.ts';
import type { Ledger } from './ledger.ts';

/** What needs the operator most comes first. */
const ORDER = [UNKNOWN, 'failed', 'completed'];

/**
 * Returns the cycles that have jobs whose results nobody has read, whichever machine sent them, newest first. Each of these
 * jobs is read from the service.
 */
export async function unreadCycles(client: Client, ledger: Ledger): Promise<CycleRow[]> {
  const cycles: { readonly cycle: string; readonly claims: readonly ClaimEntry[]; readonly open: string[] }[] = [];
  for (const cycle of await ledger.cycleNames()) {
    const entries = [...(await ledger.cycle(cycle).read())];
    const claims = standingClaims(entries);
    const open = openJobs(entries);
    if (open.length > 0) cycles.push({ cycle, claims, open });
  }
  const jobs = await findJobs(client, new Set(cycles.flatMap(({ open }) => open)));
  const rows = cycles.flatMap(({ cycle, claims, open }): CycleRow[] => {
    const [first] = claims;
    if (first === undefined) return [];
    const statuses = open.map((job) => jobs.get(job)?.status ?? UNKNOWN);
    return [
      {
        cycle,
        status: ORDER.find((status) => statuses.includes(status)) ?? statuses[0] ?? UNKNOWN,
        began_at: first.created_at,
        by: byText(first),
        file: cleanText(first.file.name),
        rows: claims.reduce((sum, claim) => sum + claim.rows, 0),
        jobs: claims.length,
        open_jobs: open,
      },
    ];
  });
  return rows.toSorted((one, other) => Date.parse(other.began_at) - Date.parse(one.began_at));
}
