import type { Context } from '../../cli/app/command.ts';
import { drawSparkline } from '../../cli/output/bars.ts';
import { cleanText, hangingIndent, wrapWords } from '../../cli/output/text.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { MARKS } from '../../cli/output/view.ts';
import { actorText, type Review, REVIEW_PARTS, shownTime, signedText, skippedText } from './page.ts';
import type { ReviewRow } from './review.ts';

const MAX_ROWS = 20;
const NAME_COLUMNS = 40;

type Show = Pick<Context, 'out' | 'palette' | 'unicode' | 'plain' | 'marks'>;

/** Draws the review for people: first missing ranges, then a small table for each part, and the hours as a sparkline. */
export function drawReview(context: Show, review: Review): string {
  const { out, palette } = context;
  const title = `${countText(review.entries, 'log entry')} on ${review.day} (UTC), tenant ${review.tenant_id}`;
  const lines = wrapWords(cleanText(title), out.width).map((line) => palette.strong(line));
  lines.push(...coverageLines(context, review));
  for (const signature of review.signed)
    lines.push(
      ...wrapWords(cleanText(signedText(signature)), out.width).map(signature.is_current ? palette.good : palette.warn),
    );
  for (const [name, heading, nothing] of REVIEW_PARTS) {
    const rows = review[name];
    lines.push('');
    if (rows === null) lines.push(...wrapWords(`${heading}: ${skippedText(review)}`, out.width));
    else if (rows.length === 0) lines.push(...wrapWords(`${heading}: ${nothing}`, out.width));
    else lines.push(palette.strong(`${heading}: ${formatNumber(sizeOf(name, rows))}`), ...rowLines(context, rows));
  }
  return `${[...lines, '', ...hourLines(context, review)].join('\n')}\n`;
}

/** Returns the number of entries in a part or, for new values, the number of values. */
function sizeOf(name: (typeof REVIEW_PARTS)[number][0], rows: readonly ReviewRow[]): number {
  return name.startsWith('new_') ? rows.length : rows.reduce((sum, { count }) => sum + count, 0);
}

function coverageLines({ out, palette, marks }: Show, { missing }: Review): string[] {
  if (missing.length === 0) return [palette.good(`${marks ? MARKS.good : ''}the archive covers the whole day`)];
  return missing.flatMap(({ from, to, reason }) =>
    wrapWords(`entries may be missing from ${shownTime(from)} to ${shownTime(to)}: ${reason}`, out.width).map((line) =>
      palette.warn(line),
    ),
  );
}

function rowLines({ out }: Show, rows: readonly ReviewRow[]): string[] {
  const shown = rows.slice(0, MAX_ROWS).map((row) => ({ row, name: nameOf(row) }));
  const countWidth = Math.max(...shown.map(({ row }) => formatNumber(row.count).length));
  const nameWidth = Math.max(...shown.map(({ name }) => name.length));
  const lines = shown.map(({ row, name }) => {
    const { count, first_at: first, last_at: last } = row;
    const lead = `  ${formatNumber(count).padStart(countWidth)}  ${name.padEnd(nameWidth)}${nameWidth > 0 ? '  ' : ''}`;
    const from = first.slice(11, 16);
    const to = last.slice(11, 16);
    const timed = `${lead}${(from === to ? from : `${from}-${to}`).padEnd('00:00-23:59'.length)}  `;
    return hangingIndent(timed, timed.length, cleanText(actorText(row)), out.width).trimEnd();
  });
  if (rows.length > MAX_ROWS) lines.push(`  and ${rows.length - MAX_ROWS} more (-o json shows them)`);
  return lines;
}

function nameOf({ operation, entity_type: type }: ReviewRow): string {
  const name = cleanText([operation, type].filter((part) => part !== null).join(' '));
  return name.length > NAME_COLUMNS ? `${name.slice(0, NAME_COLUMNS - 1)}…` : name;
}

function hourLines(context: Show, { hours, median, busy_hours: busy }: Review): string[] {
  const { out, palette, plain } = context;
  const peak = `median of an hour: ${formatNumber(median)}, most: ${formatNumber(Math.max(...hours))}`;
  return [
    palette.strong('Entries by hour, from 00:00'),
    ...(plain ? [] : [`  ${palette.accent(drawSparkline(hours, context))}`]),
    `  ${peak}`,
    ...busy.flatMap(({ hour, count }) =>
      wrapWords(`${hour.slice(11, 16)}: ${formatNumber(count)}, more than four times the median`, out.width - 2).map(
        (line) => `  ${palette.warn(line)}`,
      ),
    ),
  ];
}
