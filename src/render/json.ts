import { exactText, indentJson, JsonToken } from '../exact-json.ts';
import { sourceOf } from '../json-source.ts';
import { chooseFields, projection } from './fields.ts';
import type { RenderOptions, Renderer } from './format.ts';
import { safeJson } from './safe-json.ts';

/** Any value as JSON on one line, safe for a terminal, without a newline at the end. */
export function jsonLine(value: unknown): string {
  return safeJson(exactText(value));
}

/** Gives what is shown of a row as JSON on one line: the very text that it was parsed from, where that is known. */
export function rowText<T>({ view, fields, showUrls = false }: RenderOptions<T>): (row: T) => string {
  const paths = chooseFields(view, fields);
  const project = projection(view, paths, showUrls);
  const isWhole = paths === undefined && (showUrls || (view.secret ?? []).length === 0);
  return (row) => {
    const source = sourceOf(row);
    if (row instanceof JsonToken) return row.text;
    if (source === undefined) return JSON.stringify(project(row)) ?? 'null';
    return isWhole ? source.text : exactText(project(row));
  };
}

/** One array, streamed, an item a line; a single object indented by two. */
export function jsonRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const text = rowText(options);
  let count = 0;
  const element = (row: T): string => {
    count += 1;
    return `${count === 1 ? '\n' : ',\n'}  ${safeJson(text(row))}`;
  };
  return {
    begin: () => '[',
    rows: (batch) => Promise.resolve(batch.map((row) => element(row)).join('')),
    end: () => (count === 0 ? ']\n' : '\n]\n'),
    record: (value) => Promise.resolve(`${safeJson(indentJson(text(value)))}\n`),
    dropped: [],
  };
}

/** One object a line. */
export function jsonLinesRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const text = rowText(options);
  const line = (value: T): string => `${safeJson(text(value))}\n`;
  return {
    begin: () => '',
    rows: (batch) => Promise.resolve(batch.map((row) => line(row)).join('')),
    end: () => '',
    record: (value) => Promise.resolve(line(value)),
    dropped: [],
  };
}
