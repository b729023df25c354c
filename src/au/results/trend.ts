import type { Context } from '../../cli/app/command.ts';
import { countText, fixedPercent } from '../../cli/output/time.ts';
import { isOfSandbox, type ResultCounts, type RunRecord } from '../run/record.ts';
import { everyRecord } from '../run/run-view.ts';

/** A comparison of results with the tenant's last cycle. */
export interface Trend {
  /** The share of each class now and, in brackets, in the last cycle: `updated 45.2% (2026-12: <0.1%), …`. */
  readonly text: string;
  /** The share of each class in the last cycle, as a table shows it beside that of now: `2026-12: <0.1%`. */
  readonly last: Readonly<Record<ComparedClass, string>>;
  /** A warning that errors or warnings rose much, or updates fell much, because the export or the profile may be wrong. */
  readonly jump: string | undefined;
}

export type ComparedClass = (typeof CLASSES)[number];

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
  return isOfSandbox(a) === isOfSandbox(b) && a.tenant_id !== undefined && a.tenant_id === b.tenant_id;
}

const CLASSES = ['updated', 'warned', 'errors'] as const;

/** The criteria for a jump of a class: at least this many rows have it, and their share changed by more than this factor. */
const FEWEST_ROWS = 50;
const FACTOR = 3;

function compareCycles(now: CycleCounts, last: CycleCounts & { readonly cycle: string }): Trend {
  const before = (name: ComparedClass): string => `${last.cycle}: ${fixedPercent(last[name] / last.rows)}`;
  const jumped = CLASSES.find((name) =>
    // More updates than usual need no look at the export.
    name === 'updated' ? hasRisen(name, last, now) : hasRisen(name, now, last),
  );
  return {
    text: CLASSES.map((name) => `${name} ${fixedPercent(now[name] / now.rows)} (${before(name)})`).join(', '),
    last: { updated: before('updated'), warned: before('warned'), errors: before('errors') },
    jump: jumped && jumpText(jumped, now, last),
  };
}

/** Tells whether one cycle has many more rows of a class than another one. */
function hasRisen(name: ComparedClass, more: CycleCounts, fewer: CycleCounts): boolean {
  return more[name] >= FEWEST_ROWS && more[name] / more.rows > (FACTOR * fewer[name]) / fewer.rows;
}

function jumpText(name: ComparedClass, now: CycleCounts, last: CycleCounts & { readonly cycle: string }): string {
  const rows = `${name}: ${countText(now[name], 'row')} (${fixedPercent(now[name] / now.rows)})`;
  const before = fixedPercent(last[name] / last.rows);
  return `${rows}, far from the ${before} of cycle ${last.cycle}: is the profile wrong, or the export?`;
}
