import { escapeHtml, pageSection } from '../../cli/output/page.ts';
import { type PageColumn, tableSection } from '../../cli/output/page-table.ts';
import { formatNumber } from '../../cli/output/time.ts';
import { type ActorLabels, wholeActorText } from '../actor.ts';
import { byActor, changedKind, deletedKind } from './by-actor.ts';
import type { DeletedEntity } from './deleted.ts';
import { type Findings, headingOf, type Part, skippedText } from './parts.ts';
import type { ReviewRow } from './review-row.ts';

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
export function clockTime(iso: string): string {
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
