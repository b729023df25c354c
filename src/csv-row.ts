import { stringify } from 'csv-stringify/sync';
import { SvcError } from './errors.ts';

/** What a cell can hold; a number is never taken for a formula. */
type Cell = string | number;

/** One line of CSV with its line end. */
export function csvRow(cells: readonly string[]): string {
  return csvRows([cells]);
}

/** Lines of CSV, as many cells in each. A row with a single empty cell is written as `""`, since a blank line is no row. */
export function csvRows(rows: readonly (readonly Cell[])[]): string {
  return stringified(rows, false);
}

/**
 * The same for a spreadsheet: a quote goes before what it would run as a formula. Tokens keep their value.
 * @throws SvcError `refused_input` when a token would have to be changed
 */
export function excelSafeRows(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const tokens = names.flatMap((name, at) => (TOKEN_COLUMN.test(name) ? [at] : []));
  for (const row of rows) {
    for (const at of tokens) {
      const cell = row[at] ?? '';
      if (SAFE_START.test(String(cell)) || stringified([[cell]], true) === stringified([[cell]], false))
        continue;
      throw new SvcError(
        'refused_input',
        `a token in column ${names[at]} begins like a formula, and --excel-safe would change it`,
        { hint: 'Leave --excel-safe out, or choose other columns with --fields.' },
      );
    }
  }
  return stringified(rows, true);
}

const TOKEN_COLUMN = /(?:^|[._])token(?:_intent)?(?:_id)?$/;
const SAFE_START = /^(?:\w|$)/;

function stringified(rows: readonly (readonly Cell[])[], escapeFormulas: boolean): string {
  return stringify([...rows], {
    record_delimiter: '\n',
    quoted_match: /^\s|\s$|\r/,
    quoted_empty: rows[0]?.length === 1,
    escape_formulas: escapeFormulas,
  });
}
