import { escapeHtml, pageSection } from '../../cli/output/page.ts';
import { type PageColumn, tableSection } from '../../cli/output/page-table.ts';
import { countText, formatNumber, utcTime } from '../../cli/output/time.ts';
import { type ActorLabels, wholeActorText } from '../actor.ts';
import { archivePage } from '../archive/archive-page.ts';
import { signerText } from '../archive/operator.ts';
import { byActor, changedKind, deletedKind } from './by-actor.ts';
import { type Counts, type DayCounts, findingText } from './count-findings.ts';
import type { DeletedEntity } from './deleted.ts';
import { type DayFindings, LEAST_PAST_DAYS, PAST_DAYS, type ReviewRow } from './review.ts';

/** The review of a day in an archive. */
export interface Review extends DayFindings, DayCounts {
  readonly archive: string;
  readonly service: string;
  readonly tenant_id: string;
  readonly day: string;
  /** The first thousand deletions of the day. */
  readonly deleted: readonly DeletedEntity[];
  /** The hash of everything about the day, which a signed review records. It does not depend on the location. */
  readonly sha256: string;
  readonly signed: readonly ReviewSignature[];
  /** The newest record of the archive, and its hash. */
  readonly record: number;
  readonly record_sha256: string;
}

/** A signed review of the day. */
export interface ReviewSignature {
  readonly record: number;
  readonly signed_at: string;
  readonly by: string;
  readonly account: string;
  readonly note: string | null;
  /** What was found, as it was recorded: groups, and entries unless an earlier version recorded it. */
  readonly findings: Counts;
  readonly findings_entries: Counts | null;
  /** The hash of the page that was written then. */
  readonly page_sha256: string | null;
  /** Whether what was signed is what the archive has now. */
  readonly is_current: boolean;
}

/** The parts of a review that are lists of entries, with the sentences for empty ones. */
export const REVIEW_PARTS = [
  ['deletions', 'Deletions', 'nothing was deleted'],
  ['changes', 'Changes of applications, keys and tenant', 'nothing of these was changed'],
  ['new_actors', `Actors not seen in the ${PAST_DAYS} days before`, 'no new actors'],
  ['new_operations', `Operations not seen in the ${PAST_DAYS} days before`, 'no new operations'],
] as const;

/** Returns why nothing is called new. */
export function skippedText({ past_days: days }: Pick<Review, 'past_days'>): string {
  return days < LEAST_PAST_DAYS
    ? `skipped: the archive covers ${formatNumber(days)} of the ${PAST_DAYS} days before, and ${LEAST_PAST_DAYS} are needed`
    : 'skipped: too many different ones to compare';
}

/** Returns the review as one self-contained page. `madeAt` is in epoch milliseconds. */
export function reviewPage(review: Review, labels: ActorLabels, madeAt: number): string {
  const parts = REVIEW_PARTS.map((part) => rowSection(part, review, labels)).join('');
  const words = { title: `Log review of ${review.day}`, complete: 'The archive covers the whole day.', madeAt };
  return archivePage(review, words, `${parts}${hourSection(review)}${deletedSection(review, labels)}`);
}

type Part = (typeof REVIEW_PARTS)[number];

function rowSection([name, title, nothing]: Part, review: Review, labels: ActorLabels): string {
  const rows = review[name];
  if (rows === null || rows.length === 0) {
    const words = rows === null ? `<p>${skippedText(review)}</p>` : `<p class="soft">${nothing}</p>`;
    return pageSection(title, `${words}\n`);
  }
  const before = name === 'deletions' || name === 'changes' ? shareList(name, rows, labels) : '';
  const cells = rows.map((row) => cellsOf(row, labels));
  return tableSection(headingOf(title, name, review), COLUMNS, cells, { before });
}

/** Returns the heading of a part, with the number of its findings if there are any. */
export function headingOf(title: string, name: Part[0], review: DayCounts): string {
  return review.findings[name] ? `${title}: ${findingText(review, name)}` : title;
}

/** Returns what each actor did, as a list before the table. */
function shareList(name: Part[0], rows: readonly ReviewRow[], labels: ActorLabels): string {
  const shares = byActor(rows, labels, name === 'deletions' ? deletedKind : changedKind);
  const items = shares.map(({ actor, count, kinds }) => {
    const parts = kinds.map(([kind, of]) => `${formatNumber(of)} ${escapeHtml(kind)}`).join(', ');
    return `<li><strong>${escapeHtml(actor)}</strong>: ${formatNumber(count)} (${parts})</li>`;
  });
  return `<ul>${items.join('')}</ul>\n`;
}

const COLUMNS: readonly PageColumn[] = [
  { title: 'Operation' },
  { title: 'Entity' },
  { title: 'Actor' },
  { title: 'Entries', isNumber: true },
  { title: 'Time (UTC)' },
];

function cellsOf(row: ReviewRow, labels: ActorLabels): string[] {
  const { operation, entity_type: type, count, first_at: first, last_at: last } = row;
  const from = first.slice(11, 19);
  const to = last.slice(11, 19);
  const time = from === to ? from : `${from} to ${to}`;
  return [operation ?? '', type ?? '', wholeActorText(row, labels), formatNumber(count), time];
}

/** Returns who signed a review of the day, and whether the archive has changed since. */
export function signedText({ by, account, note, signed_at: at, is_current: isCurrent }: ReviewSignature): string {
  const words = `signed off by ${signerText({ by, account })} at ${utcTime(at)}${note === null ? '' : `: ${note}`}`;
  return isCurrent ? words : `${words}; the archive has other entries now`;
}

const DELETED_COLUMNS: readonly PageColumn[] = ['Time (UTC)', 'Entity', 'Id', 'Actor'].map((title) => ({ title }));

function deletedSection({ deleted, findings_entries: counts }: Review, labels: ActorLabels): string {
  if (deleted.length === 0) return '';
  const more = (counts.deletions ?? 0) - deleted.length;
  const rest = more > 0 ? `<p>and ${formatNumber(more)} more</p>` : '';
  const rows = deleted.map((one) => [
    one.created_at.slice(11, 19),
    one.entity_type ?? '',
    one.entity_id ?? '',
    wholeActorText(one, labels),
  ]);
  return tableSection('Deleted entities', DELETED_COLUMNS, rows, { after: rest });
}

const HEIGHT = 140;

/** Returns a column chart of the hours, with the unusually busy hours in words. */
function hourSection({ hours, median, busy_hours: busy }: Review): string {
  const most = Math.max(1, ...hours);
  const loud = new Set(busy.map(({ hour }) => Number(hour.slice(11, 13))));
  const columns = hours.map((count, hour) => {
    const height = count === 0 ? 0 : Math.max(1, Math.round((count / most) * HEIGHT));
    const x = ((hour / 24) * 100).toFixed(2);
    const label = hour % 6 === 0 ? `<text x="${x}%" y="${HEIGHT + 18}">${String(hour).padStart(2, '0')}</text>` : '';
    return `<rect class="${loud.has(hour) ? 'warned' : 'unchanged'}" x="${x}%" y="${HEIGHT - height}" width="3.4%" height="${height}"/>${label}`;
  });
  const described = hours.map((count, hour) => `${String(hour).padStart(2, '0')}: ${formatNumber(count)}`).join('; ');
  const words = busy.map(({ hour, count }) => `<li>${utcTime(hour)}: ${countText(count, 'entry')}</li>`).join('');
  return `<section><h2>Entries by hour</h2>
<svg class="chart" role="img" aria-labelledby="hours-title hours-desc" width="100%" height="${HEIGHT + 24}">
<title id="hours-title">Entries by hour, UTC</title>
<desc id="hours-desc">${described}</desc>
${columns.join('\n')}</svg>
${words === '' ? '' : `<p>More than four times the median of ${formatNumber(median)}:</p><ul>${words}</ul>`}
</section>
`;
}
