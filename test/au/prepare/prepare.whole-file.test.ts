import { expect, it } from 'vitest';
import { ended, errorIn, succeeded } from '../../support/run-here.ts';
import {
  COUNT,
  HEADER,
  type Placed,
  type Row,
  merchantOf,
  place,
  placeText,
  right,
  rowsOf,
  uuid,
} from './whole-file.ts';

async function refusalOf({ prepare }: Placed, ...options: string[]) {
  const result = await prepare(...options);
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code: 13, stdout: '' });
  return errorIn(result);
}
const hasGap = (at: number): boolean => at % 8 === 3;
const withGaps = (at: number): string => (hasGap(at) ? '' : merchantOf(at));

it.each(['\\N', '(null)', '(error)', '#N/A', '#REF!', '#VALUE!', '<NA>', '-----', '[NULL]'])(
  'R93: a bare %s in place of a merchant or a date is empty, and counted',
  async (mark) => {
    const exported = place(({ at, token, yy, mm }) => [
      token,
      at === 5 ? mark : `${mm}/${yy}`,
      hasGap(at) ? mark : merchantOf(at),
    ]);
    const expected = right(withGaps).map((row, at) => (at === 5 ? `${uuid(5)},,,${withGaps(5)}` : row));
    expect(await rowsOf(exported)).toEqual(expected);
    expect((await exported.prepare()).stderr).toContain('marks for nothing, such as NULL, left empty: 6 rows');
  },
);

it.each(['NULL', 'null', 'NA', 'N/A', 'None', 'nan', 'undefined', '-'])(
  'R93: a bare %s in place of a merchant stops until the operator says what it is',
  async (word) => {
    const exported = place(({ at, token, yy, mm }) => [token, `${mm}/${yy}`, hasGap(at) ? word : merchantOf(at)]);
    const { message, problems, next, alternatives } = await refusalOf(exported);
    expect(message).toBe('export.csv is refused: 1 problem');
    expect(JSON.stringify(problems)).toContain(
      `5 rows (lines 5, 13, 21, …) have the merchant ${word}: nothing, or a name?`,
    );
    expect([next, alternatives]).toEqual([
      `svc au prepare export.csv --empty ${word === '-' ? '-' : word}`,
      ['svc au prepare export.csv --no-empty'],
    ]);
    expect(await rowsOf(exported, '--empty', word)).toEqual(right(withGaps));
    expect(await rowsOf(exported, '--no-empty')).toEqual(right((at) => (hasGap(at) ? word : merchantOf(at))));
  },
);

it('R93: a bare NA beside quoted merchants is empty, and a quoted one is a name', async () => {
  const bare = place(({ at, token, yy, mm }) => [
    `"${token}"`,
    `"${mm}/${yy}"`,
    hasGap(at) ? 'NA' : `"${merchantOf(at)}"`,
  ]);
  expect(await rowsOf(bare)).toEqual(right(withGaps));
  const quoted = place(({ at, token, yy, mm }) => [token, `${mm}/${yy}`, hasGap(at) ? '"NA"' : merchantOf(at)]);
  expect(await rowsOf(quoted)).toEqual(right((at) => (hasGap(at) ? 'NA' : merchantOf(at))));
});

it('R93: a mark in place of a token is a problem of its row, and kept columns stay as they are', async () => {
  const marked = place(({ at, token, yy, mm }) => [hasGap(at) ? 'NULL' : token, `${mm}/${yy}`, 'M-1']);
  expect((await refusalOf(marked, '--no-empty'))['problems']).toMatchObject([{ column: 'token', count: 5 }]);
  const kept = place(({ token, yy, mm }) => [token, `${mm}/${yy}`, 'NULL'], 'token,expiration,customer', 2);
  const { code, stdout } = await kept.prepare('--keep', 'customer', '--out', 'tokens.csv');
  expect({ code, kept: JSON.parse(stdout).keep_file }).toEqual({ code: 0, kept: 'tokens.keep.csv' });
  expect(kept.read('tokens.keep.csv')).toBe(`row,token,customer\n1,${uuid(0)},NULL\n2,${uuid(1)},NULL\n`);
});

it('R93: a line of dashes below the header is left out', async () => {
  const exported = placeText(`token,expiration,merchant_id\n------,------,-----\n${uuid(1)},06/27,M-1\n`);
  expect(await rowsOf(exported)).toEqual([`${uuid(1)},27,06,M-1`]);
});

it.each([
  ['the day is the year, year first', ({ yy, mm }: Row) => `2026/${mm}/${yy}`, '06/26', '06/27'],
  ['the day was taken for the year', ({ yy, mm }: Row) => `2030-${mm}-${yy}`, '06/30', '06/27'],
  ['a month, a day and a year', ({ yy, mm }: Row) => `${mm}/${yy}/26`, '06/26', '06/27'],
])('R93: full dates in the middle of months stop with both readings: %s', async (_, date, read, meant) => {
  const exported = place((row) => [row.token, date(row), 'M-1']);
  const { problems, next } = await refusalOf(exported);
  expect(JSON.stringify(problems)).toContain(`line 2 is read as ${read}, and is ${meant} if its day is the year`);
  expect(next).toBe('svc au prepare export.csv --accept days');
  expect((await rowsOf(exported, '--accept', 'days'))[0]).toMatch(`${uuid(0)},`);
});

/** Midnight of a day in Berlin, as a program writes it in UTC. */
function berlinMidnight({ yy, mm }: Row, isLast: boolean): string {
  const local = Date.UTC(2000 + Number(yy), Number(mm) - (isLast ? 0 : 1), isLast ? 0 : 1);
  // Summer time ends on the last Sunday of October.
  const isSummer = Number(mm) >= 4 && (isLast ? Number(mm) <= 9 : Number(mm) <= 10);
  return new Date(local - (isSummer ? 2 : 1) * 3_600_000).toISOString();
}

it('R93: local midnights that were written in UTC stop until the operator names the calendar', async () => {
  const exported = place((row) => [row.token, berlinMidnight(row, false), merchantOf(row.at)]);
  const { problems, next, alternatives } = await refusalOf(exported);
  expect(JSON.stringify(problems)).toContain('line 2 is 05/27 as it is written, and 06/27 in another one');
  expect([next, alternatives]).toEqual([
    'svc au prepare export.csv --date-zone Europe/Berlin',
    ['svc au prepare export.csv --date-zone utc'],
  ]);
  expect(await rowsOf(exported, '--date-zone', 'Europe/Berlin')).toEqual(right(merchantOf));
  expect((await rowsOf(exported, '--date-zone', 'utc'))[0]).toBe(`${uuid(0)},27,05,M-1`);
  ended(await exported.prepare('--date-zone', 'Mars'), 2);
  const spaced = placeText(`token,expiration\n${uuid(1)},2028-02-29 23:00:00+00\n`);
  expect((await refusalOf(spaced))['checks']).toEqual(['zone']);
  const last = place((row) => [row.token, berlinMidnight(row, true), merchantOf(row.at)]);
  expect(await rowsOf(last, '--date-zone', 'Europe/Berlin')).toEqual(right(merchantOf));
});

it.each(['2027.1', '2027,1', '27.1'])('R93: %s may have lost a zero, and is refused', async (date) => {
  const { problems } = await refusalOf(placeText(`token;expiration\n${uuid(1)};${date}\n`));
  expect(JSON.stringify(problems)).toContain('January, or October without its zero');
});

it('R93: a year and a month that were read as numbers lose their zeros behind the point', async () => {
  const split = place(({ token, yy, mm }) => [token, `20${yy}.0`, `${Number(mm)}.0`], 'token,exp_year,exp_month');
  expect(await rowsOf(split)).toEqual(right(() => ''));
  const joined = place(({ token, yy, mm }) => [token, `${Number(mm)}${yy}.0`], 'token,expiration');
  expect(await rowsOf(joined)).toEqual(right(() => ''));
});

it.each([
  ['30-JUN-27 12.00.00 AM', ['--date-order', 'dmy']],
  ["'2027-06-30'", []],
  ['="06/27"', []],
])('the expiration %s is June 2027', async (date, options) => {
  expect(await rowsOf(placeText(`token;expiration\n${uuid(1)};${date}\n`), ...options)).toEqual([`${uuid(1)},27,06,`]);
});

it('R93: full dates of the year 2001, as csvkit makes them of a month and a year, are problems of their rows', async () => {
  const { problems } = await refusalOf(place(({ token, yy, mm }) => [token, `2001-${mm}-${yy}`, 'M-1']));
  expect(problems).toMatchObject([{ rule: 'years', count: COUNT }]);
});

it('R93: a placeholder in place of an expiration is a problem of its row, counted and accepted by name', async () => {
  for (const date of ['12/99', '01/00']) {
    const exported = place(({ at, token, yy, mm }) => [token, at === 7 ? date : `${mm}/${yy}`, 'M-1']);
    const { problems, hint } = await refusalOf(exported);
    expect(problems).toMatchObject([{ line: 9, rule: 'years', count: 1 }]);
    expect(hint).toContain('If they are meant so, add --accept years.');
    expect(await rowsOf(exported, '--accept', 'years')).toHaveLength(COUNT);
  }
});

it('R93: a file most of whose cards expired long ago stops, and one with some of them does not', async () => {
  const old = place(({ token, mm }) => [token, `${mm}/20`, 'M-1']);
  const { problems, next } = await refusalOf(old);
  expect(JSON.stringify(problems)).toContain('40 of 40 cards expired more than 24 months ago');
  expect(next).toBe('svc au prepare export.csv --accept past');
  const some = place(({ at, token, yy, mm }) => [token, at % 3 === 0 ? '05/20' : `${mm}/${yy}`, 'M-1']);
  expect(await rowsOf(some)).toHaveLength(COUNT);
  expect((await some.prepare()).stderr).toContain('14 past');
  expect(await rowsOf(place(({ token, mm }) => [token, `${mm}/20`, 'M-1'], undefined, 19))).toHaveLength(19);
});

it('R93: a row that is repeated with a later expiration is judged by the expiration that is sent', async () => {
  const twice = place(({ at, mm }) => [uuid(Math.trunc(at / 2)), at % 2 === 0 ? `15/${mm}/20` : `${mm}/31`, 'M-1']);
  const { code, stdout, stderr } = await twice.prepare('--date-order', 'dmy', '--out', 'tokens.csv');
  expect({ code, ...JSON.parse(stdout).expirations }).toEqual({
    code: 0,
    from: '2031-01',
    to: '2031-11',
    rows: 20,
    past: 0,
    far_ahead: 0,
  });
  expect(stderr).toContain('because it is later: 20 rows');
  const steps = placeText(`token,expiration\n${uuid(1)},01/29\n${uuid(1)},02/30\n${uuid(1)},03/31\n`);
  expect((await steps.prepare()).stderr).toContain('because it is later: 1 row (line 4)');
});

it.each(['99,,', '99,,M-1', '00,,', '"99","",'])(
  'R93: svc au check refuses an implausible year without a month: %s',
  async (cells) => {
    const { run, path } = placeText(`${HEADER}\n${uuid(1)},27,06,M-1\n${uuid(2)},${cells}\n`);
    ended(await run('au', 'check', path), 13, { error: { problems: [{ line: 3, rule: 'years' }] } });
  },
);

it('svc au prepare refuses a merchant that makes a line too long for a request', async () => {
  const long = placeText(`${HEADER}\n${uuid(1)},27,06,${'m'.repeat(17_000)}\n`);
  expect((await refusalOf(long))['problems']).toMatchObject([{ line: 2, rule: 'line_too_long' }]);
});

it.each([
  ['\r', 'lines end with carriage returns alone: end them with line feeds'],
  ['', 'the line is longer than 16384 bytes; are the line ends missing?'],
])('svc au prepare blames the line ends %j of a long export, and no card number', async (end, problem) => {
  const rows = Array.from({ length: 500 }, (_, at) => `${uuid(at)},27,06,M-1${end}`);
  const refused = await refusalOf(placeText(`${HEADER}${end}${rows.join('')}`));
  expect(refused['message']).toMatch(new RegExp(`line 1: ${problem.replace('?', String.raw`\?`)}$`));
});

it('R93: svc au check shows the lines of a finding behind many accepted ones', async () => {
  const rows = Array.from({ length: 25 }, (_, at) => `${uuid(at)},27,06,NULL\n`);
  const { run, path } = placeText(`${HEADER}\n${rows.join('')}${uuid(25)},27,06,4.4E+14\n`);
  ended(await run('au', 'check', path, '--accept', 'marks'), 13, {
    error: { problem_count: 1, problems: [{ line: 27, rule: 'numbers' }] },
  });
  const both = errorIn(ended(await run('au', 'check', path), 13));
  expect([both['problem_count'], both['problems']]).toMatchObject([26, { length: 20 }]);
});

it.each([
  ['05/2099', 'M-1', ['--accept', 'years'], 'years'],
  ['05/2031', '"NULL"', [], 'marks'],
  ['05/2031', 'NA', ['--no-empty'], 'marks'],
  ['05/2031', '4.4E+14', ['--accept', 'numbers'], 'numbers'],
])(
  'R93: svc au prepare names the command that submits what was accepted: %s, %s, %s',
  async (date, merchant, options, check) => {
    const exported = placeText(`token,expiration,merchant_id\n${uuid(1)},${date},${merchant}\n`);
    const { stderr } = succeeded(await exported.prepare(...options, '--out', 'tokens.csv'));
    expect(stderr).toContain(`svc au submit tokens.csv --accept ${check}\n`);
    succeeded(await exported.run('au', 'check', exported.path.replace('export.csv', 'tokens.csv'), '--accept', check));
  },
);

it('R93: svc au prepare names a submission that accepts old cards and other tokens, and nothing that it did not find', async () => {
  const old = place(({ at, token, mm }) => [at === 7 ? 'tok-7' : token, `${mm}/20`, 'M-1']);
  const words = ['--accept', 'past', '--accept', 'tokens', '--accept', 'years', '--out', 'tokens.csv'];
  expect((await old.prepare(...words)).stderr).toContain('svc au submit tokens.csv --accept tokens --accept past\n');
});

it('R93: swapped columns of year and month are named', async () => {
  const swapped = place(({ token, yy, mm }) => [token, mm, yy], 'token,exp_year,exp_month');
  expect(JSON.stringify((await refusalOf(swapped))['problems'])).toContain('are the two columns swapped?');
});

it.each([
  ["'…'", (token: string) => `'${token}'`],
  ['an apostrophe', (token: string) => `'${token}`],
  ['="…"', (token: string) => `="${token}"`],
  ['="…" as CSV', (token: string) => `"=""${token}"""`],
  ['quotes in quotes', (token: string) => `"""${token}"""`],
  ['backticks', (token: string) => `\`${token}\``],
  ['typographic quotes', (token: string) => `“${token}”`],
  ['braces', (token: string) => `{${token.toUpperCase()}}`],
  ['urn:uuid:', (token: string) => `urn:uuid:${token}`],
  ['an address', (token: string) => `https://vault.example/tokens/${token}`],
  ['other dashes', (token: string) => token.replaceAll('-', '\u2011')],
  ['dashes of a text', (token: string) => token.replaceAll('-', '–')],
])('R93: %s around tokens are taken off and counted', async (_, wrap) => {
  const exported = place(({ at, token, yy, mm }) => [wrap(token), `${mm}/${yy}`, merchantOf(at)]);
  expect((await rowsOf(exported)).map((row) => row.toLowerCase())).toEqual(
    right(merchantOf).map((row) => row.toLowerCase()),
  );
  const { stderr } = await exported.prepare();
  const isFormula = wrap('').includes('=');
  expect(stderr.includes('quotes, braces or an address around tokens removed: 40 rows')).toBe(!isFormula);
});

it('R93: plain quotes around merchants are taken off and counted, and what stands within them is a name', async () => {
  const exported = place(({ at, token, yy, mm }) => [token, `${mm}/${yy}`, hasGap(at) ? "'NULL'" : "'O''Brien-1'"]);
  expect(await rowsOf(exported)).toEqual(right((at) => (hasGap(at) ? 'NULL' : "O'Brien-1")));
  expect((await exported.prepare()).stderr).toContain('plain quotes around merchants removed: 40 rows');
  const bare = place(({ at, token, yy, mm }) => [token, `${mm}/${yy}`, hasGap(at) ? 'NULL' : `'${merchantOf(at)}'`]);
  expect(await rowsOf(bare)).toEqual(right(withGaps));
});

it.each([
  ['0x and 32 digits', (token: string) => `0x${token.replaceAll('-', '')}`],
  ['30 of 36 characters', (token: string) => token.slice(6)],
])('R93: %s among UUIDs are problems of their rows, and among each other are said', async (_, change) => {
  const few = place(({ at, token, yy, mm }) => [hasGap(at) ? change(token) : token, `${mm}/${yy}`, 'M-1']);
  const { problems } = await refusalOf(few);
  expect(problems).toMatchObject([{ rule: 'tokens', column: 'token', count: 5 }]);
  expect(await rowsOf(few, '--accept', 'tokens')).toHaveLength(COUNT);
  const { stdout } = await few.prepare('--rejects', 'r.csv', '--max-rejects', '5', '--out', 'tokens.csv');
  expect(JSON.parse(stdout)).toMatchObject({ rows: 35, rejected: 5, tokens: { uuids: 35, others: 0 } });
  const all = place(({ token, yy, mm }) => [change(token), `${mm}/${yy}`, 'M-1']);
  expect((await all.prepare()).stderr).toContain('tokens: none of 40 is a UUID');
});

it('R93: tokens that are no UUIDs are described by their shape and never shown', async () => {
  const { stderr } = await place(({ at, yy, mm }) => [`TK${100_000 + at}`, `${mm}/${yy}`, 'M-1']).prepare();
  expect(stderr).toContain('tokens: none of 40 is a UUID: A{2}9{6}');
  expect(stderr).not.toContain('TK1000');
});

it.each([
  ['1.23456789012346E+031', 'export the column as text'],
  ['1.79769313486232E+308', 'export the column as text'],
  ['1e+05', 'export the column as text'],
  ['Inf', 'export the column as text'],
  ['445678901234567.0', 'export the column as text'],
  ['4.45678E+14', 'export the column as text'],
  ["'M-7", 'export the column without it'],
])('R93: %s in place of a token or a merchant is refused with its cure', async (number, cure) => {
  for (const cells of [
    [number, '06/27', 'M-1'],
    [uuid(1), '06/27', number],
  ]) {
    const exported = placeText(`token,expiration,merchant_id\n${cells.join(',')}\n${uuid(2)},07/28,M-1\n`);
    const { problems } = await refusalOf(exported);
    expect(problems).toMatchObject([{ line: 2, rule: 'numbers', count: 1 }]);
    expect(JSON.stringify(problems)).toContain(cure);
  }
});

it('R93: a merchant with and without zeros at its beginning is said, and names of people are not', async () => {
  const zeros = place(({ at, token, yy, mm }) => [token, `${mm}/${yy}`, at % 2 === 0 ? '0012345' : '12345']);
  const { stderr, stdout } = await zeros.prepare('--out', 'tokens.csv');
  expect(stderr).toContain('merchants: 2 (0012345, 12345); one occurs with and without zeros at its beginning');
  expect(JSON.parse(stdout)).toMatchObject({
    tokens: { uuids: 40, others: 0, shapes: {} },
    merchants: { different: 2, rows: 40 },
    expirations: { from: '2027-01', to: '2028-12', rows: 40, past: 0, far_ahead: 0 },
  });
  const people = place(({ at, token, yy, mm }) => [token, `${mm}/${yy}`, at < 10 ? 'Ann Smith' : `Bob${at}`]);
  expect((await people.prepare()).stderr).toMatch(/merchants: 31\n/);
});

it('R93: svc au submit says what the file looks like before it is sent, and never judges what was sent', async () => {
  const { run, path } = placeText(`${HEADER}\nTK100001,27,06,M-1\nTK100002,28,07,M-1\nTK100003,28,08,M-1\n`);
  ended(
    await run('--sandbox', 'au', 'submit', path),
    0,
    'tokens: none of 3 is a UUID: A{2}9{6}',
    'merchants: 1 (M-1)',
    'expirations: 2027-06 to 2028-08',
  );
  const again = await run('--sandbox', 'au', 'submit', path, '--wait');
  expect(again.stderr).not.toContain('tokens: none');
});
