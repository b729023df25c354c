import type { Context } from '../../cli/app/command.ts';
import { countText, fixedPercent } from '../../cli/output/time.ts';
import type { ResultCounts, RunRecord } from '../run/record.ts';
import { everyRecord } from '../run/run-view.ts';

/** A comparison of a run's results with the tenant's last cycle, in words. */
export interface Trend {
  readonly text: string;
  /**
   * A warning about a share that differs greatly from the last cycle, because the export or the profile may be wrong.
   */
  readonly jump: string | undefined;
}

/** Compares the results of a run with the cycle before; undefined if no earlier cycle was counted. */
export async function trendOf(
  context: Pick<Context, 'system'>,
  record: RunRecord,
  { updated, warned, errors, rows = record.input.rows }: ResultCounts & { readonly rows?: number },
): Promise<Trend | undefined> {
  const last = lastCycle(record, await everyRecord(context));
  return last && compareCycles({ updated, warned, errors, rows }, last);
}

/** The summed results of all runs of a cycle. */
interface CycleCounts extends ResultCounts {
  readonly rows: number;
}

/** Returns the tenant's newest cycle that began before this run, apart from the run's own cycle. */
function lastCycle(
  record: RunRecord,
  all: readonly RunRecord[],
): (CycleCounts & { readonly cycle: string }) | undefined {
  const earlier = all
    .filter((other) => other.cycle !== undefined && other.counts !== undefined && isSameTenant(other, record))
    .filter((other) => other.cycle !== record.cycle && other.created_at < record.created_at)
    .toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
  const cycle = earlier[0]?.cycle;
  if (record.cycle === undefined || cycle === undefined) return undefined;
  const sum = { cycle, rows: 0, updated: 0, warned: 0, errors: 0 };
  for (const { counts, input } of earlier.filter((other) => other.cycle === cycle)) {
    sum.rows += input.rows;
    for (const name of CLASSES) sum[name] += counts?.[name] ?? 0;
  }
  return sum;
}

function isSameTenant(a: RunRecord, b: RunRecord): boolean {
  const isSameKind = (a.base_url === 'sandbox') === (b.base_url === 'sandbox');
  return isSameKind && a.tenant_id !== undefined && a.tenant_id === b.tenant_id;
}

const CLASSES = ['updated', 'warned', 'errors'] as const;

/**
 * The criteria for a jump of a class: at least this many rows in one of the cycles, and shares that differ by more than
 * this factor.
 */
const FEWEST_ROWS = 50;
const FACTOR = 3;

function compareCycles(now: CycleCounts, last: CycleCounts & { readonly cycle: string }): Trend {
  const shares = CLASSES.map((name) => ({ name, now: now[name] / now.rows, last: last[name] / last.rows }));
  const words = shares.map((share) => `${share.name} ${fixedPercent(share.now)} (${fixedPercent(share.last)})`);
  const jumped = shares.find(
    (share) =>
      Math.max(now[share.name], last[share.name]) >= FEWEST_ROWS &&
      Math.max(share.now, share.last) > FACTOR * Math.min(share.now, share.last),
  );
  return {
    text: `in brackets, cycle ${last.cycle}: ${words.join(', ')}`,
    jump: jumped && jumpText(jumped.name, now, { ...jumped, cycle: last.cycle }),
  };
}

function jumpText(
  name: (typeof CLASSES)[number],
  now: CycleCounts,
  share: { readonly now: number; readonly last: number; readonly cycle: string },
): string {
  const rows = `${name}: ${countText(now[name], 'row')} (${fixedPercent(share.now)})`;
  return `${rows}, far from the ${fixedPercent(share.last)} of cycle ${share.cycle}: is the profile wrong, or the export?`;
}
