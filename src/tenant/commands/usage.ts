import { SvcError } from '../../base/errors.ts';
import { exactMembers, JsonToken } from '../../base/json/exact.ts';
import { compareShare } from '../../base/share.ts';
import { type Context, PROFILES_PARAMETER } from '../../cli/app/command.ts';
import { value } from '../../cli/app/parameter.ts';
import { formatOf, isForPeople, listPrinter, oneBatch, recordPrinter } from '../../cli/app/print.ts';
import { defineRequestCommand } from '../../cli/app/request-command.ts';
import { percent } from '../../cli/app/value-parsers.ts';
import { drawBar, drawGauge } from '../../cli/output/bars.ts';
import { jsonLine } from '../../cli/output/formats.ts';
import { wrapWords } from '../../cli/output/wrap.ts';
import { formatNumber, formatPercent } from '../../cli/output/number.ts';
import { fieldPaths, isObject, type Tone, type View } from '../../cli/output/view.ts';
import type { UsageReport } from '../../schema/tenant.ts';

export const usageView: View<UsageReport> = {
  name: 'usage report',
  fields: fieldPaths(`
    token_report.included_monthly_active_tokens token_report.monthly_active_tokens
    token_report.metrics_by_type token_report.metrics_by_type.* token_report.*
  `),
  columns: [
    { path: 'token_report.included_monthly_active_tokens', header: 'included tokens', kind: 'number' },
    { path: 'token_report.monthly_active_tokens', header: 'active tokens', kind: 'number' },
  ],
};

/** The report as rows, one per token type, each with the totals. */
const usageCsvView: View<Readonly<Record<string, unknown>>> = {
  name: 'token type',
  fields: ['type', 'count', 'last_created_at', 'monthly_active_tokens', 'included_monthly_active_tokens'],
  columns: [],
};

export const usage = defineRequestCommand({
  description:
    'With -o csv, prints one row per token type, with the totals in each; other formats keep the form of the service.',
  examples: [
    ['svc tenant usage', 'counts as bars'],
    ['svc tenant usage --warn-at 80% --quiet', 'for cron: exit code 10 from 80% of the included tokens on'],
  ],
  permissions: ['report:read'],
  exitCodes: [[10, 'the share of --warn-at is used']],
  fields: [...usageView.fields, ...usageCsvView.fields],
  parameters: {
    ...PROFILES_PARAMETER,
    warnAt: value(
      '--warn-at <percent>',
      'exit with 10 when this share of the included monthly active tokens is used',
      percent,
    ),
  },
  request: async () => (await import('../../client/api/resources.ts')).usageRequest(),
  async printer(context, { warnAt }) {
    const print = await reportPrinter(context, warnAt ?? 80);
    return async (report) => {
      await print(report);
      if (warnAt !== undefined) checkThreshold(monthlyActive(report), warnAt);
    };
  },
});

async function reportPrinter(context: Context, warnAt: number): Promise<(report: UsageReport) => Promise<void>> {
  const { fields } = context.globals;
  if (isForPeople(context) && fields === undefined) return usagePrinter(context, warnAt);
  if (formatOf(context, 'record') !== 'csv' || fields?.includes('token_report') === true)
    return recordPrinter(context, usageView);
  const print = await listPrinter(context, usageCsvView);
  return async (report) => {
    await print(oneBatch(usageRows(report)));
  };
}

function checkThreshold({ active, included, share, sent }: MonthlyActive, warnAt: number): void {
  if (active === undefined || included === undefined || share === undefined) {
    const missing = active === undefined ? 'monthly_active_tokens' : 'included_monthly_active_tokens';
    throw new SvcError('bad_response', `--warn-at cannot be checked: the usage report has no ${missing}`, {
      hint: 'The report lacks it; -o json shows the whole report.',
    });
  }
  if (active === 0 || compareShare(active, included, warnAt / 100) < 0) return;
  const used = `${sent.active} of ${sent.included} included monthly active tokens are used (${describeShare(share)})`;
  throw new SvcError('threshold', `${used}: ${warnAt}% is reached`, {
    hint: 'Plan for more included tokens, or check which types use them.',
    next: ['tenant', 'usage'],
    facts: { monthly_active_tokens: active, included_monthly_active_tokens: included, warn_at_percent: warnAt },
  });
}

function describeShare(share: number): string {
  return Number.isFinite(share) ? formatPercent(share) : 'none are included';
}

const BAR_WIDTH = 24;
const GAUGE_WIDTH = 30;

/** Returns the function that draws the report: a bar for each token type, then a gauge that warns from `warnAt` percent. */
async function usagePrinter(context: Context, warnAt: number): Promise<(report: UsageReport) => Promise<void>> {
  const columns = usageRowView.columns.filter(({ path }) => !context.plain || path !== 'bar');
  const print = await listPrinter(context, { ...usageRowView, columns });
  return async (report) => {
    const metrics = metricsByType(report);
    const largestCount = metrics[0]?.count ?? 0;
    const rows = metrics.map(({ type, count, sent }) =>
      Object.assign({}, sent, { type, bar: drawBar(count, largestCount, BAR_WIDTH, context) }),
    );
    if (rows.length > 0) await print(oneBatch(rows));
    else context.notices.note('the report has no tokens of any type');
    const gap = rows.length > 0 ? '\n' : '';
    await context.out.write(`${gap}${monthlyLines(monthlyActive(report), context, warnAt)}`);
  };
}

function monthlyLines(
  { active = 0, included = 0, share, sent }: MonthlyActive,
  context: Context,
  warnAt: number,
): string {
  const includedText = sent.included === undefined ? '' : ` of ${sent.included} included`;
  const text = `monthly active tokens: ${sent.active ?? 'not reported'}${includedText}`;
  const words = wrapWords(text, context.columns()).join('\n');
  if (share === undefined) return `${words}\n`;
  if (!Number.isFinite(share)) return `${words}: ${context.palette.bad('none are included')}\n`;
  if (context.plain) return `${words}: ${formatPercent(share)}\n`;
  const gauge = drawGauge(share, GAUGE_WIDTH, context);
  const used = compareShare(active, included, warnAt / 100) < 0 ? 'good' : 'warn';
  const tone: Tone = share > 1 ? 'bad' : used;
  const cut = share > 1 ? ' (the bar ends at 100%)' : '';
  return `${words}\n${context.palette[tone](gauge)} ${formatPercent(share)}${cut}\n`;
}

function usageRows(report: UsageReport): Readonly<Record<string, unknown>>[] {
  const sent = exactMembers(report)['token_report'];
  const { metrics_by_type: _, ...totals } = isObject(sent) ? sent : {};
  return metricsByType(report).map(({ type, sent: metrics }) => Object.assign({ type }, totals, metrics));
}

/**
 * Returns the metrics of each token type, including unknown types, the largest count first. `sent` has the metrics as the
 * service sent them; a value that is not an object counts as the `count`.
 */
function metricsByType(report: UsageReport) {
  const token = exactMembers(report)['token_report'];
  const metrics = isObject(token) ? token['metrics_by_type'] : undefined;
  return Object.entries(isObject(metrics) ? metrics : {})
    .map(([type, sent]) => ({
      type,
      count: report.token_report.metrics_by_type?.[type]?.count ?? 0,
      sent: isObject(sent) ? sent : { count: sent },
    }))
    .toSorted((one, other) => other.count - one.count || (one.type < other.type ? -1 : 1));
}

type MonthlyActive = ReturnType<typeof monthlyActive>;

/**
 * Returns the monthly active tokens, the tokens included in the billing plan, and the share of included tokens that is used: 0
 * for no active tokens, Infinity for active tokens without included tokens, undefined if the report lacks a number. `sent` has
 * both numbers as text, exactly as the service sent them.
 */
function monthlyActive(usageReport: UsageReport) {
  const { token_report: report } = usageReport;
  const token = exactMembers(usageReport)['token_report'];
  const members = isObject(token) ? token : {};
  const sent = {
    active: sentText(members['monthly_active_tokens']),
    included: sentText(members['included_monthly_active_tokens']),
  };
  const active = report.monthly_active_tokens ?? undefined;
  const included = report.included_monthly_active_tokens ?? undefined;
  if (active === undefined || included === undefined) return { active, included, sent, share: undefined };
  return { active, included, sent, share: active === 0 ? 0 : active / included };
}

function sentText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' || value instanceof JsonToken ? formatNumber(value) : jsonLine(value);
}

const usageRowView: View = {
  name: 'token type',
  fields: ['type', 'count', 'bar', 'last_created_at'],
  columns: [
    { path: 'type', kind: 'id' },
    { path: 'count', kind: 'number' },
    // A bar that is cut says something else; the count says the same without one.
    { path: 'bar', header: 'share', kind: 'text', minWidth: BAR_WIDTH, priority: 0, paint: () => 'accent' },
    { path: 'last_created_at', kind: 'time', priority: 1 },
  ],
};
