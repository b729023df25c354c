import { csvRow } from '../csv-row.ts';
import { cleanText } from './clean.ts';
import { chooseFields, projection } from './fields.ts';
import type { RenderOptions, Renderer } from './format.ts';
import { jsonLine } from './json.ts';
import { valueAt } from './paths.ts';

/**
 * RFC 4180 with LF: a header, then a row each; a nested value is its JSON text, an absent one is empty.
 * A cell that begins with `=`, `+`, `-` or `@` is left alone. A prefix that stops a spreadsheet from reading it
 * as a formula would alter the data for every other reader.
 */
export function csvRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const { view, width } = options;
  const paths =
    chooseFields(view, options.fields) ?? view.fields.filter((field) => !/(?:^|\.)\*$/.test(field));
  const project = projection(view, undefined, options.showUrls ?? false);
  const header = csvRow(paths);
  // Only a terminal has a width: there a cell is cleaned; elsewhere its bytes are the service's.
  const cell = (text: string): string => (width === undefined ? text : cleanText(text, 'keep'));
  const row = (value: T): string => {
    const shown = project(value);
    return csvRow(paths.map((path) => cell(plain(valueAt(shown, path)))));
  };
  return {
    begin: () => header,
    rows: (batch) => Promise.resolve(batch.map((value) => row(value)).join('')),
    end: () => '',
    record: (value) => Promise.resolve(header + row(value)),
    dropped: [],
  };
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : jsonLine(value);
}
