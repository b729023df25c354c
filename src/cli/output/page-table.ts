import { escapeHtml } from './page.ts';

/** A column of a table in a page. */
export interface PageColumn {
  readonly title: string;
  readonly isNumber?: boolean;
}

// The ARIA roles repeat the tags, because some browsers lose the table's semantics when narrow screens lay out rows as blocks.
/** Returns a table for a page, which narrow screens show as blocks. Cells are text, and the first one names its row. */
export function pageTable(
  caption: string,
  columns: readonly PageColumn[],
  rows: readonly (readonly string[])[],
): string {
  const classes = columns.map(({ isNumber }) => (isNumber === true ? ' class="number"' : ''));
  const heads = columns.map(
    ({ title }, at) => `<th scope="col" role="columnheader"${classes[at] ?? ''}>${escapeHtml(title)}</th>`,
  );
  const lines = rows.map((cells) => {
    const tags = cells.map((cell, at) =>
      at === 0
        ? `<th scope="row" role="rowheader">${escapeHtml(cell)}</th>`
        : `<td role="cell"${classes[at] ?? ''} data-label="${escapeHtml(columns[at]?.title ?? '')}">${escapeHtml(cell)}</td>`,
    );
    return `<tr role="row">${tags.join('')}</tr>`;
  });
  return `<table class="stack" role="table"><caption>${escapeHtml(caption)}</caption>
<thead role="rowgroup"><tr role="row">${heads.join('')}</tr></thead>
<tbody role="rowgroup">${lines.join('\n')}</tbody></table>
`;
}
