import { csvRow, csvRows, excelSafeRows } from '../csv-row.ts';
import { cleanText } from './clean.ts';
import { chooseFields, projection } from './fields.ts';
import type { RenderOptions, Renderer } from './format.ts';
import { jsonLine } from './json.ts';
import { leafPaths, valueAt } from './paths.ts';

/**
 * RFC 4180 with LF: a header, then a row each; a nested value is its JSON text, an absent one is empty. One object has
 * a column for every value, new ones too.
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
  const header = (columns: readonly string[]): string => csvRow(columns.map(cell));
  const cells = (value: T, columns: readonly string[]): (string | number)[] => {
    const shown = project(value);
    return columns.map((path) => {
      const found = valueAt(shown, path);
      return excelSafe && typeof found === 'number' ? found : cell(plain(found));
    });
  };
  const rows = (batch: readonly T[], columns = paths): string => {
    const all = batch.map((value) => cells(value, columns));
    return excelSafe ? excelSafeRows(columns, all) : csvRows(all);
  };
  return {
    begin: () => header(paths),
    rows: (batch) => Promise.resolve(rows(batch)),
    end: () => '',
    record: (value) => {
      const columns = options.fields === undefined ? [...paths, ...newPaths(value, paths)] : paths;
      return Promise.resolve(header(columns) + rows([value], columns));
    },
    dropped: [],
  };
}

/** Paths of what one object has beside the known fields. In a list the header comes before them. */
function newPaths(value: unknown, known: readonly string[]): string[] {
  return leafPaths(value).filter(
    (path) => !known.some((field) => covers(field, path) || covers(path, field)),
  );
}

function covers(path: string, other: string): boolean {
  return path === other || other.startsWith(`${path}.`);
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : jsonLine(value);
}
