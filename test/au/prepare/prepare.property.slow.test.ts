import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PrepareOptions } from '../../../src/au/prepare/how-to-read.ts';
import { type Prepared, prepareRequest } from '../../../src/au/prepare/prepare.ts';
import { cardNumber, disguised } from '../../support/card-numbers.ts';
import { checked, inChunks, stream } from '../rows.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id\n';
const SOAK = process.env['SOAK'] === '1';

/** Reads an export as svc au prepare does: once, and once more if rows are repeated. */
async function prepared(
  bytes: Buffer,
  options?: PrepareOptions,
  size = 4_096,
): Promise<Prepared & { readonly text: string }> {
  let text = '';
  const found = await prepareRequest(
    stream(inChunks(bytes, size)),
    { request: (lines) => Promise.resolve(void (text += lines)) },
    options,
  );
  const { repeated } = found;
  if (repeated !== undefined) return prepared(bytes, { ...options, repeated }, size);
  return { ...found, text };
}

interface Row {
  readonly token: string;
  readonly year: string;
  readonly month: string;
  readonly merchant: string;
}

function two(min: number, max: number): fc.Arbitrary<string> {
  return fc.integer({ min, max }).map((number) => String(number).padStart(2, '0'));
}

/** Generates rows of a request file with unique tokens. */
function rows(): fc.Arbitrary<Row[]> {
  const row = fc.record({
    token: fc.oneof(fc.uuid(), fc.constantFrom('tok_1', 'a;b', 'a,b', 'a"b', 'é')),
    // These years cannot be months, so each date has only one reading.
    year: two(13, 99),
    month: two(1, 12),
    merchant: fc.constantFrom('', 'M1', 'Shop, Ltd', 'a; b', 'Müller', 'say "x"'),
  });
  return fc.uniqueArray(row, { minLength: 1, maxLength: 12, selector: ({ token }) => token });
}

type Written = readonly [column: string, cell: (row: Row) => string];

const bare = (digits: string): string => String(Number(digits));

const nameOf = (month: string): string =>
  new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' }).format(Date.UTC(2027, Number(month) - 1));

const DATES: readonly (readonly Written[])[] = [
  [
    ['expiration_year', ({ year }) => year],
    ['expiration_month', ({ month }) => month],
  ],
  [
    ['Exp Month', ({ month }) => bare(month)],
    ['Exp. Year', ({ year }) => `20${year}`],
  ],
  [['valid_to', ({ year, month }) => `${month}/${year}`]],
  [['valid_to', ({ year, month }) => `${bare(month)}/20${year}`]],
  [['valid_to', ({ year, month }) => `20${year}-${month}`]],
  [['valid_to', ({ year, month }) => `20${year}-${month}-28 23:59:59`]],
  [['valid_to', ({ year, month }) => `${month}${year}`]],
  [['valid_to', ({ year, month }) => `${bare(month)}${year}`]],
  [['valid_to', ({ year, month }) => `20${year}${month}`]],
  [['valid_to', ({ year, month }) => `${year} / ${month}`]],
  [['valid_to', ({ year, month }) => `${nameOf(month).slice(0, 3)}-${year}`]],
  [['valid_to', ({ year, month }) => `${nameOf(month).toUpperCase()} 20${year}`]],
  [['valid_to', ({ year, month }) => `28-${nameOf(month).slice(0, 3)}-20${year}`]],
  [['valid_to', ({ year, month }) => `28.${month}.20${year}`]],
];

interface Dialect {
  readonly delimiter: string;
  readonly end: string;
  readonly mark: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be';
  readonly quoteAll: boolean;
  readonly space: string;
  readonly date: readonly Written[];
  readonly blank: boolean;
  readonly repeat: boolean;
  readonly more: boolean;
}

function dialect(): fc.Arbitrary<Dialect> {
  return fc.record({
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    end: fc.constantFrom('\n', '\r\n'),
    mark: fc.constantFrom('', '\uFEFF'),
    encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
    quoteAll: fc.boolean(),
    space: fc.constantFrom('', ' ', '  '),
    date: fc.constantFrom(...DATES),
    blank: fc.boolean(),
    repeat: fc.boolean(),
    more: fc.boolean(),
  });
}

function encoded(text: string, encoding: Dialect['encoding']): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  const little = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16le' ? little : little.swap16();
}

/** Writes the rows as a database or spreadsheet may export them. */
function exported(all: readonly Row[], spoken: Dialect): Buffer {
  const { delimiter, end, mark, encoding, quoteAll, space, date, blank, repeat, more } = spoken;
  const columns: readonly Written[] = [
    ...(more ? [['note', () => 'two\nlines, "quoted"; and more'] as const] : []),
    ['mid', ({ merchant }) => merchant],
    ...date,
    ['card_id', ({ token }) => token],
  ];
  const quoted = (cell: string): string =>
    quoteAll || /[",;|\t\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const line = (cells: readonly string[]): string => cells.map((cell) => space + quoted(cell) + space).join(delimiter);
  const lines = all.map((row) => line(columns.map(([, cell]) => cell(row))));
  const header = line(columns.map(([name]) => name));
  const rest = [...(blank ? ['', line(columns.map(() => ''))] : []), ...(repeat ? lines.slice(0, 1) : [])];
  return encoded(`${mark}${[header, ...lines, ...rest].join(end)}${end}`, encoding);
}

function plain(cell: string): string {
  return /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

it('the preparation of an export gives exactly the rows that it was made from, in every dialect, and a valid file', async () => {
  const size = fc.integer({ min: 1, max: 300 });
  await fc.assert(
    fc.asyncProperty(rows(), dialect(), size, async (all, spoken, at) => {
      const isCombined = spoken.date.length === 1;
      const columns = [
        { column: 'token', name: 'card_id' } as const,
        ...(isCombined ? [{ column: 'expiration', name: 'valid_to' } as const] : []),
      ];
      const { text, problems, rows: count } = await prepared(exported(all, spoken), { columns }, at);
      expect(problems).toEqual([]);
      const wanted = all.map((row) => `${plain(row.token)},${row.year},${row.month},${plain(row.merchant)}\n`);
      expect(text).toBe(HEADER + wanted.join(''));
      expect(count).toBe(all.length);
      expect((await checked(text)).problems).toEqual([]);
    }),
    { numRuns: SOAK ? 20_000 : 100 },
  );
});

it('R40: the preparation of an export refuses a card number in any column, mapped or not, by its line alone', async () => {
  const columns = ['token', 'expiration_year', 'expiration_month', 'merchant_id', 'note'];
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(cardNumber(), disguised()),
      fc.nat(columns.length - 1),
      fc.nat(5),
      fc.constantFrom(',', ';', '\t'),
      async (card, column, row, delimiter) => {
        const lines = Array.from({ length: 6 }, (_, at) =>
          ['tok', '27', '01', '', 'x'].map((cell, place) => (at === row && place === column ? `"${card}"` : cell)),
        );
        const text = [columns, ...lines].map((cells) => cells.join(delimiter)).join('\n');
        const { problems, problemCount } = await prepared(Buffer.from(text));
        expect(problemCount).toBe(1);
        expect(problems[0]).toMatchObject({ line: row + 2, rule: 'card_number' });
        expect(JSON.stringify(problems)).not.toContain(card);
      },
    ),
    { numRuns: SOAK ? 50_000 : 250 },
  );
});
