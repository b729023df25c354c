import type { Context } from '../../cli/context.ts';
import { listPrinter, once } from '../../cli/print.ts';
import { drawBar, drawGauge } from '../../render/bars.ts';
import { formatNumber, formatPercent } from '../../render/quantity.ts';
import type { Tone } from '../../render/view.ts';
import { wrapWords } from '../../render/wrap.ts';
import type { UsageReport } from '../../schema/usage.ts';
import { countsByType, type MonthlyActive, monthlyActive } from '../../tenant/usage.ts';
import { usageRowView } from '../../views/usage.ts';

const BAR_WIDTH = 24;
const GAUGE_WIDTH = 30;

/** Draws the report for people: a bar for each token type, then the gauge, in warning colours from `warnAt` percent. */
export async function usagePrinter(
  context: Context,
  warnAt: number,
): Promise<(report: UsageReport) => Promise<void>> {
  const columns = usageRowView.columns.filter(({ path }) => !context.plain || path !== 'bar');
  const print = await listPrinter(context, { ...usageRowView, columns });
  return async (report) => {
    const counts = countsByType(report);
    const most = counts[0]?.count ?? 0;
    const rows = counts.map(({ type, count, lastCreatedAt }) => ({
      type,
      count,
      bar: drawBar(count, most, BAR_WIDTH, context),
      last_created_at: lastCreatedAt,
    }));
    if (rows.length > 0) await print(once(rows));
    else context.notices.note('the report counts no tokens of any type');
    const gap = rows.length > 0 ? '\n' : '';
    await context.out.write(`${gap}${monthlyLines(monthlyActive(report), context, warnAt)}`);
  };
}

function monthlyLines({ active, included, share }: MonthlyActive, context: Context, warnAt: number): string {
  const of = included === undefined ? '' : ` of ${formatNumber(included)} included`;
  const told = `monthly active tokens: ${active === undefined ? 'not told' : formatNumber(active)}${of}`;
  const words = wrapWords(told, context.out.isTerminal ? context.out.width : Infinity).join('\n');
  if (share === undefined) return `${words}\n`;
  if (!Number.isFinite(share)) return `${words}: ${context.palette.bad('none are included')}\n`;
  if (context.plain) return `${words}: ${formatPercent(share)}\n`;
  const gauge = drawGauge(share, GAUGE_WIDTH, context);
  return `${words}\n${context.palette[toneOf(share, warnAt)](gauge)} ${formatPercent(share)}\n`;
}

function toneOf(share: number, warnAt: number): Tone {
  if (share > 1) return 'bad';
  return share * 100 >= warnAt ? 'warn' : 'good';
}
