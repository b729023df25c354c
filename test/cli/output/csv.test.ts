import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvRow, csvRows, excelSafeRows } from '../../../src/cli/output/csv.ts';
import { serve } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { svcHere } from '../../support/run-here.ts';
import { anyCharacter } from '../../support/any-character.ts';

const CELL = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', ' ', '"', ',', '\r', '\n', '\t', '=', '-', 'é', '＝') }),
  fc.string({ unit: anyCharacter }),
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

  it('lines of CSV quote a cell with a space at an end or a carriage return, and a row of a single empty cell', () => {
    expect(csvRow([' a', 'b c', 'd\re', ''])).toBe('" a",b c,"d\re",\n');
    expect(csvRows([[''], ['x']])).toBe('""\nx\n');
  });
});

describe('CSV in the log of a CI job', () => {
  const MESSAGES = ['a\n::warning::forged', '::error::forged', 'b\r\n  ##[error]forged', 'two\nlines', 'std::string'];

  async function printed(env: Readonly<Record<string, string>>): Promise<string> {
    const data = MESSAGES.map((message) => ({
      tenant_id: '3f2c1b5e-9d4a-4f7b-8e21-000000000001',
      entity_type: 'token',
      entity_id: 'e',
      operation: 'read',
      created_at: '2026-01-05T12:00:00Z',
      message,
    }));
    const server = await serve([json({ pagination: { next: null, page_size: 20 }, data })]);
    const argv = ['logs', '-o', 'csv', '--fields', 'message,operation'];
    const { code, stdout } = await svcHere(argv, { baseUrl: server.url, env });
    expect(code).toBe(0);
    return stdout;
  }

  it('CSV in the log of a CI job has no line that GitHub takes for a command', async () => {
    const stdout = await printed({ GITHUB_ACTIONS: 'true' });
    expect(stdout.split('\n').filter((line) => /^\s*(?:::|##\[)/.test(line))).toEqual([]);
    const [, ...rows] = parse(stdout);
    expect(rows.map(([message]) => message)).toEqual([
      String.raw`a\n::warning::forged`,
      '::error::forged',
      String.raw`b\r\n  ##[error]forged`,
      'two\nlines',
      'std::string',
    ]);
  });

  it('CSV has its cells as the service sent them elsewhere', async () => {
    const [, ...rows] = parse(await printed({}), { record_delimiter: '\n' });
    expect(rows.map(([message]) => message)).toEqual(MESSAGES);
  });
});

describe('lines for a spreadsheet', () => {
  it('lines for a spreadsheet put a quote before text that begins like a formula, and not before numbers', () => {
    const cells = ['=1', '+1', '-1', '@a', '\ta', '＝1', 'a=1', ''];
    const [safe = []] = parse(excelSafeRows(cells, [cells]));
    expect(safe).toEqual(["'=1", "'+1", "'-1", "'@a", "'\ta", "'＝1", 'a=1', '']);
    expect(excelSafeRows(['share', 'note'], [[-0.5, '-0.5']])).toBe("-0.5,'-0.5\n");
  });

  it('lines for a spreadsheet have safe names of columns and safe cells', async () => {
    const server = await serve([json([{ "=cmd|' /C calc'!A0": 1, note: '=2' }])]);
    const argv = ['api', '/x', '--key', 'private', '-o', 'csv', '--excel-safe'];
    const { stdout } = await svcHere(argv, { baseUrl: server.url });
    expect(stdout).toBe("'=cmd|' /C calc'!A0,note\n1,'=2\n");
  });

  it.each(['token', 'new_token', 'token_id', 'card.token', 'token_intent_id'])(
    'lines for a spreadsheet stop at a token in column %s that they would have to change',
    (name) => {
      expect(excelSafeRows([name, 'b'], [['5f0c-1', '=b']])).toBe("5f0c-1,'=b\n");
      expect(() => excelSafeRows([name, 'b'], [['=5f0c', 'b']])).toThrow('would be changed for spreadsheets');
    },
  );
});
