import { exactText, indentJson, JsonToken } from '../../base/json/exact.ts';
import { replaceTokens, sourceOf } from '../../base/json/source.ts';
import { containsCardNumber, maskCardNumbers } from '../../base/security/card-number.ts';
import { escapeInJson } from './text.ts';
import { chooseFields, projection, type Renderer, type RenderOptions } from './view.ts';

/** Formats a value as JSON on one line, safe for a terminal, without a final newline. */
export function jsonLine(value: unknown): string {
  return safeJson(exactText(value));
}

/** Returns the function that formats a row as JSON on one line. Uses the row's original text if that was kept. */
export function rowText<T>({ view, fields, showUrls = false }: RenderOptions<T>): (row: T) => string {
  const paths = chooseFields(view, fields);
  const project = projection(view, paths, showUrls);
  const isWhole = paths === undefined && (showUrls || (view.secret ?? []).length === 0);
  return (row) => {
    const source = sourceOf(row);
    if (row instanceof JsonToken) return row.text;
    return isWhole && source !== undefined ? source.text : exactText(project(row));
  };
}

/** Renders a list as a streamed array with one item per line, and a single object indented by two spaces. */
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

const TOKEN = /"|-?\d[\d.eE+-]*/g;

/**
 * Makes JSON safe to show: masks card numbers (a number becomes a string), and escapes control and invisible characters.
 * Other tokens stay unchanged.
 */
export function safeJson(json: string): string {
  // Escapes may hide a card number, so strings with escapes are decoded and checked.
  const isSuspicious = json.includes('\\') || containsCardNumber(json);
  return escapeInJson(isSuspicious ? replaceTokens(json, TOKEN, maskToken) : json);
}

/** Whether a JSON text seems to contain a card number. */
export function jsonHasCardNumber(json: string): boolean {
  return json.includes('\\') ? safeJson(json) !== escapeInJson(json) : containsCardNumber(json);
}

function maskToken(token: string): string {
  if (!token.startsWith('"')) return containsCardNumber(token) ? JSON.stringify(maskCardNumbers(token)) : token;
  if (!token.includes('\\')) return maskCardNumbers(token);
  const text = String(JSON.parse(token));
  return containsCardNumber(text) ? JSON.stringify(maskCardNumbers(text)) : token;
}
