import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Draft } from '../../../src/base/files/draft.ts';
import { ended, errorIn, type HereResult, succeeded, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** A process that was killed. */
const KILLED = 4_000_000;
const isAlive = (pid: number): boolean => pid !== KILLED;

const REQUEST = `token,expiration_year,expiration_month,merchant_id
a,27,01,
b,27,01,
c,27,01,
d,27,01,
e,27,01,
f,27,01,
`;

const RESULTS = `token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code,network
a,27,01,a2,29,11,UPD_PAN,x
b,27,01,b2,29,11,UPD_PAN,x
c,27,01,,,,WRN_CONTACT_CARDHOLDER,x
d,27,01,,,,ERR_INVALID_EXP_DATE,x
e,27,01,,,,WRN_LATER,x
`;

async function report(argv: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const cwd = temporaryDirectory();
  const all = { 'request.csv': REQUEST, 'results.csv': RESULTS, ...files };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(cwd, name), text);
  const run = (words: readonly string[]) => svcHere(['au', 'report', 'results.csv', ...words], { cwd });
  return { cwd, run, ...(await run(argv)), read: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}

function data({ stdout }: HereResult): Record<string, unknown> {
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('svc au report', () => {
  it('svc au report draws counts and shares by code, in classes, with what each code asks for', async () => {
    ended(await report(['-o', 'table', '--request', 'request.csv']), 0, {
      stdout: [
        'results.csv: 5 rows, without 1 of the request that had no update',
        '',
        'updated: 2 (33.3%)',
        '  UPD_PAN                 2   33.3%  ████████████████  use the new token from now on',
        '',
        'warnings: 2 (33.3%)',
        '  WRN_CONTACT_CARDHOLDER  1   16.7%  ████████          contact the cardholder; nothing was updated',
        '  WRN_LATER               1   16.7%  ████████          look the code up with the service',
        '',
        'errors: 1 (16.7%)',
        '  ERR_INVALID_EXP_DATE    1   16.7%  ████████          give year and month in the row, or store them on the token',
        '',
        'what to do',
        '  use the new token       2   33.3%',
        '  contact the cardholder  1   16.7%',
        '  fix                     1   16.7%',
        '  contact support         1   16.7%',
        '  unchanged               1   16.7%',
        '',
        '6 requested = 2 updated + 2 warnings + 1 error + 1 unchanged',
        '',
        'unknown columns: network',
        '',
      ].join('\n'),
    });
  });

  it('updates whose new token is the old one are warned of', async () => {
    const [header = ''] = RESULTS.split('\n');
    const rows = ['a,27,01,a,29,11,UPD_PAN,x', 'b,27,01,b,29,11,UPD_PAN,x', 'c,27,01,c2,29,11,UPD_PAN,x'];
    const found = succeeded(await report([], { 'results.csv': [header, ...rows, ''].join('\n') }));
    expect(found.stderr).toContain('warning: 2 rows of results.csv have their old token as the new one');
  });

  it('an update that lacks its new token is for support, with a warning, and another brand needs none', async () => {
    const codes = ['UPD_PAN', 'UPD_EXP_DATE', 'UPD_CORRECTED', 'UPD_BRAND_CONV', 'UPD_LATER'];
    const [header = ''] = RESULTS.split('\n');
    const rows = codes.map((code, at) => `${'abcde'[at]},27,01,,,,${code},x`);
    const found = succeeded(
      await report(['--split-into', 'todo'], { 'results.csv': [header, ...rows, ''].join('\n') }),
    );
    expect(data(found)['groups']).toMatchObject({ replace: 0, support: 3, keep: 2 });
    expect(found.read('todo/support.csv').split('\n').slice(1, -1)).toEqual(rows.slice(0, 3));
    expect(found.stderr).toContain('warning: 3 rows of results.csv say that a new token was created, and lack it');
    const chosen = await found.run(['--action', 'UPD_PAN=keep', '--action', 'UPD_CORRECTED=replace']);
    expect(data(chosen)['groups']).toMatchObject({ support: 2, keep: 3 });
  });

  it.each([
    ['a card number', '4111111111111111', 12],
    ['a token that a rehearsal invented', 'rehearsal-0a1b2c3d', 13],
  ])('R91 --split-into writes no file with %s as a new token', async (_, token, exit) => {
    const found = await report(['--split-into', 'todo'], { 'results.csv': RESULTS.replace('b2', token) });
    expect([found.code, found.stderr.includes(token)], found.stderr).toEqual([exit, false]);
    expect(readdirSync(join(found.cwd, 'todo'))).toEqual([]);
  });

  it('--split-into writes no file with a card number of the kept columns', async () => {
    const kept = 'row,token,note\n1,a,x\n2,b,4111 1111 1111 1111\n';
    const found = await report(['--split-into', 'todo', '--keep', 'k.csv'], { 'k.csv': kept });
    expect([found.code, found.stderr.includes('1111')], found.stderr).toEqual([13, false]);
    expect(readdirSync(join(found.cwd, 'todo'))).toEqual([]);
  });

  it.each([
    ['WRN_OPT_UOT', `"WRN_OPT_UOT" is not a known result code. Did you mean 'WRN_OPT_OUT'?`],
    ['WRN_NOPE', '"WRN_NOPE" is not a known result code.'],
    ['WRN_OPT_OUT', undefined],
  ])('an unknown result code of --action is warned of, since nothing may have it: %s', async (code, warning) => {
    const { stderr } = succeeded(await report(['--action', `${code}=exclude`]));
    expect(/warning: --action: (.*)/.exec(stderr)?.[1]).toBe(warning);
  });

  it('svc au report gives programs one record with the same numbers', async () => {
    const result = succeeded(await report(['--request', 'request.csv', '--action', 'WRN_LATER=exclude']));
    expect(data(result)).toMatchObject({
      file: 'results.csv',
      rows: 5,
      updated: 2,
      warned: 2,
      errors: 1,
      unknown: 0,
      extra_columns: ['network'],
      request: { rows: 6, unchanged: 1, not_requested: 0, duplicates: 0, matched_by: 'order' },
    });
    const codes = data(result)['codes'] as Record<string, unknown>[];
    expect(codes.map(({ code, count, share, group, known }) => [code, count, share, group, known])).toEqual([
      ['UPD_PAN', 2, 2 / 6, 'replace', true],
      ['WRN_CONTACT_CARDHOLDER', 1, 1 / 6, 'contact', true],
      ['ERR_INVALID_EXP_DATE', 1, 1 / 6, 'fix', true],
      ['WRN_LATER', 1, 1 / 6, 'exclude', false],
    ]);
  });

  it('R47: rows that answer nothing are shown, and end with exit code 12 after the data', async () => {
    const odd = `${RESULTS}zz,27,01,,,,WRN_OPT_OUT,x\na,27,01,,,,WRN_OPT_OUT,x\n`;
    const result = ended(await report(['--request', 'request.csv'], { 'results.csv': odd }), 12);
    expect(data(result)['request']).toMatchObject({
      unchanged: 1,
      not_requested: 1,
      duplicates: 1,
      mismatches: [
        { row: 6, type: 'not_requested' },
        { row: 7, type: 'duplicate' },
      ],
    });
    expect(errorIn(result)).toMatchObject({ code: 'checksum_mismatch', not_requested: 1, duplicates: 1 });
  });

  it('svc au report takes results without rows, and codes that are empty, hostile or without end', async () => {
    ended(await report(['-o', 'table'], { 'results.csv': 'token,result_code\n' }), 0, {
      stdout: 'results.csv: 0 rows\n',
    });
    const hostile = `token,result_code\na,\nb,"\u001b]0;x\u0007"\nc,${'X'.repeat(5_000)}\n`;
    const { stdout } = succeeded(await report(['-o', 'table'], { 'results.csv': hostile }));
    expect(stdout).toContain('(empty)');
    expect(stdout).not.toContain('\u001b]');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(130);
  });

  it.each([
    ['a request that the gate refuses', ['--request', 'results.csv'], 13],
    ['a request that does not exist', ['--request', 'none.csv'], 1],
    ['an action without a step', ['--action', 'WRN_OPT_OUT'], 2],
    ['an action of an unknown kind', ['--action', 'WRN_OPT_OUT=drop'], 2],
    ['an unknown field', ['--fields', 'nothing'], 2],
  ])('svc au report refuses %s', async (_, argv, code) => {
    ended(await report(argv), code);
  });

  it('svc au report splits the rows by what there is to do, each with all its columns, in private files', async () => {
    const more = `${RESULTS}f,27,01,,,,UPD_BRAND_CONV,x\ng,27,01,,,,WRN_OPT_OUT,x\n`;
    const { code, cwd, read, stdout } = await report(['--split-into', 'todo'], { 'results.csv': more });
    expect(code).toBe(0);
    const [header = ''] = RESULTS.split('\n');
    const rows = readdirSync(join(cwd, 'todo')).map((name) => {
      expect(statSync(join(cwd, 'todo', name)).mode & 0o777).toBe(0o600);
      const [first, ...below] = read(join('todo', name)).trimEnd().split('\n');
      expect(first).toBe(header);
      return [name, below.map((line) => line.slice(0, 1)).join('')];
    });
    expect(Object.fromEntries(rows)).toEqual({
      'replace.csv': 'ab',
      'contact.csv': 'c',
      'consider.csv': 'g',
      'fix.csv': 'd',
      'keep.csv': 'f',
      'support.csv': 'e',
    });
    expect(statSync(join(cwd, 'todo')).mode & 0o777).toBe(0o700);
    expect((JSON.parse(stdout) as { split: unknown[] }).split).toHaveLength(6);
  });

  it('svc au report guards what a spreadsheet would run with --excel-safe, and stops at a token that it would change', async () => {
    const formula = `${RESULTS}f,27,01,,,,UPD_BRAND_CONV,=cmd|x\n`;
    const split = ['--split-into', 'todo'];
    const plain = await report(split, { 'results.csv': formula });
    expect(plain.read('todo/keep.csv')).toContain('UPD_BRAND_CONV,=cmd|x\n');
    const safe = await report([...split, '--excel-safe'], { 'results.csv': formula });
    expect(safe.read('todo/keep.csv')).toContain("UPD_BRAND_CONV,'=cmd|x\n");
    const token = ended(
      await report([...split, '--excel-safe'], { 'results.csv': formula.replace('\nf,', '\n-f,') }),
      13,
    );
    expect(readdirSync(join(token.cwd, 'todo'))).toEqual([]);
  });

  it('svc au report splits into a directory that holds something only when told to, and leaves no group of before', async () => {
    const { cwd, run } = await report(['--split-into', 'todo']);
    ended(await run(['--split-into', 'todo']), 2, {
      error: { message: `${join(cwd, 'todo')} is not empty`, hint: expect.stringContaining('add --force') },
    });
    ended(await run(['--split-into', 'results.csv']), 2);
    writeFileSync(join(cwd, 'todo', 'mine.txt'), '');
    const words = ['--split-into', 'todo', '--force', '--action', 'WRN_LATER=exclude'];
    succeeded(await run(words));
    const names = ['contact.csv', 'exclude.csv', 'fix.csv', 'mine.txt', 'replace.csv'];
    expect(readdirSync(join(cwd, 'todo')).toSorted()).toEqual(names);
  });

  it('svc au report splits into a directory that has nothing but what a killed process left there', async () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'todo'));
    writeFileSync(join(cwd, 'results.csv'), RESULTS);
    for (const group of ['replace', 'exclude'])
      await (await Draft.begin(join(cwd, 'todo', `${group}.csv`), { pid: KILLED, isAlive })).seal();
    succeeded(await svcHere(['au', 'report', 'results.csv', '--split-into', 'todo'], { cwd, isAlive }));
    expect(readdirSync(join(cwd, 'todo')).toSorted()).toEqual(['contact.csv', 'fix.csv', 'replace.csv', 'support.csv']);
  });

  it('svc au report --force replaces only files of a split, and not with the page', async () => {
    const { cwd, run } = await report(['--split-into', 'todo']);
    for (const html of ['todo/replace.csv', 'later/replace.csv'])
      ended(await run(['--split-into', html.slice(0, -12), '--html', html, '--force']), 2, '--html names a file of');
    mkdirSync(join(cwd, 'todo', 'exclude.csv'));
    ended(await run(['--split-into', 'todo', '--force']), 2, 'exclude.csv is not a file');
    expect(readFileSync(join(cwd, 'todo', 'replace.csv'), 'utf8')).toContain('a2');
  });

  it('svc au report leaves no file of a split whose results are cut off', async () => {
    const cut = { 'results.csv': `${RESULTS}"open` };
    const { code, cwd } = await report(['--split-into', 'todo', '--html', 'r.html'], cut);
    expect(code).toBe(12);
    expect([existsSync(join(cwd, 'todo')), existsSync(join(cwd, 'r.html'))]).toEqual([false, false]);
  });

  it('svc au report writes a page that loads nothing and escapes what files hold, and not over another unasked', async () => {
    const odd = RESULTS.replace('WRN_LATER', '<script>alert(1)</script>');
    const { code, cwd, read, run } = await report(['--html', 'r.html'], { 'results.csv': odd });
    expect(code).toBe(0);
    const page = read('r.html');
    expect(statSync(join(cwd, 'r.html')).mode & 0o777).toBe(0o600);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toMatch(/<script|<link|<img|url\(|@import|\bon\w+=|https?:/i);
    ended(await run(['--html', 'r.html']), 2);
    succeeded(await run(['--html', 'r.html', '--force']));
  });

  it('svc au report masks a card number in a result code on the page too', async () => {
    const odd = RESULTS.replace('WRN_LATER', '4111111111111111');
    const { code, read } = await report(['--html', 'r.html'], { 'results.csv': odd });
    expect(code).toBe(0);
    expect(read('r.html')).toContain('411111••••••1111');
    expect(read('r.html')).not.toContain('4111111111111111');
  });

  it.each([
    ['semicolons', ';', ''],
    ['tabs', '\t', ''],
    ['semicolons below a line that says so', ';', 'sep=;\n'],
  ])('svc au report reads results that a spreadsheet saved with %s', async (_, sign, line) => {
    const saved = { 'results.csv': `\uFEFF${line}${RESULTS.replaceAll(',', sign)}`.replaceAll('\n', '\r\n') };
    const { code, stdout } = await report(['--request', 'request.csv'], saved);
    const plain = await report(['--request', 'request.csv']);
    expect([code, stdout]).toEqual([0, plain.stdout]);
  });

  it('svc au report warns of new tokens whose expiration is past, and of none that is valid to the end of this month', async () => {
    const now = new Date();
    const month = `${now.getUTCFullYear()},${now.getUTCMonth() + 1}`;
    const expired = RESULTS.replace('a2,29,11', 'a2,20,02').replace('b2,29,11', 'b2,2019,2');
    ended(
      await report([], { 'results.csv': expired }),
      0,
      "warning: 2 new tokens of results.csv have an expiration that is already past: the network's answer has expired. Use the new token, and ask these cardholders for a card that is valid\n",
    );
    const valid = await report([], { 'results.csv': RESULTS.replace('a2,29,11', `a2,${month}`) });
    expect(valid.stderr).not.toContain('already past');
  });
});
