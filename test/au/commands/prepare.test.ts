import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inspectCell } from '../../../src/base/security/card-number.ts';
import { ended, errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id';

const EXPORT = [
  '\uFEFFcard_id;name;valid_to;mid',
  ' a1 ;"Bob; Jr";05/2027;M1',
  'b;Al;2028-11-30 00:00:00;"M;2"',
  '',
  ';;;',
  'b;Al;1/29;"M;2"',
  'c;"two',
  'lines";0329;',
  'd;;;',
  '',
].join('\r\n');

const MAP = ['--map', 'token=card_id', '--map', 'expiration=valid_to'];

/** Writes an export to a new directory, and returns a function that prepares it there. */
function withExport(text: string | Buffer = EXPORT) {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'export.csv'), text);
  const prepare = (...options: string[]) => svcHere(['au', 'prepare', 'export.csv', ...options], { cwd, home: cwd });
  return { cwd, prepare, read: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}

it('svc au prepare turns an export into a request file, and reports each kind of change with its rows and lines', async () => {
  const { prepare } = withExport();
  const { stderr } = ended(await prepare(...MAP), 0, {
    stdout: `${HEADER}\na1,27,05,M1\nb,29,01,M;2\nc,29,03,\nd,,,\n`,
  });
  expect(stderr.split('\n')).toEqual([
    '4 rows prepared',
    '  columns: token is card_id, expiration is valid_to, merchant_id is mid; left out: name',
    '  tokens: none of 4 is a UUID: a, a9',
    '  merchants: 2; 2 rows without one',
    '  expirations: 2027-05 to 2029-03; 1 row without one',
    `  changes: ${[
      'spaces around cells removed: 1 row (line 2)',
      'rows with a token and merchant from above dropped: 1 row (line 6)',
      'rows of these whose expiration was taken, because it is later: 1 row (line 6)',
    ].join('; ')}`,
    '',
  ]);
});

it('svc au prepare --out writes a private file that svc au check accepts, and replaces it only with --force', async () => {
  const { cwd, prepare, read } = withExport();
  ended(await prepare(...MAP, '--out', 'tokens.csv'), 0, 'svc au submit tokens.csv', {
    row: { file: 'tokens.csv', rows: 4, changes: { repeated_tokens: 1, blank_lines: 2 }, columns_left_out: 1 },
  });
  expect(statSync(join(cwd, 'tokens.csv')).mode & 0o777).toBe(0o600);
  succeeded(await svcHere(['au', 'check', join(cwd, 'tokens.csv')]));
  const before = read('tokens.csv');
  ended(await prepare(...MAP, '--out', 'tokens.csv'), 2);
  succeeded(await prepare(...MAP, '--out', 'tokens.csv', '--force'));
  expect(read('tokens.csv')).toBe(before);
});

it('svc au prepare reads standard input, and refuses it when it is empty', async () => {
  const { stdout } = await svcHere(['au', 'prepare', '-', ...MAP], { input: EXPORT });
  expect(stdout).toContain('\nc,29,03,\n');
  ended(await svcHere(['au', 'prepare', '-'], { input: '' }), 13, { error: { message: 'standard input is empty' } });
  expect(errorIn(await withExport('').prepare())['message']).toBe('export.csv is empty');
});

it('svc au prepare copies a valid request file unchanged', async () => {
  const text = `${HEADER}\na,27,01,M1\nb,,,\n`;
  const { stdout, stderr } = await withExport(text).prepare();
  expect(stdout).toBe(text);
  expect(stderr.split('\n')).toEqual([
    '2 rows prepared',
    '  tokens: none of 2 is a UUID: a',
    '  merchants: 1; 1 row without one',
    '  expirations: 2027-01; 1 row without one',
    '',
  ]);
});

it('svc au prepare recognizes well-known column names in any order and spelling', async () => {
  const { stdout } = await withExport('Exp Month\tMID\tcardTokenId\tExpYear\n1\tM\tt\t2027\n').prepare();
  expect(stdout).toBe(`${HEADER}\nt,27,01,M\n`);
});

it.each([
  ['no token column', 'card_id,exp\na,01/27\n', [], 'no column is known to contain the tokens', 'token=NAME'],
  ['two token columns', 'token,token_id\na,b\n', [], 'more than one column may be token', 'token=token'],
  ['--map names a missing column', 'token,x\na,b\n', ['merchant_id=y'], 'has the columns token, x', 'merchant_id=NAME'],
  [
    'the expiration is both in one column and in two',
    'token,exp,exp_year\na,,\n',
    [],
    'both in one column and in separate columns',
    'expiration=NAME',
  ],
])('svc au prepare suggests --map when it cannot identify a column: %s', async (_, text, map, words, next) => {
  const { prepare } = withExport(text);
  ended(await prepare(...map.flatMap((one) => ['--map', one])), 13, words, {
    stdout: '',
    error: { next: `svc au prepare export.csv --map ${next}` },
  });
});

it('svc au prepare accepts an export without an expiration column, and lists the columns that it found', async () => {
  const { prepare } = withExport('token,card_end,customer\na,05/28,C\n');
  ended(
    await prepare('--no-expiration'),
    0,
    '  columns: none is the expiration; left out: card_end, customer\n',
    '  expirations: none, the service uses what each token stores\n',
    { stdout: `${HEADER}\na,,,\n` },
  );
  expect((await prepare('--map', 'expiration=card_end')).stderr).not.toContain('none is the expiration');
});

it.each(['utf16le', 'utf16be'])('svc au prepare reads %s with and without a byte order mark', async (encoding) => {
  for (const mark of ['', '\uFEFF']) {
    const little = Buffer.from(`${mark}token;name;exp\r\na;Müller;05/28\r\n`, 'utf16le');
    const { prepare } = withExport(encoding === 'utf16le' ? little : little.swap16());
    expect((await prepare()).stdout).toBe(`${HEADER}\na,28,05,\n`);
  }
});

it('svc au prepare reads rows that are not UTF-8 as Windows-1252, but refuses them where that decides what is sent', async () => {
  const lines = ['token,name\n', 'a,M\u00FCller\n', 'b,"\u0080 5\nx"\n', 'c,plain'];
  const mixed = Buffer.concat([...lines.map((line) => Buffer.from(line, 'latin1')), Buffer.from('\nd,Jos\u00E9\n')]);
  const elsewhere = withExport(mixed);
  const { stdout, stderr: said } = await elsewhere.prepare('--keep', 'name', '--out', 'tokens.csv');
  expect(JSON.parse(stdout)).toMatchObject({ rows: 4, changes: { converted_rows: 2 } });
  expect(said).toContain('rows that are not UTF-8 read as Windows-1252: 2 rows (lines 2, 3)');
  expect(elsewhere.read('tokens.keep.csv')).toBe(
    'row,token,name\n1,a,M\u00FCller\n2,b,\u20AC 5 x\n3,c,plain\n4,d,Jos\u00E9\n',
  );
  const { stderr } = ended(await withExport(Buffer.from('token,mid\na,M\u00FCller\n', 'latin1')).prepare(), 13);
  expect(errorIn({ stderr })['problems']).toMatchObject([{ line: 2, rule: 'encoding' }]);
});

it('svc au prepare refuses bytes that would be sent wherever they are, also in a last line without an end', async () => {
  const usual = Array.from({ length: 1000 }, (_, at) => `t-${at},plain\n`);
  const lines = ['token,mid\n', ...usual, 'a,M\u00FCller\n', ...usual.map((line) => `x${line}`), 'b,M\u00FCller'];
  const { stderr } = ended(await withExport(Buffer.from(lines.join(''), 'latin1')).prepare(), 13);
  expect(errorIn({ stderr })['problems']).toMatchObject([{ rule: 'encoding', lines: [1002, 2003] }]);
});

it('svc au prepare reports the lines of ambiguous dates, and accepts these dates with --date-order', async () => {
  const text = 'token,expiration\na,05/06\nb,0506\nc,05/27\nd,12/12\n';
  const { prepare } = withExport(text);
  ended(await prepare(), 13, {
    stdout: '',
    error: {
      hint: expect.stringContaining('--date-order my'),
      problem_count: 2,
      problems: [{ line: 2 }, { line: 3, rule: 'date_order' }],
    },
  });
  expect((await prepare('--date-order', 'my')).stdout).toBe(`${HEADER}\na,06,05,\nb,06,05,\nc,27,05,\nd,12,12,\n`);
  // The third date, 05/27, can only be month and year.
  ended(await prepare('--date-order', 'ym'), 13);
});

it('svc au prepare groups problems by the shape of the cell, lists the first lines of each, and writes no file', async () => {
  const rows = Array.from({ length: 30 }, (_, at) => `t${at},19${at + 10},13\n`);
  const { cwd, prepare } = withExport(`token,exp_year,exp_month\n${rows.join('')},27,01\nt,27\n`);
  ended(await prepare('--out', 'tokens.csv'), 13, {
    error: {
      problem_count: 32,
      problems: [
        { line: 2, rule: 'year', shape: '9999', count: 30, lines: [2, 3, 4] },
        { line: 32, rule: 'token_empty' },
        { line: 33, rule: 'columns', count: 1 },
      ],
    },
  });
  expect(existsSync(join(cwd, 'tokens.csv'))).toBe(false);
  expect(readdirSync(cwd).filter((name) => name.includes('tmp'))).toEqual([]);
});

it('svc au prepare shows on a terminal the shapes of refused dates, never the dates, and the accepted forms', async () => {
  const { prepare } = withExport('token,exp\na,Mrz-29\nb,Okt-31\nc,x\nd,05/06/2027\n');
  const { stderr } = await prepare('--color', 'never', '-o', 'table', '--out', 'tokens.csv');
  expect(stderr.split('\n').slice(0, 4)).toEqual([
    'error: export.csv is refused: 4 problems',
    '  2 rows like "Aaa-99" (lines 2, 3): the expiration is not a month and a year',
    '  line 4, like "a": the expiration is not a month and a year',
    '  line 5, like "99/99/9999": the expiration may be day, month and year (--date-order dmy) or month, day and year (--date-order mdy)',
  ]);
  expect(stderr).toContain('Accepted are 05/27,');
  expect(stderr).not.toMatch(/Mrz|Okt/);
});

it.each([
  ['dmy', '05/06/2027', '27,06'],
  ['mdy', '05/06/2027', '27,05'],
  ['ymd', '27/06/05', '27,06'],
  ['serial', '46538', '27,05'],
])('svc au prepare reads whole dates with --date-order %s', async (order, cell, date) => {
  const { prepare } = withExport(`token,exp\na,${cell}\n`);
  ended(await prepare(), 13, { error: { hint: expect.stringContaining(`--date-order ${order}`) } });
  expect((await prepare('--date-order', order)).stdout).toBe(`${HEADER}\na,${date},\n`);
});

it('svc au prepare reads month names in the month column', async () => {
  const { stdout } = await withExport('token,exp_year,exp_month\na,2027,March\nb,28,SEP\n').prepare();
  expect(stdout).toBe(`${HEADER}\na,27,03,\nb,28,09,\n`);
});

it('svc au prepare does not mistake times with fractions of a second for card numbers', async () => {
  const times = Array.from({ length: 10 }, (_, at) => `2024-01-30 10:00:00.12345${at}`);
  expect(times.filter((time) => inspectCell(time) === 'card_number')).not.toEqual([]);
  const rows = times.map((time, at) => `t${at},${time}\n`).join('');
  const { code, stderr } = await withExport(`token,created\n${rows}`).prepare();
  expect({ code, rows: stderr.split('\n')[0] }).toEqual({ code: 0, rows: '10 rows prepared' });
});

it.each([
  ['in a column that is left out', 'token,note\na,b\nc,4111 1111 1111 1111\n', 3],
  ['in the header', 'token,4111111111111111\na,b\n', 1],
])('R40: svc au prepare refuses a card number %s, and shows its line but not the number', async (_, text, line) => {
  ended(await withExport(text).prepare(), 13, String(line), { stdout: '', unsaid: SHOWN_DIGITS });
});

it('svc au prepare is what svc au check suggests for a file in UTF-16', async () => {
  const { cwd } = withExport(Buffer.from(`${HEADER}\na,27,01,\n`, 'utf16le'));
  ended(await svcHere(['au', 'check', join(cwd, 'export.csv')]), 13, {
    error: { next: expect.stringContaining('svc au prepare') },
  });
});

it('svc au prepare is what svc au check suggests for an export with semicolons, and it makes the file valid', async () => {
  const { cwd } = withExport('token;expiration_year;expiration_month;merchant_id\na;27;01;\n');
  const file = join(cwd, 'export.csv');
  const { stderr } = await svcHere(['au', 'check', file]);
  const next = String(errorIn({ stderr })['next']);
  expect(next).toBe(`svc au prepare ${file} --out ${join(cwd, 'export.prepared.csv')}`);
  succeeded(await svcHere(next.split(' ').slice(1)));
  succeeded(await svcHere(['au', 'check', join(cwd, 'export.prepared.csv')]));
});
