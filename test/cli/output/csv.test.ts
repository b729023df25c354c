import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvRow, csvRows, excelSafeRows } from '../../../src/cli/output/csv.ts';

const CELL = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', ' ', '"', ',', '\r', '\n', '\t', '=', '-', 'é', '＝') }),
  fc.string({ unit: 'binary' }),
);
const ROWS = fc
  .integer({ min: 1, max: 5 })
  .chain((width) => fc.array(fc.array(CELL, { minLength: width, maxLength: width }), { maxLength: 5 }));

describe('lines of CSV', () => {
  it('lines of CSV hold the cells as they are, whatever they contain', () => {
    fc.assert(
      fc.property(ROWS, (rows) => {
        expect(parse(csvRows(rows), { record_delimiter: '\n' })).toEqual(rows);
      }),
    );
  });

  it('lines of CSV quote a cell with spaces at an end, and a row of a single empty cell', () => {
    expect(csvRow([' a', 'b c', 'd\r', ''])).toBe('" a",b c,"d\r",\n');
    expect(csvRows([[''], ['x']])).toBe('""\nx\n');
  });
});

describe('lines for a spreadsheet', () => {
  it('lines for a spreadsheet put a quote before text that begins like a formula, and not before numbers', () => {
    const cells = ['=1', '+1', '-1', '@a', '\ta', '＝1', 'a=1', ''];
    const [safe = []] = parse(excelSafeRows(cells, [cells]));
    expect(safe).toEqual(["'=1", "'+1", "'-1", "'@a", "'\ta", "'＝1", 'a=1', '']);
    expect(excelSafeRows(['share', 'note'], [[-0.5, '-0.5']])).toBe("-0.5,'-0.5\n");
  });

  it.each(['token', 'new_token', 'token_id', 'card.token', 'token_intent_id'])(
    'lines for a spreadsheet stop at a token in column %s that they would have to change',
    (name) => {
      expect(excelSafeRows([name, 'b'], [['5f0c-1', '=b']])).toBe("5f0c-1,'=b\n");
      expect(() => excelSafeRows([name, 'b'], [['=5f0c', 'b']])).toThrow('would be changed for spreadsheets');
    },
  );
});
