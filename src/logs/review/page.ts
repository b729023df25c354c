import { escapeHtml, htmlPage, timeTag } from '../../cli/output/page.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { type ActorLabels, wholeActorText } from '../actor.ts';
import { byActor, changedKind, deletedKind } from './by-actor.ts';
import type { DeletedEntity } from './deleted.ts';
import { type DayFindings, LEAST_PAST_DAYS, PAST_DAYS, type ReviewRow } from './review.ts';

/** The review of a day in an archive. */
export interface Review extends DayFindings {
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
  const { day, entries, service, tenant_id: tenant, archive, sha256 } = review;
  const body = `<p>${countText(entries, 'log entry')} of tenant ${escapeHtml(tenant)} at ${escapeHtml(service)}</p>
<p class="soft">Archive ${escapeHtml(archive)}, made ${timeTag(madeAt)}</p>
${coverageText(review)}
${REVIEW_PARTS.map((part) => rowSection(part, review, labels)).join('')}${hourSection(review)}${deletedSection(review, labels)}<p class="soft">SHA-256 of what is reviewed here: <code>${sha256}</code></p>
`;
  return htmlPage({ title: `Log review of ${day}`, heading: `Log review of ${day} (UTC)` }, body);
}

function coverageText({ missing }: Review): string {
  if (missing.length === 0) return '<p class="fine">The archive covers the whole day.</p>';
  const items = missing.map(({ from, to, reason }) => `<li>${shownTime(from)} to ${shownTime(to)}: ${reason}</li>`);
  return `<div class="odd"><p><strong>Entries may be missing:</strong></p><ul>${items.join('')}</ul></div>`;
}

type Part = (typeof REVIEW_PARTS)[number];

function rowSection([name, title, nothing]: Part, review: Review, labels: ActorLabels): string {
  const rows = review[name];
  const content = rows === null ? `<p>${skippedText(review)}</p>` : rowContent(name, { title, nothing, rows, labels });
  return `<section class="long"><h2>${title}</h2>\n${content}\n</section>\n`;
}

interface Rows {
  readonly title: string;
  readonly nothing: string;
  readonly rows: readonly ReviewRow[];
  readonly labels: ActorLabels;
}

function rowContent(name: Part[0], { title, nothing, rows, labels }: Rows): string {
  if (rows.length === 0) return `<p class="soft">${nothing}</p>`;
  const table = tableOf(
    title,
    COLUMNS,
    rows.map((row) => cellsOf(row, labels)),
  );
  return name === 'deletions' || name === 'changes' ? shareList(name, rows, labels) + table : table;
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

const COLUMNS = ['Operation', 'Entity', 'Actor', 'Entries', 'Time (UTC)'] as const;

// The ARIA roles repeat the tags, because some browsers lose the table's semantics when narrow screens lay out rows as blocks.
function tableOf(caption: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const heads = columns.map((name) => `<th scope="col" role="columnheader">${name}</th>`).join('');
  const lines = rows.map((cells) => {
    const tags = cells.map((cell, at) => `<td role="cell" data-label="${columns[at] ?? ''}">${escapeHtml(cell)}</td>`);
    return `<tr role="row">${tags.join('')}</tr>`;
  });
  return `<table class="stack" role="table"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">${lines.join('\n')}</tbody></table>`;
}

function cellsOf(row: ReviewRow, labels: ActorLabels): string[] {
  const { operation, entity_type: type, count, first_at: first, last_at: last } = row;
  const from = first.slice(11, 19);
  const to = last.slice(11, 19);
  const time = from === to ? from : `${from} to ${to}`;
  return [operation ?? '', type ?? '', wholeActorText(row, labels), formatNumber(count), time];
}

/** Returns who signed a review of the day, and whether the archive has changed since. */
export function signedText({ by, account, note, signed_at: at, is_current: isCurrent }: ReviewSignature): string {
  const as = by === account ? '' : ` (${account})`;
  const words = `signed off by ${by}${as} at ${shownTime(at)}${note === null ? '' : `: ${note}`}`;
  return isCurrent ? words : `${words}; the archive has other entries now`;
}

const DELETED_COLUMNS = ['Time (UTC)', 'Entity', 'Id', 'Actor'] as const;

function deletedSection({ deleted, deletions }: Review, labels: ActorLabels): string {
  if (deleted.length === 0) return '';
  const more = deletions.reduce((sum, { count }) => sum + count, 0) - deleted.length;
  const rest = more > 0 ? `<p>and ${formatNumber(more)} more</p>` : '';
  const rows = deleted.map((one) => [
    one.created_at.slice(11, 19),
    one.entity_type ?? '',
    one.entity_id ?? '',
    wholeActorText(one, labels),
  ]);
  return `<section class="long"><h2>Deleted entities</h2>
${tableOf('Deleted entities', DELETED_COLUMNS, rows)}
${rest}</section>
`;
}

/** Returns the time of day (UTC) with seconds. */
export function shownTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`;
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
  const words = busy.map(({ hour, count }) => `<li>${shownTime(hour)}: ${countText(count, 'entry')}</li>`).join('');
  return `<section><h2>Entries by hour</h2>
<svg class="chart" role="img" aria-labelledby="hours-title hours-desc" width="100%" height="${HEIGHT + 24}">
<title id="hours-title">Entries by hour, UTC</title>
<desc id="hours-desc">${described}</desc>
${columns.join('\n')}</svg>
${words === '' ? '' : `<p>More than four times the median of ${formatNumber(median)}:</p><ul>${words}</ul>`}
</section>
`;
}
