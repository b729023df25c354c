import { countText, fixedPercent } from '../../cli/output/time.ts';
import { lastReading, standingClaims } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { Entry } from '../ledger/entry.ts';
import { isFileCycle, isNamedCycle } from '../ledger/cycle-names.ts';
import { explainResultCode } from '../result-codes.ts';

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

/** The numbers of rows that were updated, or ended in a warning or an error. */
interface ResultCounts {
  readonly updated: number;
  readonly warned: number;
  readonly errors: number;
}

/** The summed results of all jobs of a cycle. */
interface CycleCounts extends ResultCounts {
  readonly rows: number;
}

/** A cycle of a tenant in the ledger of a command. */
export interface CycleOfTenant {
  readonly ledger: CommandLedger;
  readonly tenant: string;
  readonly cycle: string;
}

/** Compares results with those of the cycle before, as the ledger counted them; undefined if no earlier cycle was counted. */
export async function trendOf(of: CycleOfTenant, counts: CycleCounts): Promise<Trend | undefined> {
  const last = await lastCycle(of);
  return last && compareCycles(counts, last);
}

/** Returns the tenant's newest named cycle that began before this one and of which results were read. */
async function lastCycle({
  ledger,
  tenant,
  cycle,
}: CycleOfTenant): Promise<(CycleCounts & { readonly cycle: string }) | undefined> {
  if (isFileCycle(cycle)) return undefined;
  const opened = await ledger.open(tenant);
  const own = await opened.cycle(cycle).readFirst();
  const earlier: { readonly name: string; readonly at: string }[] = [];
  for (const name of await opened.cycleNames()) {
    if (name === cycle || !isNamedCycle(name)) continue;
    const first = await opened.cycle(name).readFirst();
    if (first !== undefined && (own === undefined || first.at < own.at)) earlier.push({ name, at: first.at });
  }
  for (const { name } of earlier.toSorted((a, b) => (a.at < b.at ? 1 : -1))) {
    const counts = countsOf(await opened.cycle(name).read());
    if (counts !== undefined) return { cycle: name, ...counts };
  }
  return undefined;
}

/** Sums the results of the jobs of a cycle; undefined if those of no job were read. */
function countsOf(entries: readonly Entry[]): CycleCounts | undefined {
  const read = standingClaims(entries).flatMap(({ job, rows }) => {
    const { results } = lastReading(entries, job) ?? {};
    return results === undefined ? [] : [{ rows, codes: results.codes }];
  });
  if (read.length === 0) return undefined;
  const sum = { rows: 0, updated: 0, warned: 0, errors: 0 };
  for (const { rows, codes } of read) {
    sum.rows += rows;
    for (const { code, rows: count } of codes) {
      const { class: kind } = explainResultCode(code);
      if (kind !== 'unknown') sum[kind === 'error' ? 'errors' : kind] += count;
    }
  }
  return sum;
}

const CLASSES = ['updated', 'warned', 'errors'] as const;

/** The criteria for a jump of a class: one of the two cycles has at least this many rows, and a share this many times larger. */
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
  return `${rows}, compared with ${before} in cycle ${last.cycle}: check the export and the profile`;
}
