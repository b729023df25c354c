import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CsvForm, type CsvRow, CsvRows } from '../../src/au/csv-rows.ts';

const SOAK = process.env['SOAK'] === '1';

function read(text: string, form: CsvForm = {}, size = text.length || 1) {
  const rows: CsvRow[] = [];
  const reader = new CsvRows({ isLenient: true, longestRow: 64 * 1024, ...form }, (row) => rows.push(row));
  for (let at = 0; at < text.length; at += size) reader.feed(text.slice(at, at + size));
  reader.finish();
  return { rows, stop: reader.stop };
}

function quoted(text: string): string {
  return /[",;\n]/.test(text) ? ` "${text.replaceAll('"', '""')}" ` : text;
}

function quotedAlways(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Returns the rows that are not empty, without the spaces around their cells. */
function trimmed(rows: readonly (readonly string[])[]): string[][] {
  return rows.map((cells) => cells.map((cell) => cell.trim())).filter((cells) => cells.join('') !== '');
}

it('the rows of a CSV file are those that csv-parse reads, wherever the text is cut', () => {
  const cell = fc.stringMatching(/^[ab ",;\n]{0,6}$/);
  const file = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 });
  const delimiters = fc.constantFrom(',', ';', '\t');
  const sizes = fc.integer({ min: 1, max: 20 });
  const quotes = fc.constantFrom(quoted, quotedAlways);
  fc.assert(
    fc.property(file, delimiters, sizes, quotes, (all, delimiter, size, quote) => {
      const text = all.map((cells) => cells.map(quote).join(delimiter)).join('\n');
      const expected = parse(text, { delimiter, trim: true, relax_column_count: true, skip_empty_lines: false });
      const { rows, stop } = read(text, { delimiter }, size);
      expect(stop).toBeUndefined();
      expect(trimmed(rows.map(({ cells }) => cells))).toEqual(trimmed(expected));
    }),
    { numRuns: SOAK ? 50_000 : 500 },
  );
});
