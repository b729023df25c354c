import type { Context } from '../../cli/app/command.ts';
import { countText, fixedPercent } from '../../cli/output/time.ts';
import type { ResultCounts, RunRecord } from '../run/record.ts';
import { everyRecord } from '../run/run-view.ts';

/** How the results of a run compare with those of the tenant's last cycle, in words. */
export interface Trend {
  readonly text: string;
  /** A share that is far from that of the last cycle: the export or the profile may be wrong. */
  readonly jump: string | undefined;
}

/** Compares the results of a run with those of the cycle before its own; undefined where no such cycle was counted. */
export async function trendOf(
  context: Pick<Context, 'system'>,
  record: RunRecord,
  counts: ResultCounts,
): Promise<Trend | undefined> {
  const last = lastCycle(record, await everyRecord(context));
  return last && compareCycles({ ...counts, rows: record.input.rows }, last);
}

/** The results of all runs of a cycle. */
interface CycleCounts extends ResultCounts {
  readonly rows: number;
}

/** The cycle of this tenant that was begun last before the run's own. */
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

/** A class counts as jumped when it has at least this many rows in one of the cycles, and a share beyond this factor. */
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
