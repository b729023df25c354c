// Compares results with those of the tenant's last cycle.

import { countText, fixedPercent } from '../../cli/output/number.ts';
import { lastReading, standingClaims } from '../ledger/claims.ts';
import type { CommandLedger } from '../ledger/command-ledger.ts';
import type { Entry } from '../ledger/entry.ts';
import { isFileCycle, isNamedCycle } from '../ledger/cycle-names.ts';
import { explainResultCode } from '../result-codes.ts';

/** A comparison of results with the tenant's last cycle. */
export interface Trend {
  /** The share of each class now and, in brackets, in the last cycle: `updated 45.2% (2026-12: <0.1%), …`. */
  readonly text: string;
  /** A warning that errors or warnings rose much, or updates fell much, because the export or the profile may be wrong. */
  readonly jump: string | undefined;
}

type ComparedClass = (typeof CLASSES)[number];

/** The summed results of all jobs of a cycle. */
type CycleCounts = Readonly<Record<'rows' | ComparedClass, number>>;

/** A cycle of a tenant in the ledger of a command. */
export interface CycleOfTenant {
  readonly ledger: CommandLedger;
  readonly tenant: string;
  readonly cycle: string;
}

/** Compares results with the last cycle in the ledger; undefined if no earlier cycle has results. */
export async function compareWithLastCycle(of: CycleOfTenant, counts: CycleCounts): Promise<Trend | undefined> {
  const last = await lastCycle(of);
  return last && compareCycles(counts, last);
}

/** Returns the tenant's newest named cycle with results that began before this one. */
async function lastCycle({
  ledger,
  tenant,
  cycle,
}: CycleOfTenant): Promise<(CycleCounts & { readonly cycle: string }) | undefined> {
  if (isFileCycle(cycle)) return undefined;
  const opened = await ledger.open(tenant);
  const firstEntry = await opened.cycle(cycle).readFirst();
  const earlier: { readonly name: string; readonly at: string }[] = [];
  for (const name of await opened.cycleNames()) {
    if (name === cycle || !isNamedCycle(name)) continue;
    const first = await opened.cycle(name).readFirst();
    if (first !== undefined && (firstEntry === undefined || first.at < firstEntry.at))
      earlier.push({ name, at: first.at });
  }
  for (const { name } of earlier.toSorted((a, b) => (a.at < b.at ? 1 : -1))) {
    const counts = sumResults(await opened.cycle(name).read());
    if (counts !== undefined) return { cycle: name, ...counts };
  }
  return undefined;
}

/** Sums the results of the jobs of a cycle; undefined if nobody read any. */
function sumResults(entries: readonly Entry[]): CycleCounts | undefined {
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

/** A class jumps if one of the cycles has at least this many rows of it, and a share this many times larger. */
const MIN_ROWS = 50;
const JUMP_FACTOR = 3;

function compareCycles(now: CycleCounts, last: CycleCounts & { readonly cycle: string }): Trend {
  const shareOf = (name: ComparedClass): string =>
    `${name} ${fixedPercent(now[name] / now.rows)} (${last.cycle}: ${fixedPercent(last[name] / last.rows)})`;
  const jumped = CLASSES.find((name) =>
    // Only a fall in updates is odd.
    name === 'updated' ? hasRisen(name, last, now) : hasRisen(name, now, last),
  );
  return { text: CLASSES.map(shareOf).join(', '), jump: jumped && jumpText(jumped, now, last) };
}

/** Tells whether `more` has many more rows of a class than `fewer`. */
function hasRisen(name: ComparedClass, more: CycleCounts, fewer: CycleCounts): boolean {
  return more[name] >= MIN_ROWS && more[name] / more.rows > (JUMP_FACTOR * fewer[name]) / fewer.rows;
}

function jumpText(name: ComparedClass, now: CycleCounts, last: CycleCounts & { readonly cycle: string }): string {
  const rows = `${name}: ${countText(now[name], 'row')} (${fixedPercent(now[name] / now.rows)})`;
  const before = fixedPercent(last[name] / last.rows);
  return `${rows}, compared with ${before} in cycle ${last.cycle}: check the export and the profile`;
}
