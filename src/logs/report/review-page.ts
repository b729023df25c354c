import { type PageColumn, tableSection } from '../../cli/output/page-table.ts';
import { escapeHtml, pageSection } from '../../cli/output/page.ts';
import { countText, formatNumber, utcTime } from '../../cli/output/time.ts';
import { type ActorLabels, wholeActorText } from '../actor.ts';
import { signerText } from '../archive/archive-text.ts';
import { type DeletedEntity, timelessWarnings } from './deleted.ts';
import {
  byActor,
  changedKind,
  type Counts,
  type DayCounts,
  deletedKind,
  type Findings,
  headingOf,
  type Part,
  REVIEW_PARTS,
  skippedText,
} from './findings.ts';
import { archivePage } from './page.ts';
import type { DayFindings, ReviewRow } from './review.ts';

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
  /** What was found, as it was recorded: groups and entries. */
  readonly findings: Counts;
  readonly findings_entries: Counts | null;
  /** The hash of the page that was written then. */
  readonly page_sha256: string | null;
  /** Whether what was signed is what the archive has now. */
  readonly is_current: boolean;
}

/** Returns the review as one self-contained page. `madeAt` is in epoch milliseconds. */
export function reviewPage(review: Review, labels: ActorLabels, madeAt: number): string {
  const parts = REVIEW_PARTS.map((part) => rowSection(part, review, { labels, timeOf: clockTime })).join('');
  const words = {
    title: `Log review of ${review.day}`,
    complete: 'The archive covers the whole day.',
    warnings: timelessWarnings(review),
    madeAt,
  };
  return archivePage(
    review,
    words,
    `${parts}${hourSection(review)}${deletedSection(review, { labels, timeOf: clockTime })}`,
  );
}

/** Returns who signed a review of the day, and whether the archive has changed since. */
export function signedText({ by, account, note, signed_at: at, is_current: isCurrent }: ReviewSignature): string {
  const words = `signed off by ${signerText({ by, account })} at ${utcTime(at)}${note === null ? '' : `: ${note}`}`;
  return isCurrent ? words : `${words}; the archive has other entries now`;
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

/** How a page shows actors and times. */
interface PageWords {
  readonly labels: ActorLabels;
  /** Returns an RFC 3339 time for a column that names the zone. */
  readonly timeOf: (iso: string) => string;
}

/** Stands for a time that is not readable. */
const NO_TIME = 'no time';
const NO_ACTOR = 'no actor';

/** Returns the time of day, for a page about one day. */
function clockTime(iso: string): string {
  return iso.slice(11, 19);
}

/** Returns a part of the findings as a table, or the sentence for none. */
export function rowSection([name, title, nothing]: Part, review: Findings, words: PageWords): string {
  const rows = review[name];
  if (rows === null || rows.length === 0) {
    const sentence = rows === null ? `<p>${skippedText(review)}</p>` : `<p class="soft">${nothing}</p>`;
    return pageSection(title, `${sentence}\n`);
  }
  const before = name === 'deletions' || name === 'changes' ? shareList(name, rows, words.labels) : '';
  const cells = rows.map((row) => cellsOf(row, words));
  return tableSection(headingOf(title, name, review), COLUMNS, cells, { before });
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
  { title: 'Time (UTC)', isWhole: true },
];

function cellsOf(row: ReviewRow, { labels, timeOf }: PageWords): string[] {
  const { operation, entity_type: type, count, first_at: first, last_at: last } = row;
  const from = first === null ? NO_TIME : timeOf(first);
  const to = last === null ? from : timeOf(last);
  const time = from === to ? from : `${from} to ${to}`;
  return [operation ?? '', type ?? '', wholeActorText(row, labels) || NO_ACTOR, formatNumber(count), time];
}

const DELETED_COLUMNS: readonly PageColumn[] = [
  { title: 'Time (UTC)', isWhole: true },
  { title: 'Entity' },
  { title: 'Id', isWhole: true },
  { title: 'Actor' },
];

/** Returns the deleted entities one by one, as far as they are kept; nothing if there are none. */
export function deletedSection(
  {
    deleted,
    findings_entries: counts,
  }: Pick<Findings, 'findings_entries'> & { readonly deleted: readonly DeletedEntity[] },
  { labels, timeOf }: PageWords,
): string {
  if (deleted.length === 0) return '';
  const more = (counts.deletions ?? 0) - deleted.length;
  const rest = more > 0 ? `<p>and ${formatNumber(more)} more</p>` : '';
  const rows = deleted.map((one) => [
    one.created_at === null ? NO_TIME : timeOf(one.created_at),
    one.entity_type ?? '',
    one.entity_id ?? '',
    wholeActorText(one, labels) || NO_ACTOR,
  ]);
  return tableSection('Deleted entities', DELETED_COLUMNS, rows, { after: rest });
}
