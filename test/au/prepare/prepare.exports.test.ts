import { expect, it } from 'vitest';
import { prepareRequest } from '../../../src/au/prepare/prepare.ts';
import { inChunks, stream } from '../rows.ts';

const NOW = Date.parse('2026-11-24T12:00:00Z');

const TOKENS = [
  '0b7e2f5a-6f0d-4c57-9d0a-1f6f0f3c1a01',
  '5c1d9a34-8a57-4a0e-b1b4-7d2e9c4f2b02',
  'e2a4c6d8-3b5f-4e1a-8c7d-9f0b1a2c3d03',
];

/** The last days of the months in which the cards expire. */
const DATES = ['2031-05-31', '2029-12-31', '2030-01-31'];

const EXPECTED = ['31,05', '29,12', '30,01'];

type Cells = readonly (readonly string[])[];

/** Columns as a customer table has them. None of them is an expiration. */
const OTHERS: Cells = [
  ['created_at', '2024-03-05 10:11:12', '2025-12-31 23:59:59.123', '2026-11-01 00:00:00'],
  ['birthday', '1978-05-03', '2004-02-29', '1990-12-24'],
  ['zip', '10115', '46538', '01067'],
  ['order_no', '2026-000123', '2031-000007', '20310501'],
  ['name', 'José "Pepe" García', 'Müller; Söhne', 'Ann, Bob'],
];

/** How a program writes a table. */
interface Program {
  readonly name: string;
  readonly expiration?: string;
  readonly date?: (isoDate: string) => string;
  readonly token?: (token: string) => string;
  readonly write: (rows: Cells) => Buffer;
}

interface Dialect {
  readonly delimiter?: string;
  readonly end?: string;
  readonly quoteAll?: boolean;
  readonly encode?: (text: string) => Buffer;
  /** Text before and after the rows. */
  readonly before?: string;
  readonly after?: string;
}

function writer({ delimiter = ',', end = '\n', quoteAll = false, encode = utf8, before = '', after = '' }: Dialect) {
  const quoted = (cell: string): string =>
    quoteAll || /["\r\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
  return (rows: Cells): Buffer =>
    encode(before + rows.map((row) => row.map(quoted).join(delimiter) + end).join('') + after);
}

function utf8(text: string): Buffer {
  return Buffer.from(text);
}

function utf8WithMark(text: string): Buffer {
  return Buffer.from(`\uFEFF${text}`);
}

function windows1252(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function utf16(text: string): Buffer {
  return Buffer.from(`\uFEFF${text}`, 'utf16le');
}

function parts(isoDate: string): [string, string, string] {
  const [year = '', month = '', day = ''] = isoDate.split('-');
  return [year, month, day];
}

function german(isoDate: string): string {
  return parts(isoDate).toReversed().join('.');
}

function american(isoDate: string): string {
  const [year, month, day] = parts(isoDate);
  return [Number(month), Number(day), year].join('/');
}

function british(isoDate: string): string {
  return parts(isoDate).toReversed().join('/');
}

function onTheCard(isoDate: string): string {
  const [year, month] = parts(isoDate);
  return `${month}/${year.slice(2)}`;
}

function monthName(isoDate: string): string {
  return new Date(isoDate).toLocaleString('en', { month: 'short', timeZone: 'UTC' });
}

const CRLF = '\r\n';

/** Wraps the rows with numbers, as statistics programs do. */
function numbered(rows: Cells, first: string): Cells {
  return rows.map((row, at) => [at === 0 ? first : String(at), ...row]);
}

const PROGRAMS: readonly Program[] = [
  { name: 'a spreadsheet in English', date: american, write: writer({ end: CRLF }) },
  { name: 'a spreadsheet in English, as UTF-8', date: american, write: writer({ end: CRLF, encode: utf8WithMark }) },
  {
    name: 'a spreadsheet in German',
    expiration: 'Gültig bis',
    date: german,
    write: writer({ delimiter: ';', end: CRLF, encode: windows1252 }),
  },
  {
    name: 'a spreadsheet in German, as UTF-8',
    expiration: 'Ablaufdatum',
    date: german,
    write: writer({ delimiter: ';', end: CRLF, encode: utf8WithMark }),
  },
  {
    name: 'a spreadsheet in French',
    expiration: "Date d'expiration",
    date: british,
    write: writer({ delimiter: ';', end: CRLF, encode: windows1252 }),
  },
  {
    name: 'a spreadsheet in Spanish',
    expiration: 'Caducidad',
    date: british,
    write: writer({ delimiter: ';', end: CRLF }),
  },
  { name: 'a spreadsheet in Italian', expiration: 'Scadenza', date: onTheCard, write: writer({ delimiter: ';' }) },
  {
    name: 'a spreadsheet as Unicode text',
    date: american,
    write: writer({ delimiter: '\t', end: CRLF, encode: utf16 }),
  },
  {
    name: 'a spreadsheet with a total below',
    date: german,
    write: writer({ delimiter: ';', end: CRLF, after: `Summe;;;;;3${CRLF};;;;;${CRLF}` }),
  },
  { name: 'a free office program', write: writer({ quoteAll: true }) },
  { name: 'a spreadsheet on the web', write: writer({ end: CRLF }) },
  { name: 'psql with csv', write: writer({}) },
  { name: 'psql unaligned', write: writer({ delimiter: '|', after: '(3 rows)\n' }) },
  { name: 'COPY of a database, with tabs', write: writer({ delimiter: '\t' }) },
  {
    name: 'SQL Server with capitals',
    expiration: 'ExpDate',
    date: (isoDate) => `${isoDate} 00:00:00.000`,
    token: (token) => token.toUpperCase(),
    write: writer({ end: CRLF, encode: utf8WithMark }),
  },
  {
    name: 'SQL Server as UTF-16',
    token: (token) => token.toUpperCase(),
    write: writer({ delimiter: ';', encode: utf16 }),
  },
  { name: 'sqlcmd', write: writer({ end: CRLF, after: `${CRLF}(3 rows affected)${CRLF}` }) },
  { name: 'a batch of MySQL', write: writer({ delimiter: '\t' }) },
  { name: 'a web interface of MySQL', write: writer({ delimiter: ';', quoteAll: true }) },
  {
    name: 'Oracle',
    expiration: 'EXP_DT',
    date: (isoDate) => `${parts(isoDate)[2]}-${monthName(isoDate).toUpperCase()}-${parts(isoDate)[0]}`,
    write: writer({ quoteAll: true }),
  },
  { name: 'an unload of a warehouse', write: writer({ delimiter: '|' }) },
  { name: 'a warehouse with times', date: (isoDate) => `${isoDate} 23:59:59.000 +0000`, write: writer({}) },
  { name: 'a report that repeats its header on each page', write: (rows) => writer({})([...rows, rows[0] ?? []]) },
  { name: 'a CRM with a grand total', date: american, write: writer({ quoteAll: true, after: '"Grand Total","3"\n' }) },
  { name: 'a data frame with row numbers', write: (rows) => writer({})(numbered(rows, '')) },
  { name: 'a statistics program', write: (rows) => writer({ quoteAll: true })(numbered(rows, '')) },
  {
    name: 'a payment page',
    expiration: 'Valid till',
    date: (isoDate) => `${monthName(isoDate)}-${parts(isoDate)[0].slice(2)}`,
    write: writer({}),
  },
  {
    name: 'a host program with quotes within cells',
    expiration: 'gueltig bis',
    date: (isoDate) => parts(isoDate).slice(0, 2).join('-'),
    write: (rows) => Buffer.from(rows.map((row) => `${row.join('\t')}\n`).join('')),
  },
];

async function prepared(bytes: Buffer) {
  let text = '';
  const request = (piece: string): Promise<void> => Promise.resolve(void (text += piece));
  const found = await prepareRequest(stream(inChunks(bytes, 1000)), { request }, { now: NOW });
  return { ...found, rows: text.trimEnd().split('\n').slice(1) };
}

/** Returns the table as rows, the header first. */
function table({ token = String, date = String, expiration }: Program, isDated: boolean): Cells {
  const columns: Cells = [
    ['token', ...TOKENS.map(token)],
    ...(isDated ? [[expiration ?? 'expiration', ...DATES.map(date)]] : []),
    ...OTHERS,
  ];
  return (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? ''));
}

it.each(PROGRAMS)('the preparation of an export by $name needs no option', async (program) => {
  const { write, token = String } = program;
  const { rows, problems, candidates } = await prepared(write(table(program, true)));
  expect({ problems, candidates }).toEqual({ problems: [], candidates: [] });
  expect(rows).toEqual(TOKENS.map((each, at) => `${token(each)},${EXPECTED[at]},`));
});

it.each(PROGRAMS)('the preparation of an export by $name takes no other column for the expiration', async (program) => {
  const { write, token = String } = program;
  const { rows, problems, candidates } = await prepared(write(table(program, false)));
  expect({ problems, candidates }).toEqual({ problems: [], candidates: [] });
  expect(rows).toEqual(TOKENS.map((each) => `${token(each)},,,`));
});
