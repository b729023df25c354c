import { type PageColumn, tableSection, timeCell } from '../../cli/output/page-table.ts';
import { escapeHtml } from '../../cli/output/page.ts';
import { fixedPercent, formatNumber, utcTime } from '../../cli/output/time.ts';
import { type ActorLabels, wholeActorText } from '../actor.ts';
import { archivePage } from '../archive/archive-page.ts';
import type { MissingText } from '../archive/archive-text.ts';
import { OTHERS, restShare, type StatsRow } from '../count.ts';
import { deletedSection, rowSection } from './review-page.ts';
import { SHIFT_TITLE, shiftParts } from './shift-lines.ts';
import type { Shift } from './shift.ts';

interface PageFacts {
  readonly service: string;
  readonly labels: ActorLabels;
  /** The filters as they were typed. */
  readonly filters: readonly string[];
  readonly missing: readonly MissingText[];
  /** The time of the page in epoch milliseconds. */
  readonly madeAt: number;
}

const COLUMNS: readonly PageColumn[] = [
  { title: 'By' },
  { title: 'Value' },
  { title: 'Entries', isNumber: true },
  { title: 'Share', isNumber: true },
  { title: 'First (UTC)' },
  { title: 'Last (UTC)' },
];

/** Returns a shift as one self-contained page, to hand over. It is no review: nobody can read the same entries again. */
export function shiftPage(shift: Shift, { service, labels, filters, missing, madeAt }: PageFacts): string {
  const { counts, findings, interval, tenantId } = shift;
  const words = { labels, timeOf: timeCell };
  const parts = shiftParts(shift, filters.length > 0).map((part) => rowSection(part, findings, words));
  const range = `${utcTime(interval.since)} to ${utcTime(interval.until)}`;
  const only =
    filters.length === 0 ? '' : `<p>Only entries that match: <code>${escapeHtml(filters.join(' '))}</code></p>\n`;
  return archivePage(
    { service, tenant_id: tenantId, entries: counts.entries, missing },
    { title: SHIFT_TITLE, complete: `All entries from ${range} were read.`, madeAt },
    `${only}${parts.join('')}${deletedSection(findings, words)}${countSection(shift, labels)}`,
  );
}

/** Returns all counts in a table; own reads of the logs stand above it, and the shares of the rest in it. */
function countSection({ counts, interval, own }: Shift, labels: ActorLabels): string {
  const rows = counts.rows(interval);
  if (own === undefined) {
    const cells = rows.map((row) => cellsOf(row, labels));
    return tableSection('Counts', COLUMNS, cells);
  }
  const rest = own.rest.rows(interval);
  const cells = rows.map((row) => cellsOf(row, labels).concat(row.by === 'all' ? '' : restShare(row, rest)));
  const share = fixedPercent(own.count / counts.entries);
  const text = `reads of the logs by this key (${wholeActorText(own.sample, labels)}): ${formatNumber(own.count)}, ${share}`;
  return tableSection('Counts', [...COLUMNS, { title: 'Share of the rest', isNumber: true }], cells, {
    before: `<p>${escapeHtml(text)}</p>\n`,
  });
}

function cellsOf({ by, value, actor_type, count, share, first_at, last_at }: StatsRow, labels: ActorLabels): string[] {
  const isActor = by === 'actor' && value !== null && value !== OTHERS;
  const name = isActor
    ? wholeActorText({ actor_id: value, actor_type }, labels)
    : (value ?? (by === 'all' ? '' : '(none)'));
  const times = [first_at, last_at].map((at) => (at === null ? '' : timeCell(at)));
  return [
    by.replaceAll('_', ' '),
    by === 'hour' && value !== null ? timeCell(value) : name,
    formatNumber(count),
    fixedPercent(share),
    ...times,
  ];
}
