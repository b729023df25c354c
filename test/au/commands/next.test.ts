import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Draft } from '../../../src/base/files/draft.ts';
import { ended, errorIn, type HereResult, succeeded, svcHere } from '../../support/run-here.ts';
import { HEADER, REQUEST, RESULTS, RESULT_HEADER, place } from './next-request.ts';

it('svc au next --excluded writes rows for a spreadsheet with -o csv --excel-safe, and the request as it is sent', async () => {
  const { next, read } = place({ 'q.csv': REQUEST.replace('c,27,03,', 'c,27,03,=C').replace('d,,,M1', 'd,,,=D') });
  const done = await next('--out', 'n.csv', '--excluded', 'd.csv', '-o', 'csv', '--excel-safe');
  expect(read('d.csv').split('\n')[1], done.stderr).toContain(",'=C,");
  expect(read('n.csv')).toContain('\nd,,,=D\n');
});

it('svc au next refuses one file for both of its lists, which macOS and Windows also see in names that differ in case', async () => {
  const { cwd, next } = place();
  ended(await next('--out', 'n.csv', '--excluded', './n.csv', '--force'), 2, { error: { code: 'usage' } });
  const words = ['au', 'next', 'q.csv', 'r.csv', '--out', 'n.csv', '--excluded', 'N.CSV'];
  ended(await svcHere(words, { cwd, platform: 'darwin' }), 2);
  succeeded(await svcHere(words, { cwd }));
});

it('svc au next warns of a new token that is the old one', async () => {
  const { next } = place({ 'r.csv': `${RESULT_HEADER}\na,27,01,a,29,11,UPD_EXP_DATE\nb,27,02,b2,29,11,UPD_PAN\n` });
  ended(await next('--out', 'n.csv'), 0, '1 row of r.csv has its old token as the new one');
});

it.each(['2031,13', 'unknown,5', '31,', ',5'])(
  'svc au next leaves out a new date of %s, which is none',
  async (date) => {
    const { next, read } = place({ 'r.csv': RESULTS.replace('a2,29,11', `a2,${date}`) });
    succeeded(await next('--out', 'n.csv'));
    expect(read('n.csv').split('\n')[1]).toBe('a2,,,M1');
  },
);

it('svc au next keeps the token of an update that lacks its new one, counts it for support and warns of it', async () => {
  const { next, read } = place({ 'r.csv': `${RESULT_HEADER}\na,27,01,,,,UPD_PAN\nb,27,02,,,,UPD_BRAND_CONV\n` });
  const { code, stdout, stderr } = await next('--out', 'n.csv');
  expect([code, read('n.csv')]).toEqual([0, REQUEST]);
  expect(JSON.parse(stdout)).toMatchObject({ groups: { support: 1, keep: 1 }, unchanged: 4 });
  expect(stderr).toContain('warning: 1 row of r.csv says that a new token was created, and lacks it');
});

it('svc au next warns of result codes that it does not know, but not where the operator chose what to do', async () => {
  const some = `${RESULT_HEADER}\na,27,01,,,,xyz_new\nb,27,02,,,,ERR_NOT_FOUND\n`;
  const { next } = place({ 'r.csv': some });
  const warned = succeeded(await next('--out', 'n.csv'));
  expect(warned.stderr).toContain('warning: 1 row of r.csv has a result code that svc does not know');
  expect(JSON.parse(warned.stdout)).toMatchObject({ unknown: 1 });
  const chosen = place({ 'r.csv': `${RESULT_HEADER}\na,27,01,,,,wrn_closed_account\nb,27,02,,,,\n` });
  const exclude = ['--action', 'wrn_closed_account=exclude', '--force'];
  expect((await chosen.next('--out', 'n.csv')).stderr).toContain('warning: 2 rows of r.csv have result codes');
  expect((await chosen.next('--out', 'n.csv', ...exclude)).stderr).toContain('warning: 1 row of r.csv');
});

it('svc au next puts new tokens in place of old ones, leaves out the excluded, keeps the rest as it was', async () => {
  const { next, read, cwd } = place();
  const { stdout, stderr } = succeeded(await next('--out', 'n.csv', '--excluded', 'd.csv'));
  expect(read('n.csv')).toBe(`${HEADER}\na2,29,11,M1\nb2,30,04,"M,2"\nd,,,M1\ne,27,05,M1\nf,27,06,M1\n`);
  expect(read('d.csv')).toBe(
    `row,${HEADER},result_code,reason\n3,c,27,03,,WRN_CLOSED_ACCOUNT,the issuer closed the account\n`,
  );
  expect(JSON.parse(stdout)).toEqual({
    file: 'n.csv',
    rows: 5,
    groups: { replace: 2, contact: 0, consider: 1, exclude: 1, fix: 1, support: 0, keep: 0 },
    unchanged: 1,
    excluded_before: 0,
    unknown: 0,
    excluded_by_code: { WRN_CLOSED_ACCOUNT: 1 },
    excluded_file: 'd.csv',
    keep_file: null,
  });
  expect(stderr).toContain('fix 1');
  for (const name of ['n.csv', 'd.csv']) expect(statSync(join(cwd, name)).mode & 0o777).toBe(0o600);
});

it('svc au next gives the same whatever the order of the results', async () => {
  const [head = '', ...rows] = RESULTS.trimEnd().split('\n');
  const { next, read } = place();
  await next('--out', 'order.csv');
  const other = place({ 'r.csv': `${[head, ...rows.toReversed()].join('\n')}\n` });
  succeeded(await other.next('--out', 'n.csv'));
  expect(other.read('n.csv')).toBe(read('order.csv'));
});

const NEW_A = 'a,27,01,a2,29,11,UPD_PAN\n';

it.each([
  ['every row of a token its new token', 'a,27,01,M1\na,27,01,M2\n', NEW_A, 'a2,29,11,M1\na2,29,11,M2\n'],
  ['a repeated row once, because it was sent once', 'a,27,01,M1\n'.repeat(3), NEW_A, 'a2,29,11,M1\n'],
  ['a repeated row once that another client sent thrice', 'a,27,01,M1\n'.repeat(3), NEW_A.repeat(3), 'a2,29,11,M1\n'],
])('svc au next gives %s', async (_, rows, results, expected) => {
  const { next, read } = place({ 'q.csv': `${HEADER}\n${rows}b,27,02,M1\n`, 'r.csv': `${RESULT_HEADER}\n${results}` });
  succeeded(await next('--out', 'n.csv'));
  expect(read('n.csv')).toBe(`${HEADER}\n${expected}b,27,02,M1\n`);
});

it('svc au next refuses more results of a token than it has rows, where another token is repeated', async () => {
  const results = ['a', 'b', 'b'].map((token) => `${token},27,01,${token}2,29,11,UPD_PAN\n`);
  const { next, cwd } = place({
    'q.csv': `${HEADER}\n${'a,27,01,M1\n'.repeat(3)}b,27,02,M1\n`,
    'r.csv': `${RESULT_HEADER}\n${results.join('')}`,
  });
  const refused = {
    code: 'checksum_mismatch',
    not_requested: 0,
    duplicates: 1,
    mismatches: [{ row: 3, type: 'duplicate' }],
  };
  ended(await next('--out', 'n.csv'), 12, { error: refused });
  expect(readdirSync(cwd)).not.toContain('n.csv');
});

it('svc au next names only the results beyond those of repeated rows, where a token has more of both', async () => {
  const { next } = place({
    'q.csv': `${HEADER}\n${'a,27,01,M1\n'.repeat(2)}b,27,02,M1\n`,
    'r.csv': `${RESULT_HEADER}\n${['a', 'a', 'a', 'b', 'c'].map((token) => `${token},27,01,,,,UPD_PAN\n`).join('')}`,
  });
  const mismatches = [
    { row: 3, type: 'duplicate' },
    { row: 5, type: 'not_requested' },
  ];
  ended(await next('--out', 'n.csv'), 12, { error: { not_requested: 1, duplicates: 1, mismatches } });
});

it('svc au next writes to standard output for a pipe, with the counts beside it', async () => {
  const { next } = place();
  const { stdout, stderr } = await next('--out', '-');
  expect(stdout.split('\n').slice(0, 2)).toEqual([HEADER, 'a2,29,11,M1']);
  expect(stderr).toContain(
    '5 rows in the next request: use the new token 2, consider leaving out 1, leave out 1 (WRN_CLOSED_ACCOUNT 1), fix 1, unchanged 1\n',
  );
  ended(await next('--out', '-', '-o', 'json'), 2);
});

it.each([
  ['too many rows need fixing', 'err=0%', RESULTS, 10],
  ['a result has a card number for a new token', 'err=50%', RESULTS.replace('a2', '4242424242424242'), 12],
])('svc au next writes nothing to standard output if %s', async (_, failOn, results, code) => {
  const { cwd, next } = place({ 'r.csv': results });
  const refused = await next('--out', '-', '--fail-on', failOn);
  expect([refused.code, refused.stdout, readdirSync(cwd)]).toEqual([code, '', ['q.csv', 'r.csv']]);
});

it('svc au next does not write over a file unasked', async () => {
  const { next, put, read } = place({ 'n.csv': 'mine' });
  ended(await next('--out', 'n.csv'), 2);
  put('d.csv', 'mine too');
  ended(await next('--out', 'x.csv', '--excluded', 'd.csv'), 2);
  expect(read('n.csv') + read('d.csv')).toBe('minemine too');
  succeeded(await next('--out', 'n.csv', '--force'));
  expect(read('n.csv')).toContain('a2,29,11');
});

it.each([
  ['a token that was not requested', `${RESULTS}z,,,,,,WRN_OPT_OUT\n`, 12],
  ['a token answered twice', `${RESULTS}a,27,01,a3,29,11,UPD_PAN\n`, 12],
  ['a card number for a new token', `${RESULT_HEADER}\na,27,01,4242424242424242,29,11,UPD_PAN\n`, 12],
  ['a new token that no file may hold', `${RESULT_HEADER}\na,27,01,"x\ny",29,11,UPD_PAN\n`, 12],
  ['a file that is cut', RESULTS.slice(0, -8).replace(/,[^,]*$/, ''), 12],
])('R47: svc au next writes nothing for results with %s', async (_, results, code) => {
  const { next, cwd } = place({ 'r.csv': results });
  ended(await next('--out', 'n.csv', '--excluded', 'd.csv'), code, {
    stdout: '',
    error: { code: 'checksum_mismatch' },
    unsaid: '4242424242424242',
  });
  expect(readdirSync(cwd).toSorted()).toEqual(['q.csv', 'r.csv']);
});

const LIST = 'token,code,cycle,date\n';
const EXTENDING = ['--exclusions', 'closed.csv'];

it('svc au next --exclusions begins a list of what is left out, and leaves the same tokens out of every later request', async () => {
  const { next, read, put, cwd } = place();
  succeeded(await next('--out', 'one.csv', '--exclusions', 'closed.csv'));
  expect(read('closed.csv')).toMatch(/^token,code,cycle,date\nc,WRN_CLOSED_ACCOUNT,,\d{4}-\d\d-\d\d\n$/);
  expect(statSync(join(cwd, 'closed.csv')).mode & 0o777).toBe(0o600);
  const list = read('closed.csv');
  // The next export contains the closed account again, but the results no longer report it.
  put('r.csv', `${RESULT_HEADER}\n`);
  const { stdout, stderr } = await next('--out', 'two.csv', '--exclusions', 'closed.csv', '--excluded', 'd.csv');
  expect(read('two.csv')).toBe(REQUEST.replace('c,27,03,\n', ''));
  expect(JSON.parse(stdout)).toMatchObject({ rows: 5, unchanged: 5, excluded_before: 1, excluded_by_code: {} });
  expect(stderr).toContain('5 rows in the next request: unchanged 5, excluded before 1');
  expect(read('d.csv').split('\n')[1]).toBe('3,c,27,03,,,excluded before: line 2 of the list of exclusions');
  expect(read('closed.csv')).toBe(list);
});

it('svc au next --exclusions keeps what the operator wrote into the list, and takes a token back whose line was removed', async () => {
  const kept = `\uFEFF"token", code, date, cycle, note\r\n x ,,,,"by hand, on request"\r\na,WRN_X,,,`;
  const { next, read, put } = place({ 'closed.csv': kept });
  const chosen = ['--action', 'WRN_OPT_OUT=exclude', '--fail-on', 'err=50%'];
  succeeded(await next('--out', 'one.csv', '--exclusions', 'closed.csv', ...chosen));
  expect(read('one.csv')).toBe(`${HEADER}\nb2,30,04,"M,2"\nd,,,M1\nf,27,06,M1\n`);
  const [before = '', after = ''] = read('closed.csv').split(`${kept}\r\n`);
  expect(before).toBe('');
  expect(after).toMatch(/^c,WRN_CLOSED_ACCOUNT,[-\d]+,\r\ne,WRN_OPT_OUT,[-\d]+,\r\n$/);
  put('closed.csv', LIST);
  succeeded(await next('--out', 'two.csv', '--exclusions', 'closed.csv'));
  expect(read('two.csv')).toContain('\na2,29,11,M1\n');
});

it('svc au next --exclusions names a token once that stands in several rows', async () => {
  const { next, read } = place({
    'q.csv': `${HEADER}\nc,,,M1\nc,,,M2\n`,
    'r.csv': `${RESULT_HEADER}\nc,,,,,,WRN_CLOSED_ACCOUNT\nc,,,,,,WRN_CLOSED_ACCOUNT\n`,
  });
  await next('--out', 'n.csv', '--exclusions', 'closed.csv');
  expect(read('closed.csv').match(/^c,/gm)).toHaveLength(1);
  expect(read('n.csv')).toBe(`${HEADER}\n`);
});

it('svc au next --exclusions waits for another process that extends the list, so that no token is lost, and leaves no lock', async () => {
  const results = `${RESULT_HEADER}\ne,27,05,,,,WRN_CLOSED_ACCOUNT\n`;
  const { cwd, next, read } = place({ 'r2.csv': results });
  const other = () => svcHere(['au', 'next', 'q.csv', 'r2.csv', '--out', 'two.csv', ...EXTENDING], { cwd });
  let held: HereResult | undefined;
  const seal = Reflect.get(Draft.prototype, 'seal');
  // The first process has read the list when it completes the next request.
  const sealing = vi.spyOn(Draft.prototype, 'seal').mockImplementation(async function (this: Draft) {
    if (this.path.includes('one.csv')) held ??= await other();
    return seal.call(this);
  });
  onTestFinished(() => sealing.mockRestore());
  succeeded(await next('--out', 'one.csv', ...EXTENDING));
  expect(held?.code).toBe(3);
  expect(held && errorIn(held)).toMatchObject({ code: 'config', held_by: process.pid, retryable: true });
  expect(readdirSync(cwd).toSorted()).toEqual(['closed.csv', 'one.csv', 'q.csv', 'r.csv', 'r2.csv']);
  succeeded(await other());
  expect(read('closed.csv')).toMatch(/\nc,WRN_CLOSED_ACCOUNT,.*\ne,WRN_CLOSED_ACCOUNT,.*\n$/);
});

it('svc au next --exclusions keeps a list that was edited while the next request was flushed to disk, and writes nothing', async () => {
  const { cwd, next, put, read } = place({ 'closed.csv': LIST });
  const edited = `${LIST}f,,,\n`;
  const seal = Reflect.get(Draft.prototype, 'seal');
  const sealing = vi.spyOn(Draft.prototype, 'seal').mockImplementation(function (this: Draft) {
    if (this.path.includes('n.csv')) put('closed.csv', edited);
    return seal.call(this);
  });
  onTestFinished(() => sealing.mockRestore());
  ended(await next('--out', 'n.csv', ...EXTENDING), 6);
  expect(read('closed.csv')).toBe(edited);
  expect(readdirSync(cwd).toSorted()).toEqual(['closed.csv', 'q.csv', 'r.csv']);
});

it('svc au next --exclusions names the list where its directory is missing', async () => {
  const { next, cwd } = place();
  ended(await next('--out', 'n.csv', '--exclusions', 'gone/closed.csv'), 1, {
    error: { message: expect.stringContaining('gone/closed.csv') },
    unsaid: '.lock',
  });
  expect(readdirSync(cwd).toSorted()).toEqual(['q.csv', 'r.csv']);
});

it.each([
  ['is empty', ''],
  ['is another table', REQUEST],
  ['breaks off', `${LIST}"c`],
])('svc au next --exclusions refuses a list that %s, and writes nothing', async (_, text) => {
  const { next, cwd, read } = place({ 'closed.csv': text });
  ended(await next('--out', 'n.csv', '--exclusions', 'closed.csv'), 13, 'token,code,cycle,date', {
    error: { code: 'refused_input' },
    unsaid: 'undefined',
  });
  expect(readdirSync(cwd).toSorted()).toEqual(['closed.csv', 'q.csv', 'r.csv']);
  expect(read('closed.csv')).toBe(text);
});

it('svc au next --exclusions refuses the name of another file of the command, and standard output', async () => {
  const { next, cwd } = place();
  for (const words of [
    ['--out', 'n.csv', '--exclusions', './n.csv'],
    ['--out', 'n.csv', '--excluded', 'd.csv', '--exclusions', 'd.csv'],
    ['--out', 'n.csv', '--exclusions', '-'],
  ]) {
    ended(await next(...words), 2);
  }
  expect(readdirSync(cwd).toSorted()).toEqual(['q.csv', 'r.csv']);
});
