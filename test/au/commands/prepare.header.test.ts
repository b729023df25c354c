import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ended, errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const TOKENS = [
  '0b7e2f5a-6f0d-4c57-9d0a-1f6f0f3c1a01',
  '5c1d9a34-8a57-4a0e-b1b4-7d2e9c4f2b02',
  'e2a4c6d8-3b5f-4e1a-8c7d-9f0b1a2c3d03',
  'a3b5c7d9-1c2d-4e3f-9a8b-7c6d5e4f3a04',
];
const [A = '', B = '', C = '', D = ''] = TOKENS;

function place(text: string) {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'export.csv'), text);
  const prepare = (...words: string[]) => svcHere(['au', 'prepare', 'export.csv', ...words], { cwd, home: cwd });
  return { cwd, prepare, read: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}

function rowsIn(text: string): string[] {
  return text.trimEnd().split('\n').slice(1);
}

it.each([
  ['psql -A with tabs', '\t'],
  ['psql -A', '|'],
  ['a list with commas', ','],
])('svc au prepare swallows no row of a format without quotes, where two cells have a quote: %s', async (_, sign) => {
  const row = (...cells: string[]): string => `${cells.join(sign)}\n`;
  const { prepare, read } = place(
    row('token', 'customer', 'expiry') +
      row(A, 'Ann', '05/29') +
      row(B, '"Monitor', '06/29') +
      row(C, 'Monitor 24"', '07/29') +
      row(D, 'Dan', '08/29'),
  );
  ended(await prepare(), 13, {
    stdout: '',
    error: {
      message: 'export.csv: a quote opens on line 3 and closes on line 4, and these lines look like rows',
      next: 'svc au prepare export.csv --no-quotes',
      alternatives: ['svc au prepare export.csv --accept quotes'],
    },
  });
  succeeded(await prepare('--no-quotes', '--keep', 'customer', '--out', 'tokens.csv'));
  expect(rowsIn(read('tokens.csv'))).toEqual([`${A},29,05,`, `${B},29,06,`, `${C},29,07,`, `${D},29,08,`]);
  expect(rowsIn(read('tokens.keep.csv'))[1]).toBe(`2,${B},"""Monitor"`);
  expect(rowsIn((await prepare('--accept', 'quotes')).stdout)).toHaveLength(3);
});

it('svc au prepare swallows no row of a format without quotes whose tokens are no UUIDs', async () => {
  const text = 'token\tcustomer\n1-a\t"Monitor\n2-b\tMonitor 24"\n3-c\tDan\n';
  ended(await place(text).prepare(), 13);
  expect(rowsIn((await place(text).prepare('--no-quotes')).stdout)).toEqual(['1-a,,,', '2-b,,,', '3-c,,,']);
});

it.each([
  ['an address', `token,address\n${A},"Street 1\n12345, Berlin"\n`],
  ['a text with as many commas', `token,note,expiry\n${A},"a\nb, c, d\ne",05/29\n`],
  ['a text in the first column', `note,token\n"Dear Ann\nwith love",${A}\n`],
  ['a text in the first column that begins like a row', `note,token\n"Ann, ${B},\nwith love",${A}\n`],
  ['a text with blanks beside tokens that are no UUIDs', 'token,note\nt-1,"Dear Ann\nwith love, Bob"\n'],
])('svc au prepare reads a quoted cell of several lines without a question: %s', async (_, text) => {
  const { stdout } = succeeded(await place(text).prepare());
  expect(rowsIn(stdout)).toHaveLength(1);
});

it('svc au prepare names --no-quotes where a quote is never closed', async () => {
  const refused = await place(`token\tcustomer\n${A}\t"Monitor\n${B}\tDan\n`).prepare();
  expect(errorIn(refused)['hint']).toContain('add --no-quotes');
});

it.each([
  ['tokens that are UUIDs', `${A},Ann Smith,05/29\n${B},Bob,06/29\n`, ' token,-,expiration'],
  ['other tokens, with dates', 'tok_1,Ann Smith,05/29\n', ' token,-,expiration'],
  ['a month and a year', `Ann Smith,${A},5,2029\n`, '=-,token,month,year'],
  ['numbers', '17,Ann Smith,9,99\n', ' token,-,-,-'],
])(
  'svc au prepare shows no cell of an export without a header, and reads it with --columns: %s',
  async (_, text, columns) => {
    ended(await place(text).prepare('--map', 'merchant_id=shop'), 13, {
      stdout: '',
      error: {
        message: 'export.csv: the file has no header line',
        next: `svc au prepare export.csv --columns${columns}`,
      },
      unsaid: 'Ann',
    });
  },
);

it('svc au prepare --columns reads an export without a header, its first row too, and keeps columns by their names', async () => {
  const { prepare, read } = place(`${A};05;29;M-1;Ann\n${B};6;2029;M-2;Bob\n`);
  const words = ['--columns', 'token,month,year,merchant,customer', '--keep', 'customer', '--out', 'tokens.csv'];
  succeeded(await prepare(...words));
  expect(rowsIn(read('tokens.csv'))).toEqual([`${A},29,05,M-1`, `${B},29,06,M-2`]);
  expect(rowsIn(read('tokens.keep.csv'))).toEqual([`1,${A},Ann`, `2,${B},Bob`]);
  ended(await prepare('--columns', 'token,month'), 13, {
    error: { message: 'the first row has 5 cells, and --columns names 2' },
  });
  ended(await prepare('--columns', 'month,year'), 2);
});

it.each([
  ['above a row with a merchant of that name', `${A},31,05,\ncus2,31,05,Token\n${C},31,05,M\n`],
  ['in the first row', 'cus1,31,05,Token\ncus2,31,05,Token\n'],
  ['in a later row', 'cus1,31,05,\ncus2,31,05,token\n'],
])('svc au prepare --columns makes neither title nor header of a row: the word token is %s', async (_, text) => {
  const words = ['--columns', 'token,year,month,merchant', '--accept', 'tokens'];
  expect(
    succeeded(await place(text).prepare(...words))
      .stdout.split('\n')
      .slice(1)
      .join('\n'),
  ).toBe(text);
});

it('svc au prepare --columns makes no row of a header whose tokens it names in another column', async () => {
  ended(await place(`id,token,last\n${A},x,1\n`).prepare('--columns', 'token,-,-'), 13, {
    stdout: '',
    error: { message: 'the first row names the tokens in another column than --columns' },
  });
});

it('svc au prepare takes no empty cell for the name of a token column that is a sign', async () => {
  const words = ['--map', 'token=#', '--columns', 'expiration,#'];
  const refused = ended(await place(`05/29,\n06/29,${B}\n`).prepare(...words), 13);
  expect(errorIn(refused)['problems']).toMatchObject([{ line: 1, rule: 'token_empty' }]);
});

it('svc au prepare takes no row with a token for a title', async () => {
  ended(await place(`${A},31,05,\ncus2,31,05,Token\n${C},31,05,M\n`).prepare('--accept', 'tokens'), 13, {
    stdout: '',
    error: { message: 'export.csv: the file has no header line' },
  });
});

it('svc au prepare tells columns of the same name apart with --columns, which replaces the header', async () => {
  const { prepare } = place(`token,token,expiry\n${A},x,05/29\n`);
  const refused = await prepare();
  expect(errorIn(refused)['next']).toBe('svc au prepare export.csv --columns token,-,expiry');
  expect(rowsIn((await prepare('--columns', 'token,-,expiry')).stdout)).toEqual([`${A},29,05,`]);
});

it.each([
  ['a line with the separator', `sep=;\r\ntoken;expiry\r\n${A};05/29\r\n`],
  ['a line with a type', `#TYPE System.Data.DataRow\n"token","expiry"\n"${A}","05/29"\n`],
  ['a title', `Cards of October\n\ntoken,expiry\n${A},05/29\n`],
  ['a title with empty cells', `Cards of October;;\n;;\ntoken;expiry;name\n${A};05/29;Ann\n`],
])('svc au prepare finds the header below %s, and says that lines were left out', async (_, text) => {
  const { stdout, stderr } = succeeded(await place(text).prepare());
  expect(rowsIn(stdout)).toEqual([`${A},29,05,`]);
  expect(stderr).toContain('lines above the header left out:');
});

it('R40: svc au prepare refuses a card number in a title', async () => {
  ended(await place(`Report\nCard 4111111111111111\ntoken,expiry\n${A},05/29\n`).prepare(), 13, {
    error: { message: expect.stringMatching(/^export\.csv, line 2: /) },
    unsaid: SHOWN_DIGITS,
  });
});

it.each([
  ['psql', ` token | expiry\n-------+--------\n ${A} | 05/29\n`],
  ['mariadb', `+-------+\n| token |\n+-------+\n| ${A} |\n+-------+\n`],
  ['sqlite3', `┌───────┐\n│ token │\n├───────┤\n│ ${A} │\n└───────┘\n`],
])('svc au prepare recognizes a table that %s draws for people, and refuses it', async (_, text) => {
  ended(await place(text).prepare(), 13, {
    error: { message: expect.stringMatching(/^export\.csv, line \d: a table drawn for people, not CSV$/) },
  });
});

it.each(['\u001A', '\u001A\r\n', '\0\0\0'])('svc au prepare reads an export that ends with %j', async (end) => {
  const text = `token,expiry\r\n${A},05/29\r\n`;
  expect(rowsIn((await place(text + end).prepare()).stdout)).toEqual([`${A},29,05,`]);
});

it.each([
  [
    'one cell less, as R writes row names',
    `"token","expiry","mid"\n"1","${A}","05/29","M-1"\n"2","${B}","06/29","M-2"\n`,
    3,
    4,
    '-,token,expiry,mid',
  ],
  ['one cell more', `token,expiry,mid,\n${A},05/29,M-1\n${B},06/29,M-2\n`, 4, 3, 'token,expiry,mid'],
  ['one name in front more', `row,token,expiry,mid\n${A},05/29,M-1\n${B},06/29,M-2\n`, 4, 3, 'token,expiry,mid'],
])(
  'svc au prepare says that the header is wrong and reads the rows with --columns, where it has %s',
  async (_, text, columns, cells, names) => {
    const { prepare } = place(text);
    ended(await prepare(), 13, {
      stdout: '',
      error: {
        message: `export.csv: line 1 is a header with ${columns} columns, and each row has ${cells} cells`,
        next: `svc au prepare export.csv --columns${names.startsWith('-') ? '=' : ' '}${names}`,
      },
    });
    const next = succeeded(await prepare(`--columns=${names}`));
    expect(rowsIn(next.stdout)).toEqual([`${A},29,05,M-1`, `${B},29,06,M-2`]);
  },
);

it('svc au prepare keeps kept columns in the command for a header with one cell less', async () => {
  const { prepare, read } = place(`customer,token,expiry\n1,Ann,${A},05/29\n2,Bob,${B},06/29\n`);
  const words = ['--keep', 'customer', '--out', 'tokens.csv'];
  const refused = errorIn(await prepare(...words, '--columns', 'customer,token,expiration'));
  expect(refused['message']).toBe('export.csv: --columns names 3 columns, and each row has 4 cells');
  expect(refused['next']).toMatch(
    /^svc au prepare export\.csv .*--keep customer .*--columns=-,customer,token,expiration$/,
  );
  expect(refused['next']).not.toContain('--columns customer');
  const named = ['--keep', 'customer', '--columns=-,customer,token,expiration', '--out', 'tokens.csv'];
  succeeded(await prepare(...named));
  expect(rowsIn(read('tokens.keep.csv'))).toEqual([`1,${A},Ann`, `2,${B},Bob`]);
});

it('svc au prepare keeps a column whose name is a short word in the command for a header with one cell less', async () => {
  const { cwd, prepare, read } = place(`token,expiry,merchant,"Name, first"\n${A},05/29,a,Ann,x\n`);
  const words = ['--keep', 'merchant', '--keep', 'Name, first', '--no-merchant', '--out', 'tokens.csv'];
  const { next_words: next } = errorIn(await prepare(...words)) as { next_words: readonly string[] };
  succeeded(await svcHere(next.slice(1), { cwd, home: cwd }));
  expect(rowsIn(read('tokens.csv'))).toEqual([`${A},29,05,`]);
  expect(read('tokens.keep.csv')).toBe(`row,token,merchant,"Name, first"\n1,${A},a,Ann\n`);
});

it('svc au prepare refuses --columns with a quote that is not closed', async () => {
  ended(await place(`${A},05/29\n`).prepare('--columns', 'token,"expiry'), 2, 'must be names with commas between them');
});

it('svc au prepare sends a merchant that it also keeps only if it is named', async () => {
  const { prepare } = place(`${A},M-1\n${A},M-2\n${B},M-1\n${B},M-2\n`);
  const words = ['--columns', 'token,merchant', '--keep', 'merchant', '--out', 'tokens.csv'];
  expect(errorIn(ended(await prepare(...words), 13))['next']).toContain('--map merchant_id=merchant');
});

it.each([
  ['columns of the same name below a title', [], `Cards;;\ntoken;mid;mid\n${A};M-1;x\n`, [`${A},,,M-1`]],
  ['a header with one cell less below a title', [], `Cards\ntoken,expiry\n1,${A},05/29\n`, [`${A},29,05,`]],
  ['columns of the same name beside a mapped one', ['token=card'], `card,mid,mid\n${A},M-1,x\n`, [`${A},,,M-1`]],
  ['a mapped name and one cell less', ['token=Card'], `card,expiry\n1,${A},05/29\n`, [`${A},29,05,`]],
  [
    'mapped names that are short words too',
    ['token=card', 'expiration_month=month', 'expiration_year=year'],
    `card,month,year,mid,mid\n${A},05,29,M-1,x\n`,
    [`${A},29,05,M-1`],
  ],
  ['a name with a comma', ['expiration=End, Date'], `token,"End, Date"\n${A},05/29,x\n`, [`${A},29,05,`]],
  ['the tokens below a name with a comma', ['token=Card, id'], `"Card, id",expiry\n1,${A},05/29\n`, [`${A},29,05,`]],
  [
    'no header, and the word token in a row',
    ['token=card'],
    `${A},token,M-1\n${B},token,M-1\n`,
    [`${A},,,`, `${B},,,`],
  ],
])(
  'svc au prepare names a command with --columns that makes rows of the rows alone: %s',
  async (_, maps, text, rows) => {
    const { cwd, prepare } = place(text);
    const refused = ended(await prepare(...maps.flatMap((each) => ['--map', each])), 13);
    const { next_words: words } = errorIn(refused) as { next_words: readonly string[] };
    expect(words.join(' ')).toContain('--columns');
    expect(rowsIn(succeeded(await svcHere(words.slice(1), { cwd, home: cwd })).stdout)).toEqual(rows);
  },
);

it('svc au prepare proposes one column of the expiration in place of two', async () => {
  const { prepare } = place(`token,y,m,end\n${A},29,05,05/29\n`);
  const words = ['--map', 'expiration_year=y', '--map', 'expiration_month=m', '--map', 'expiration=end'];
  expect(errorIn(await prepare(...words))['next']).toBe('svc au prepare export.csv --map expiration=NAME');
});

it('svc au prepare blames a row that alone has another number of cells, not the header', async () => {
  const refused = await place(`token,expiry\n${A},05/29\n${B},06/29,x\n`).prepare();
  expect(errorIn(refused)['message']).toBe('export.csv is refused: 1 problem');
});
