import * as fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { KeptColumns } from '../../../src/au/results/kept-columns.ts';
import { csvRows } from '../../../src/cli/output/csv.ts';
import { cases } from '../../support/cases.ts';
import { temporaryDirectory } from '../../support/directory.ts';

function write(text: string): string {
  const directory = temporaryDirectory();
  const file = join(directory, 'tokens.keep.csv');
  writeFileSync(file, text);
  return file;
}

it('kept columns are returned as they were written, whatever the order of the tokens', async () => {
  const cell = fc.stringMatching(/^[a-zü", ]{0,12}$/);
  const rows = fc.uniqueArray(fc.tuple(fc.uuid(), cell, cell), { selector: ([token]) => token, minLength: 1 });
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom('', '\uFEFF'), async (all, mark) => {
      const lines = all.map(([token, ...cells], at) => [String(at + 1), token, ...cells]);
      const file = write(mark + csvRows([['row', 'token', 'Name', 'No'], ...lines]));
      const kept = await KeptColumns.open(file);
      expect(kept.names).toEqual(['Name', 'No']);
      for (const [token, ...cells] of all.toReversed()) expect(kept.cellsOf(token)).toEqual(cells);
      expect(kept.cellsOf('another')).toEqual(['', '']);
      kept.close();
    }),
    { numRuns: cases(500) },
  );
});

it.each(['', 'sep=;\r\n'])('kept columns that a spreadsheet saved with semicolons are read: %j', async (line) => {
  const rows = 'row;token;Name\r\n1;a;"Doe; Jane"\r\n2;a;Roe\r\n3;b;Poe, E.\r\n';
  const kept = await KeptColumns.open(write(`\uFEFF${line}${rows}`));
  expect([0, 1].map((place) => kept.cellsAt('a', place))).toEqual([['Doe; Jane'], ['Roe']]);
  expect(kept.cellsOf('b')).toEqual(['Poe, E.']);
  kept.close();
});

it.each([
  ['an empty file', ''],
  ['a request file', 'token,expiration_year,expiration_month,merchant_id\na,,,\n'],
  ['a file without a kept column', 'row,token\n1,a\n'],
  ['a file with an unclosed quote', 'row,token,Name\n1,a,"b\n'],
  ['a file with carriage returns alone', 'row,token,Name\r1,a,b\r2,c,d\r'],
  // The row is read again at its place, up to the longest length.
  ['a file with a row that is too long', `row,token,Name\n1,a,${'x'.repeat(262_144)}\n2,b,c\n`],
  ['a file with a line that never ends', `row,token,Name\n${'x'.repeat(600_000)}`],
])('kept columns cannot be read from %s', async (_, text) => {
  await expect(KeptColumns.open(write(text))).rejects.toThrow('no file of kept columns');
});
