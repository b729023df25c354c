import type { UsageReport } from '../schema/tenant.ts';

/** The tokens of one type. */
export interface TypeCount {
  readonly type: string;
  readonly count: number;
  readonly lastCreatedAt: string | undefined;
}

/** Counts by token type, known to us or not, the largest first. */
export function countsByType({ token_report: report }: UsageReport): TypeCount[] {
  return Object.entries(report.metrics_by_type ?? {})
    .map(([type, { count, last_created_at }]) => ({
      type,
      count,
      lastCreatedAt: last_created_at ?? undefined,
    }))
    .toSorted((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1));
}

/** Monthly active tokens and how many of them the billing plan includes; absent where the report does not say. */
export interface MonthlyActive {
  readonly active: number | undefined;
  readonly included: number | undefined;
  /** Active over included: 0 when nothing is active, Infinity when something is and nothing is included. */
  readonly share: number | undefined;
}

/** Reads the monthly active tokens of a report. */
export function monthlyActive({ token_report: report }: UsageReport): MonthlyActive {
  const active = report.monthly_active_tokens ?? undefined;
  const included = report.included_monthly_active_tokens ?? undefined;
  if (active === undefined || included === undefined) return { active, included, share: undefined };
  return { active, included, share: active === 0 ? 0 : active / included };
}
