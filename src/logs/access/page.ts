import { escapeHtml, htmlPage, timeTag } from '../../cli/output/page.ts';
import { type PageColumn, pageTable } from '../../cli/output/page-table.ts';
import { countText, formatDuration, formatNumber } from '../../cli/output/time.ts';
import { wholeActorText } from '../actor.ts';
import { type AccessRow, remarkOf } from './access.ts';
import { type Access, accessFindings } from './count-access.ts';

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
  const { from, to, entries, service, tenant_id: tenant, archive, sha256 } = access;
  const body = `<p>${countText(entries, 'log entry')} of tenant ${escapeHtml(tenant)} at ${escapeHtml(service)}</p>
<p class="soft">Archive ${escapeHtml(archive)}, made ${timeTag(madeAt)}</p>
${missingText(access)}
<p>${escapeHtml(USE_ONLY)}</p>
<p>${escapeHtml(accessSummary(access))}</p>
<section class="long"><h2>Actors</h2>
${accessTable(access)}</section>
<p class="soft">SHA-256 of what is reviewed here: <code>${sha256}</code></p>
`;
  return htmlPage(
    { title: `Access review of ${from} to ${to}`, heading: `Access review of ${from} to ${to} (UTC)` },
    body,
  );
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

function missingText({ missing }: Access): string {
  if (missing.length === 0) return '<p class="fine">The archive covers all of this time up to its end.</p>';
  const items = missing.map(
    ({ from, to, reason }) => `<li>${shown(from)}Z to ${shown(to)}Z: ${escapeHtml(reason)}</li>`,
  );
  return `<div class="odd"><p><strong>Entries may be missing:</strong></p><ul>${items.join('')}</ul></div>`;
}

function cellsOf(row: AccessRow): string[] {
  const { name, actor_id: id, first_at: first, last_at: last, entity_types: types } = row;
  const labels = new Map(id === null || name === null ? [] : [[id, name]]);
  return [
    wholeActorText(row, labels) || '(no actor)',
    types.join(', '),
    shown(first),
    shown(last),
    ...[row.reads, row.changes, row.deletes].map(formatNumber),
    remarkOf(row),
  ];
}

function shown(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
