import { escapeHtml, htmlPage, timeTag } from '../../cli/output/page.ts';
import { countText, formatNumber } from '../../cli/output/time.ts';
import { type DayFindings, LEAST_PAST_DAYS, PAST_DAYS, type ReviewRow } from './review.ts';

/** The review of a day in an archive. */
export interface Review extends DayFindings {
  readonly archive: string;
  readonly service: string;
  readonly tenant_id: string;
  readonly day: string;
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
export function reviewPage(review: Review, madeAt: number): string {
  const { day, entries, service, tenant_id: tenant, archive, sha256 } = review;
  const body = `<p>${countText(entries, 'log entry')} of tenant ${escapeHtml(tenant)} at ${escapeHtml(service)}</p>
<p class="soft">Archive ${escapeHtml(archive)}, made ${timeTag(madeAt)}</p>
${coverageText(review)}
${REVIEW_PARTS.map(([name, title, nothing]) => rowSection(title, review[name], nothing, review)).join('')}${hourSection(review)}<p class="soft">SHA-256 of what is reviewed here: <code>${sha256}</code></p>
`;
  return htmlPage({ title: `Log review of ${day}`, heading: `Log review of ${day} (UTC)` }, body);
}

function coverageText({ missing }: Review): string {
  if (missing.length === 0) return '<p class="fine">The archive covers the whole day.</p>';
  const items = missing.map(({ from, to, reason }) => `<li>${shownTime(from)} to ${shownTime(to)}: ${reason}</li>`);
  return `<div class="odd"><p><strong>Entries may be missing:</strong></p><ul>${items.join('')}</ul></div>`;
}

function rowSection(title: string, rows: readonly ReviewRow[] | null, nothing: string, review: Review): string {
  const content = rows === null ? `<p>${skippedText(review)}</p>` : rowContent(title, rows, nothing);
  return `<section class="long"><h2>${title}</h2>\n${content}\n</section>\n`;
}

function rowContent(title: string, rows: readonly ReviewRow[], nothing: string): string {
  return rows.length === 0 ? `<p class="soft">${nothing}</p>` : tableOf(title, rows);
}

const COLUMNS = ['Operation', 'Entity', 'Actor', 'Entries', 'Time (UTC)'] as const;

// The ARIA roles repeat the tags, because some browsers lose the table's semantics when narrow screens lay out rows as blocks.
function tableOf(caption: string, rows: readonly ReviewRow[]): string {
  const heads = COLUMNS.map((name) => `<th scope="col" role="columnheader">${name}</th>`).join('');
  return `<table class="stack" role="table"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">${rows.map(rowText).join('\n')}</tbody></table>`;
}

function rowText(row: ReviewRow): string {
  const { operation, entity_type: type, count, first_at: first, last_at: last } = row;
  const from = first.slice(11, 19);
  const to = last.slice(11, 19);
  const time = from === to ? from : `${from} to ${to}`;
  const cells = [operation ?? '', type ?? '', actorText(row), formatNumber(count), time];
  const tags = cells.map((cell, at) => `<td role="cell" data-label="${COLUMNS[at] ?? ''}">${escapeHtml(cell)}</td>`);
  return `<tr role="row">${tags.join('')}</tr>`;
}

/** Returns who signed a review of the day, and whether the archive has changed since. */
export function signedText({ by, account, note, signed_at: at, is_current: isCurrent }: ReviewSignature): string {
  const as = by === account ? '' : ` (${account})`;
  const words = `signed off by ${by}${as} at ${shownTime(at)}${note === null ? '' : `: ${note}`}`;
  return isCurrent ? words : `${words}; the archive has other entries now`;
}

/** Returns the type and id of an actor, if present. */
export function actorText({ actor_id: id, actor_type: type }: ReviewRow): string {
  return [type, id].filter((part) => part !== null).join(' ');
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
