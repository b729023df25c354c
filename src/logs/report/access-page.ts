import { type PageColumn, pageTable, timeCell } from '../../cli/output/page-table.ts';
import { escapeHtml, pageSection } from '../../cli/output/page.ts';
import { countText, formatDuration, formatNumber } from '../../cli/output/time.ts';
import { wholeActorText } from '../actor.ts';
import { type Access, accessFindings } from './access.ts';
import { timelessText } from './deleted.ts';
import { archivePage } from './page.ts';
import { type AccessRow, remarkOf } from './views.ts';

/** What the logs do not show. */
export const USE_ONLY =
  'The logs show who used the service, not who is permitted to: compare them with your list of users and keys.';

const COLUMNS: readonly PageColumn[] = [
  { title: 'Actor' },
  { title: 'Entity types' },
  { title: 'First seen' },
  { title: 'Last seen' },
  { title: 'Reads', isNumber: true },
  { title: 'Changes', isNumber: true },
  { title: 'Deletes', isNumber: true },
  { title: 'Remark' },
];

/** Returns an access review as one self-contained page. `madeAt` is in epoch milliseconds. */
export function accessPage(access: Access, madeAt: number): string {
  const words = {
    title: `Access review of ${access.from} to ${access.to}`,
    complete: 'The archive covers all of this time up to its end.',
    warnings: timelessInRows(access),
    madeAt,
  };
  const said = [USE_ONLY, accessSummary(access)].map((text) => `<p>${escapeHtml(text)}</p>\n`).join('');
  return archivePage(access, words, `${said}${pageSection('Actors', accessTable(access))}`);
}

/** Returns the table of the actors of an access review. */
export function accessTable({ rows, from, to }: Pick<Access, 'rows' | 'from' | 'to'>): string {
  return rows.length === 0
    ? '<p class="soft">There is no entry.</p>\n'
    : pageTable(
        `Actors with entries from ${from} to ${to}, by changes and deletes (times are UTC)`,
        COLUMNS,
        rows.map(cellsOf),
      );
}

/** Returns how many actors there are, and how many of them are new or dormant. */
export function accessSummary(access: Access): string {
  const { actors, new_actors: news, dormant } = accessFindings(access);
  const since = formatDuration(access.dormantMs);
  const newText =
    news === null ? 'new ones unknown (the archive has too little of the time before)' : `${formatNumber(news)} new`;
  return `${countText(actors, 'actor')}, ${newText}, ${formatNumber(dormant)} dormant (nothing in the last ${since})`;
}

/** Returns the warning of entries without a readable time, if there are any. */
export function timelessInRows({ timeless }: Pick<Access, 'timeless'>): string[] {
  return timeless.entries === 0 ? [] : [`counted, of an unknown day: ${timelessText(timeless)}`];
}

function cellsOf(row: AccessRow): string[] {
  const { name, actor_id: id, first_at: first, last_at: last, entity_types: types } = row;
  const labels = new Map(id === null || name === null ? [] : [[id, name]]);
  return [
    wholeActorText(row, labels) || '(no actor)',
    types.join(', '),
    ...[first, last].map((at) => (at === null ? '' : timeCell(at))),
    ...[row.reads, row.changes, row.deletes].map(formatNumber),
    remarkOf(row),
  ];
}
