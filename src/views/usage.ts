import type { View } from '../render/view.ts';
import type { UsageReport } from '../schema/usage.ts';

/** How the usage report is shown as the service sent it. */
export const usageView: View<UsageReport> = {
  name: 'usage report',
  fields: [
    'token_report.included_monthly_active_tokens',
    'token_report.monthly_active_tokens',
    'token_report.metrics_by_type',
    'token_report.metrics_by_type.*',
    'token_report.*',
  ],
  columns: [
    { path: 'token_report.included_monthly_active_tokens', header: 'included tokens', kind: 'number' },
    { path: 'token_report.monthly_active_tokens', header: 'active tokens', kind: 'number' },
  ],
};

/** The report as rows: one a token type, with the totals of the report on each. */
export const usageCsvView: View<Readonly<Record<string, unknown>>> = {
  name: 'token type',
  fields: ['type', 'count', 'last_created_at', 'monthly_active_tokens', 'included_monthly_active_tokens'],
  columns: [],
};

/** The rows of `usageCsvView`, the type with the most tokens first. */
export function usageRows({ token_report: report }: UsageReport): Readonly<Record<string, unknown>>[] {
  const { metrics_by_type: types, ...totals } = report;
  return Object.entries(types ?? {})
    .toSorted(([, a], [, b]) => b.count - a.count)
    .map(([type, metrics]) => Object.assign({ type }, totals, metrics));
}

/** The tokens of one type, with their bar. */
export interface UsageRow {
  readonly type: string;
  readonly count: number;
  readonly bar: string;
  readonly last_created_at: string | undefined;
}

/** How the counts by token type are shown. */
export const usageRowView: View<UsageRow> = {
  name: 'token type',
  fields: ['type', 'count', 'bar', 'last_created_at'],
  columns: [
    { path: 'type', kind: 'id' },
    { path: 'count', kind: 'number' },
    { path: 'bar', header: 'share', kind: 'text', paint: () => 'accent' },
    { path: 'last_created_at', kind: 'time', priority: 1 },
  ],
};
