import { exactText, indentJson, JsonToken, STRING } from '../../base/json/exact.ts';
import { sourceOf } from '../../base/json/source.ts';
import { containsCardNumber, maskCardNumbers } from '../../base/security/card-number.ts';
import { escapeInJson } from './text.ts';
import { chooseFields, projection, type Renderer, type RenderOptions } from './view.ts';

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
      if (batch.length === 0) return '';
      const mark = count === 0 ? '\n  ' : ',\n  ';
      count += batch.length;
      return mark + safeJson(batch.map((row) => text(row)).join(',\n  '));
    },
    end: () => (count === 0 ? ']\n' : '\n]\n'),
    record: (value) => `${safeJson(indentJson(text(value)))}\n`,
  };
}

export function jsonLinesRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const text = rowText(options);
  const rows = (batch: readonly T[]): string => safeJson(batch.map((row) => `${text(row)}\n`).join(''));
  return { rows, record: (value) => rows([value]) };
}

const TOKEN = new RegExp(`${STRING}|-?\\d[\\d.eE+-]*`, 'g');

/**
 * JSON that is safe to show and still JSON: card numbers masked, where a number becomes a text, and control and invisible characters as their escapes. All other tokens stay as they are.
 */
export function safeJson(json: string): string {
  // A card number may hide behind escapes, which only the decoded string shows.
  const isSuspicious = json.includes('\\') || containsCardNumber(json);
  return escapeInJson(isSuspicious ? json.replace(TOKEN, maskToken) : json);
}

/** Whether a text of JSON contains what looks like a card number. */
export function holdsCardNumber(json: string): boolean {
  return json.includes('\\') ? safeJson(json) !== escapeInJson(json) : containsCardNumber(json);
}

function maskToken(token: string): string {
  if (!token.startsWith('"')) return containsCardNumber(token) ? JSON.stringify(maskCardNumbers(token)) : token;
  if (!token.includes('\\')) return maskCardNumbers(token);
  const text = String(JSON.parse(token));
  return containsCardNumber(text) ? JSON.stringify(maskCardNumbers(text)) : token;
}
