// Tables for HTML reports.

import { escapeHtml } from './page.ts';

/** A column of a table in a page. */
export interface PageColumn {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Whether cells stay on one line, as for times and ids. */
  readonly isWhole?: boolean;
}

/** Returns a section with a table. `before` and `after` are HTML around the table. */
export function tableSection(
  heading: string,
  columns: readonly PageColumn[],
  rows: readonly (readonly string[])[],
  { before = '', after = '' }: { readonly before?: string; readonly after?: string } = {},
): string {
  const id = heading.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  return `<section class="long"><h2 id="${id}">${escapeHtml(heading)}</h2>
${before}${tableOf({ id }, columns, rows)}${after}</section>
`;
}

/** Returns a table for a page with a caption of its own. */
export function pageTable(
  caption: string,
  columns: readonly PageColumn[],
  rows: readonly (readonly string[])[],
): string {
  return tableOf({ caption }, columns, rows);
}

/** Shortens an RFC 3339 time in UTC, for a column whose title names the time zone. */
export function timeCell(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

// The ARIA roles repeat the tags, because some browsers lose the table's semantics when narrow screens lay out rows as blocks.
/** Returns a table, which narrow screens show as blocks. The first cell of a row is its heading. */
function tableOf(
  name: { readonly caption: string } | { readonly id: string },
  columns: readonly PageColumn[],
  rows: readonly (readonly string[])[],
): string {
  const classes = columns.map(({ isNumber, isWhole }) => {
    if (isNumber === true) return ' class="number"';
    return isWhole === true ? ' class="whole"' : '';
  });
  const heads = columns.map(
    ({ title }, at) => `<th scope="col" role="columnheader"${classes[at] ?? ''}>${escapeHtml(title)}</th>`,
  );
  const lines = rows.map((cells) => {
    const tags = cells.map((cell, at) =>
      at === 0
        ? `<th scope="row" role="rowheader"${classes[at] ?? ''}>${escapeHtml(cell)}</th>`
        : `<td role="cell"${classes[at] ?? ''} data-label="${escapeHtml(columns[at]?.title ?? '')}">${escapeHtml(cell)}</td>`,
    );
    return `<tr role="row">${tags.join('')}</tr>`;
  });
  const [label, caption] =
    'id' in name ? [` aria-labelledby="${name.id}"`, ''] : ['', `<caption>${escapeHtml(name.caption)}</caption>`];
  return `<table class="stack" role="table"${label}>${caption}
<thead role="rowgroup"><tr role="row">${heads.join('')}</tr></thead>
<tbody role="rowgroup">${lines.join('\n')}</tbody></table>
`;
}
