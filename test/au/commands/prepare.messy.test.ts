import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ended, errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id';

function place(...lines: readonly string[]) {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'export.csv'), `${lines.join('\n')}\n`);
  const prepare = (...words: string[]) => svcHere(['au', 'prepare', 'export.csv', ...words], { cwd, home: cwd });
  return { cwd, prepare, read: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}

function rowsIn(text: string): string[] {
  expect(text.startsWith(`${HEADER}\n`)).toBe(true);
  return text.trimEnd().split('\n').slice(1);
}

it('svc au prepare of a messy export takes a quote in a cell that does not begin with one for text', async () => {
  const { prepare, read } = place('token,name,exp', 'a,José "Pepe" García,05/31', 'b,5" tube,06/31');
  succeeded(await prepare('--keep', 'name', '--out', 'tokens.csv'));
  expect(rowsIn(read('tokens.csv'))).toEqual(['a,31,05,', 'b,31,06,']);
  expect(read('tokens.keep.csv')).toContain('1,a,"José ""Pepe"" García"\n');
});

it('svc au prepare of a messy export refuses text after the closing quote of a cell', async () => {
  const refused = ended(await place('token,name', 'a,"x"y').prepare(), 13);
  expect(errorIn(refused)['problems']).toMatchObject([{ line: 2, rule: 'quoting' }]);
});

it('svc au prepare of a messy export leaves out repeated headers and a total, and says where they were', async () => {
  const { prepare } = place('token,exp', 'a,05/31', 'token,exp', 'b,06/31', 'Total,', '', ',');
  const { stdout, stderr } = succeeded(await prepare());
  expect(rowsIn(stdout)).toEqual(['a,31,05,', 'b,31,06,']);
  expect(stderr).toContain('rows that repeat or underline the header left out: 1 row (line 3)');
  expect(stderr).toContain('a last row without a token left out, such as a total: 1 row (line 5)');
});

it.each(['Summe;;250', 'sum;;', ';;17,50', '(2 rows)', '"Grand total";;'])(
  'svc au prepare of a messy export leaves out the last row %s',
  async (last) => {
    const { code, stdout } = await place('token;exp;amount', 'a;05/31;1', 'b;06/31;2', last).prepare();
    expect({ code, rows: code === 0 && rowsIn(stdout) }).toEqual({ code: 0, rows: ['a,31,05,', 'b,31,06,'] });
  },
);

it.each([
  ['c2,05/2', 'columns'],
  ['c2', 'columns'],
  ['c2,05/27,', 'token_empty'],
])('svc au prepare of a messy export refuses an export that is cut off in its last row: %s', async (last, rule) => {
  const { cwd, prepare } = place();
  writeFileSync(join(cwd, 'export.csv'), `cust,exp,token\nc1,05/27,a\n${last}`);
  const refused = ended(await prepare(), 13);
  expect(errorIn(refused)['problems']).toMatchObject([{ line: 3, rule }]);
});

it.each(['Total', 'Total,,', ',Summe,', '(1 row)', '2,,\n'])(
  'svc au prepare of a messy export leaves out the last row %j where the token is the last column',
  async (last) => {
    const { cwd, prepare } = place();
    writeFileSync(join(cwd, 'export.csv'), `cust,exp,token\nc1,05/27,a\n${last}`);
    const { code, stdout } = await prepare();
    expect({ code, rows: code === 0 && rowsIn(stdout) }).toEqual({ code: 0, rows: ['a,27,05,'] });
  },
);

it.each(['Total,,', ',05/31,9'])(
  'svc au prepare of a messy export refuses the row %s where it is not the last',
  async (row) => {
    const refused = ended(await place('token,exp,n', 'a,05/31,1', row, 'b,06/31,2').prepare(), 13);
    expect(errorIn(refused)['problems']).toMatchObject([{ line: 3, rule: 'token_empty', column: 'token' }]);
  },
);

it('R40: svc au prepare of a messy export refuses a card number in a last row without a token', async () => {
  const refused = ended(await place('token,exp,n', 'a,05/31,1', 'Total,,4111111111111111').prepare(), 13);
  expect(errorIn(refused)['problems']).toMatchObject([{ line: 3, rule: 'card_number' }]);
});

it('svc au prepare of a messy export writes rows of one token and merchant once, with the latest expiration', async () => {
  const { prepare } = place('token,exp,mid', 'a,05/31,M', 'b,,M', 'a,04/31,M', 'b,06/31,M', 'a,01/32,M', 'a,02/33,N');
  const { stdout, stderr } = succeeded(await prepare());
  expect(rowsIn(stdout)).toEqual(['a,32,01,M', 'b,31,06,M', 'a,33,02,N']);
  expect(stderr).toContain('rows with a token and merchant from above dropped: 3 rows (lines 4, 5, 6)');
  expect(stderr).toContain('whose expiration was taken, because it is later: 2 rows (lines 5, 6)');
});

it.each([
  'Valid Until',
  'expires',
  'EXPIRY',
  'valid_to',
  'valid till',
  'exp_dt',
  'Ablaufdatum',
  'gueltig bis',
  'Gültig bis',
  'caducidad',
  "Date d'expiration",
  'scadenza',
  'gu\u0308ltig bis',
])('svc au prepare of a messy export knows the column %s as the expiration', async (name) => {
  expect(rowsIn((await place(`token,${name}`, 'a,05/31').prepare()).stdout)).toEqual(['a,31,05,']);
});

it('svc au prepare of a messy export asks for the expiration with both commands where a column looks like one', async () => {
  const { prepare } = place('token,created,card_end,amount', 'a,2024-01-02,05/31,12', 'b,2023-09-30,2031-06-30,7');
  ended(await prepare(), 13, {
    error: {
      message: 'export.csv: no column is known as the expiration, but card_end may be',
      next: 'svc au prepare export.csv --map expiration=card_end',
      alternatives: ['svc au prepare export.csv --no-expiration'],
    },
  });
  expect(rowsIn((await prepare('--map', 'expiration=card_end')).stdout)).toEqual(['a,31,05,', 'b,31,06,']);
  expect(rowsIn((await prepare('--no-expiration')).stdout)).toEqual(['a,,,', 'b,,,']);
});

it.each([
  'merchant',
  'merchant_no',
  'MerchantNumber',
  'Merchant Account',
  'merchantReference',
  'store_id',
  'Shop-Nr.',
  'acquirer mid',
  'Händlernummer',
  'merchant no 2',
])('svc au prepare of a messy export asks for the merchant with both commands where its column is %s', async (name) => {
  const { prepare } = place(`token,${name}`, 'a,M-0', 'a,M-1', 'b,M-0');
  const refused = ended(await prepare(), 13);
  const next = ['au', 'prepare', 'export.csv', '--map', `merchant_id=${name}`];
  expect(errorIn(refused)).toMatchObject({
    message: `export.csv: no column is known as the merchant, but ${name} may be`,
    next_words: ['svc', ...next],
    alternatives: ['svc au prepare export.csv --no-merchant'],
  });
  expect(rowsIn((await prepare(...next.slice(3))).stdout)).toEqual(['a,,,M-0', 'a,,,M-1', 'b,,,M-0']);
  const without = await prepare('--no-merchant', '--accept', 'repeats');
  expect(rowsIn(without.stdout)).toEqual(['a,,,', 'b,,,']);
  expect(without.stderr).toContain('rows with a token and merchant from above dropped: 1 row (line 3)');
  expect(without.stderr).not.toContain('warning');
});

/** The rows of an export in which each card has a row for several merchants. */
function sharedCards(cellOf: (card: number, merchant: number) => string): string[] {
  const at = Array.from({ length: 120 }, (_, row) => [row % 20, Math.floor(row / 20)] as const);
  return at.map(([card, merchant]) => `card-${card},05/31,${cellOf(card, merchant)}`);
}

it.each([
  ['the ids of merchants', 'merchant', ['--no-merchant'], (_: number, merchant: number) => `M-${merchant}`],
  ['the names of merchants', 'merchant', [], (_: number, merchant: number) => `Shop ${merchant}`],
  ['ids under a name that says nothing', 'belongs_to', [], (_: number, merchant: number) => `44556677890${merchant}`],
])(
  'svc au prepare of a messy export drops no rows that a column tells apart unless that is accepted: %s',
  async (_, name, words, cellOf) => {
    const { prepare } = place(`token,expiry,${name}`, ...sharedCards(cellOf));
    ended(await prepare(...words), 13, {
      stdout: '',
      error: {
        message: `export.csv: 100 of 120 rows repeat a token, and the column ${name} tells them apart`,
        next: `svc au prepare export.csv --map merchant_id=${name}`,
        alternatives: [`svc au prepare export.csv ${[...words, '--accept', 'repeats'].join(' ')}`],
      },
    });
    const mapped = await prepare('--map', `merchant_id=${name}`, '--out', 'all.csv');
    expect(JSON.parse(mapped.stdout)).toMatchObject({ rows: 120, dropped: { repeated_tokens: 0 } });
    const accepted = await prepare(...words, '--accept', 'repeats', '--out', 'few.csv');
    expect(JSON.parse(accepted.stdout)).toMatchObject({
      rows: 20,
      dropped: { repeated_tokens: 100, excluded_tokens: 0, refused: 0 },
    });
  },
);

it.each([
  ['another number in each row', 'order_no', (card: number, at: number) => `O-${card}-${at}`],
  ['days', 'paid_on', (_: number, at: number) => `2026-0${at + 1}-01`],
  [
    'months',
    'period',
    (_: number, at: number) => ['Jan-26', 'Feb-26', 'Mar-26', 'Apr-26', 'May-26', 'Jun-26'][at] ?? '',
  ],
  ['amounts', 'amount', (_: number, at: number) => `${at}.99`],
  ['the number of an attempt', 'attempt', (_: number, at: number) => String(at)],
  ['one value for each card', 'country', (card: number) => ['DE', 'FR', 'IT'][card % 3] ?? ''],
  ['one value', 'brand', () => 'visa'],
  ['nothing', 'note', () => ''],
])(
  'svc au prepare of a messy export drops rows that repeat a token without a question where a column has %s',
  async (_, name, cellOf) => {
    const { stdout } = succeeded(await place(`token,expiry,${name}`, ...sharedCards(cellOf)).prepare());
    expect(rowsIn(stdout)).toHaveLength(20);
  },
);

it('svc au prepare of a messy export drops up to one row of a hundred that a column tells apart', async () => {
  const rows = Array.from({ length: 200 }, (_, at) => `card-${at},Shop ${at % 5}`);
  const few = [`card-0,Shop 1`, 'card-1,Shop 2'];
  succeeded(await place('token,merchant', ...rows, ...few).prepare());
  ended(await place('token,merchant', ...rows, ...few, 'card-2,Shop 3').prepare(), 13);
});

it('svc au prepare of a messy export finds a second merchant far below the first one', async () => {
  const rows = Array.from({ length: 2_000 }, (_, at) => `t${at},${at < 1_900 ? 'M-0' : 'M-1'}`);
  ended(await place('token,merchant_no', ...rows).prepare(), 13);
});

it.each([
  ['other facts of a merchant', 'merchant_country', ['DE', 'FR']],
  ["a merchant's name", 'merchant_name', ['Acme', 'Bob']],
  ['the customers of a shop', 'shop_customer_no', ['1', '2']],
  ['a word that contains mid', 'middle_name', ['A', 'B']],
  ['no merchant in any row', 'merchant_no', ['', '']],
])('svc au prepare of a messy export asks for no merchant where a column has %s', async (_, name, cells) => {
  const { stdout, stderr } = succeeded(
    await place(`token,${name}`, `a,${cells[0]}`, `b,${cells[1]}`, `b,${cells[0]}`).prepare(),
  );
  expect(rowsIn(stdout)).toEqual(['a,,,', 'b,,,']);
  expect(stderr).not.toContain('warning');
});

it.each([
  ['one merchant', () => 'M-0'],
  ['one merchant in some rows', (at: number) => (at % 2 === 0 ? 'M-0' : '')],
  ['another reference in each row', (at: number) => `R-${at}`],
])('svc au prepare of a messy export warns, and does not ask, where a column has %s', async (_, cellOf) => {
  const rows = Array.from({ length: 30 }, (__, at) => `t${at},${cellOf(at)}`);
  // A header that is repeated below is no other merchant.
  const { prepare } = place('token,merchant_ref', ...rows, 'token,merchant_ref');
  ended(await prepare('--quiet'), 0, {
    stderr:
      'warning: no merchant is sent, although the column merchant_ref may be the merchant: --map merchant_id=NAME sends it, --no-merchant says that it is not\n',
  });
  expect(await prepare('--quiet', '--no-merchant')).toMatchObject({ code: 0, stderr: '' });
});

it('svc au prepare of a messy export gives no advice on dates where no date is refused', async () => {
  const refused = ended(await place('token,expiration', ',05/31', 'b,06/31').prepare(), 13);
  const hint =
    'Nothing was written. Fix these rows of the export, then run the command again. Or leave these rows out:';
  expect(errorIn(refused)['hint']).toBe(hint);
});

it.each([
  ['merchant_id=shop', '--no-merchant'],
  ['expiration=valid', '--no-expiration'],
  ['expiration_year=valid', '--no-expiration'],
])('svc au prepare of a messy export refuses --map %s with %s', async (choice, absent) => {
  ended(await place('token,shop,valid', 'a,M-0,05/31').prepare('--map', choice, absent), 2, {
    stdout: '',
    error: { message: `--map ${choice} contradicts ${absent}` },
  });
});

it.each([
  ['expiration_month', 'expiration_year', 'token,exp_month,yr', 'yr'],
  ['expiration_year', 'expiration_month', 'token,mon,exp_year', 'mon'],
])('svc au prepare of a messy export refuses %s without %s', async (found, missing, header, name) => {
  const { prepare } = place(header, 'a,12,12');
  ended(await prepare(), 13, {
    stdout: '',
    error: {
      message: expect.stringContaining(`export.csv: a column is known as ${found}, and none as ${missing}`),
      next: `svc au prepare export.csv --map ${missing}=NAME`,
      alternatives: ['svc au prepare export.csv --no-expiration'],
    },
  });
  expect(rowsIn((await prepare('--map', `${missing}=${name}`)).stdout)).toEqual(['a,12,12,']);
  const without = await prepare('--no-expiration');
  expect(rowsIn(without.stdout)).toEqual(['a,,,']);
  expect(without.stderr).toContain('none is the expiration');
});

it('svc au prepare of a messy export names a command without a named half of the expiration', async () => {
  const { prepare } = place('token,mm', 'a,12');
  expect(errorIn(await prepare('--map', 'expiration_month=mm'))).toMatchObject({
    next: 'svc au prepare export.csv --map expiration_month=mm --map expiration_year=NAME',
    alternatives: ['svc au prepare export.csv --no-expiration'],
  });
});

it('svc au prepare of a messy export warns of rows with half of an expiration that are sent so', async () => {
  const { prepare } = place('token,exp_year,exp_month', 'a,31,', 'b,,05', 'c,31,05', 'd,,', 'a,31,06');
  const { stdout, stderr } = succeeded(await prepare('--quiet'));
  expect(rowsIn(stdout)).toEqual(['a,31,06,', 'b,,05,', 'c,31,05,', 'd,,,']);
  expect(stderr).toBe(
    'warning: 1 row (line 3) has a year without a month, or a month without a year: the service takes the other half from the token\n',
  );
});

it('svc au prepare of a messy export reads spreadsheet dates beside others with --date-order dmy,serial', async () => {
  const { prepare } = place('token,exp', 'a,01/06/2031', 'b,46538');
  expect(errorIn(await prepare('--date-order', 'dmy'))['hint']).toContain('--date-order dmy,serial');
  const once = await prepare('--date-order', 'dmy,serial');
  expect(rowsIn(once.stdout)).toEqual(['a,31,06,', 'b,27,05,']);
  expect((await prepare('--date-order', 'serial', '--date-order', 'dmy')).stdout).toBe(once.stdout);
  ended(await prepare('--date-order', 'dmy,x'), 2);
});

it('svc au prepare of a messy export says how many rows to leave out, and the next attempt replaces its rejects', async () => {
  const { prepare, read } = place('token,exp', 'a,05/31', 'b,soon', 'c,later');
  expect(errorIn(await prepare())['next']).toMatch(/ --rejects rejected\.csv --max-rejects 2$/);
  const words = ['--rejects', 'r.csv', '--out', 'tokens.csv'];
  const refused = await prepare(...words);
  expect(errorIn(refused)['hint']).toMatch(/^Only r\.csv was written; /);
  expect(errorIn(refused)['next']).toMatch(/ --rejects r\.csv --out tokens\.csv --max-rejects 2$/);
  succeeded(await prepare(...words, '--max-rejects', '2'));
  expect(read('r.csv').split('\n')).toHaveLength(4);
  expect(rowsIn(read('tokens.csv'))).toEqual(['a,31,05,']);
});
