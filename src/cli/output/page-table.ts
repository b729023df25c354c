// Tables for HTML reports.

import { escapeHtml, headingId } from './page.ts';

/** A column of a table in a page. */
export interface PageColumn {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Whether cells stay on one line, as for times and ids. */
  readonly isWhole?: boolean;
}

/** Shortens an RFC 3339 time in UTC, for a column whose title names the time zone. */
export function timeCell(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

// The ARIA roles repeat the tags, because some browsers lose the table's semantics when narrow screens lay out rows as blocks.
/** Returns the table of the section with this heading, which narrow screens show as blocks. The first cell of a row is its heading. */
export function pageTable(
  heading: string,
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
  return `<table class="stack" role="table" aria-labelledby="${headingId(heading)}">
<thead role="rowgroup"><tr role="row">${heads.join('')}</tr></thead>
<tbody role="rowgroup">${lines.join('\n')}</tbody></table>
`;
}
