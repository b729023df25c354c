import { csvRow, csvRows, excelSafeRows } from '../csv-row.ts';
import { cleanText } from './clean.ts';
import { chooseFields, projection } from './fields.ts';
import type { RenderOptions, Renderer } from './format.ts';
import { jsonLine } from './json.ts';
import { valueAt } from './paths.ts';

/**
 * RFC 4180 with LF: a header, then a row each; a nested value is its JSON text, an absent one is empty.
 * Cells that begin like a formula are left alone unless `excelSafe` is asked for: a prefix alters the data for every
 * reader that is not a spreadsheet.
 */
export function csvRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const { view, width, excelSafe = false } = options;
  const paths =
    chooseFields(view, options.fields) ?? view.fields.filter((field) => !/(?:^|\.)\*$/.test(field));
  const project = projection(view, undefined, options.showUrls ?? false);
  // Only a terminal has a width: there a cell is cleaned; elsewhere its bytes are the service's.
  const cell = (text: string): string => (width === undefined ? text : cleanText(text, 'keep'));
  const header = csvRow(paths.map(cell));
  const cells = (value: T): (string | number)[] => {
    const shown = project(value);
    return paths.map((path) => {
      const found = valueAt(shown, path);
      return excelSafe && typeof found === 'number' ? found : cell(plain(found));
    });
  };
  const rows = (batch: readonly T[]): string =>
    excelSafe ? excelSafeRows(paths, batch.map(cells)) : csvRows(batch.map(cells));
  return {
    begin: () => header,
    rows: (batch) => Promise.resolve(rows(batch)),
    end: () => '',
    record: (value) => Promise.resolve(header + rows([value])),
    dropped: [],
  };
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : jsonLine(value);
}
