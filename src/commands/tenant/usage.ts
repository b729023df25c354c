import { defineCommand } from '../../cli/command.ts';
import { percent } from '../../cli/percent.ts';
import { value } from '../../cli/parameter.ts';
import type { Context } from '../../cli/context.ts';
import { formatOf, isForPeople, listPrinter, once, recordPrinter } from '../../cli/print.ts';
import { SvcError } from '../../errors.ts';
import { formatNumber, formatPercent } from '../../render/quantity.ts';
import type { MonthlyActive } from '../../tenant/usage.ts';
import type { UsageReport } from '../../schema/usage.ts';
import { usageCsvView, usageRows, usageView } from '../../views/usage.ts';
import { usagePrinter } from './draw-usage.ts';

/** `svc tenant usage` */
export const usage = defineCommand({
  name: 'usage',
  summary: 'tokens by type, and the share of the included monthly active tokens',
  description:
    'With -o csv one row a token type, the totals on each; other formats keep the form of the service.',
  examples: [
    ['svc tenant usage', 'counts as bars'],
    ['svc tenant usage --warn-at 80% --quiet', 'for cron: exit code 10 from 80% of the included tokens on'],
  ],
  permissions: ['report:read'],
  exitCodes: [10],
  fields: [...usageView.fields, ...usageCsvView.fields],
  parameters: {
    warnAt: value(
      '--warn-at <percent>',
      'end with exit code 10 when this share of the included monthly active tokens is reached',
      percent,
    ),
  },
  async run(context, { warnAt }) {
    const print = await reportPrinter(context, warnAt ?? 80);
    const client = await context.client();
    const report = await client.tenant.usage();
    await print(report);
    if (warnAt === undefined) return;
    const { monthlyActive } = await import('../../tenant/usage.ts');
    checkThreshold(monthlyActive(report), warnAt);
  },
  async request() {
    return (await import('../../api/tenant.ts')).usageRequest();
  },
});

type ReportPrinter = (report: UsageReport) => Promise<void>;

async function reportPrinter(context: Context, warnAt: number): Promise<ReportPrinter> {
  const { fields } = context.globals;
  if (isForPeople(context) && fields === undefined) return usagePrinter(context, warnAt);
  if (formatOf(context, 'record') !== 'csv' || fields?.includes('token_report') === true)
    return recordPrinter(context, usageView);
  const print = await listPrinter(context, usageCsvView);
  return async (report) => {
    await print(once(usageRows(report)));
  };
}

function checkThreshold({ active, included, share }: MonthlyActive, warnAt: number): void {
  if (active === undefined || included === undefined || share === undefined) {
    const missing = active === undefined ? 'monthly_active_tokens' : 'included_monthly_active_tokens';
    throw new SvcError('bad_answer', `--warn-at cannot be checked: the usage report has no ${missing}`, {
      hint: 'The service has to say; look at the report with -o json.',
    });
  }
  // Compared without dividing, so that exactly the threshold counts as reached.
  if (active === 0 || active * 100 < warnAt * included) return;
  throw new SvcError(
    'threshold',
    `${formatNumber(active)} of ${formatNumber(included)} included monthly active tokens are used (${shareWords(share)}): ${warnAt}% is reached`,
    {
      hint: "Plan for more included tokens, or look for what uses them: 'svc tenant usage' shows the types.",
      facts: {
        monthly_active_tokens: active,
        included_monthly_active_tokens: included,
        warn_at_percent: warnAt,
      },
    },
  );
}

function shareWords(share: number): string {
  return Number.isFinite(share) ? formatPercent(share) : 'none are included';
}
