import { expect, it } from 'vitest';
import { type CsvForm, type CsvRow, CsvRows } from '../../src/au/csv-rows.ts';

function read(text: string, form: CsvForm = {}, size = text.length || 1) {
  const rows: CsvRow[] = [];
  const reader = new CsvRows({ longestRow: 64 * 1024, ...form }, (row) => rows.push(row));
  for (let at = 0; at < text.length; at += size) reader.feed(text.slice(at, at + size));
  reader.finish();
  return { rows, stop: reader.stop };
}

it('the rows of a CSV file have the line that they start on', () => {
  const { rows } = read('a,"1\n2\n3"\r\nb,"x"\n\nc,d');
  expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual([
    [1, 'a', '1\n2\n3'],
    [4, 'b', 'x'],
    [5, ''],
    [6, 'c', 'd'],
  ]);
  expect(rows.map(({ endsWithReturn }) => endsWithReturn)).toEqual([true, false, false, false]);
});

it('the rows of a CSV file have quotes as text in cells that do not begin with one, where the form allows it', () => {
  const { rows, stop } = read('a,6" pipe\n"b",say "x", y', { isLenient: true });
  expect(stop).toBeUndefined();
  expect(rows.map(({ cells }) => cells)).toEqual([
    ['a', '6" pipe'],
    ['b', 'say "x"', ' y'],
  ]);
});

it.each([
  ['an open quote', 'a\nb,"c\nd\n', 'open', 2],
  ['a quote inside a cell', 'a\nb,6" pipe\nc\n', 'stray', 2],
  ['text behind a quote', 'a\n"b"c\n', 'stray', 2],
  ['a quote that is open for too long', `a\n"${'x\n'.repeat(40_000)}`, 'too_long', 2],
  ['a line without an end', `a\n${'x'.repeat(70_000)}`, 'too_long', 2],
])('the rows of a CSV file end at %s', (_, text, why, line) => {
  const { rows, stop } = read(text, {}, 1000);
  expect(stop).toEqual({ why, line });
  expect(rows).toHaveLength(line - 1);
});

it('the rows of a CSV file end at text behind a quote, also where quotes inside a cell are allowed', () => {
  const { rows, stop } = read('a\n"b"c\n', { isLenient: true });
  expect(stop).toEqual({ why: 'stray', line: 2 });
  expect(rows).toHaveLength(1);
});

it('the rows of a CSV file are converted if one of their lines is', () => {
  const rows: [number, boolean][] = [];
  const reader = new CsvRows({ longestRow: 100 }, ({ line, isConverted }) => rows.push([line, isConverted]));
  reader.feed('a\nb\n"c\n', new Set([1, 2]));
  reader.feed('d"\ne\n');
  reader.feed('f', new Set([0]));
  reader.finish();
  expect(rows).toEqual([
    [1, false],
    [2, true],
    [3, true],
    [5, false],
    [6, true],
  ]);
});
