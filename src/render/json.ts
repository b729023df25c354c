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
  return {
    begin: () => '[',
    rows: (batch) => {
      if (batch.length === 0) return Promise.resolve('');
      const mark = count === 0 ? '\n  ' : ',\n  ';
      count += batch.length;
      return Promise.resolve(mark + safeJson(batch.map((row) => text(row)).join(',\n  ')));
    },
    end: () => (count === 0 ? ']\n' : '\n]\n'),
    record: (value) => Promise.resolve(`${safeJson(indentJson(text(value)))}\n`),
    dropped: [],
  };
}

/** One object a line. */
export function jsonLinesRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const text = rowText(options);
  const lines = (batch: readonly T[]): string => safeJson(batch.map((row) => `${text(row)}\n`).join(''));
  return {
    begin: () => '',
    rows: (batch) => Promise.resolve(lines(batch)),
    end: () => '',
    record: (value) => Promise.resolve(lines([value])),
    dropped: [],
  };
}
