import * as fc from 'fast-check';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prepareRequest } from '../../../src/au/prepare/prepare.ts';
import { refuseCorrected } from '../../../src/au/prepare/rejects-file.ts';
import type { Context } from '../../../src/cli/app/command.ts';
import { cardNumber, disguised } from '../../support/card-numbers.ts';
import { ended, errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { stream } from '../rows.ts';
import { cases } from '../../support/cases.ts';
import { FakeClock } from '../../support/clock.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const CARD = '4111 1111 1111 1111';
const REJECTS = ['--rejects', 'rejected.csv', '--out', 'tokens.csv'];

function place(text: string | Uint8Array) {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'export.csv'), text);
  const prepare = (...words: string[]) => svcHere(['au', 'prepare', 'export.csv', ...words], { cwd, home: cwd });
  return { cwd, prepare, read: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}

/** Returns an export of 100 rows, three of them without a date. */
function export100(): string {
  const rows = Array.from({ length: 100 }, (_, at) => `t${at},"C, ${at}",${at % 40 === 5 ? 'soon' : '05/2031'}\n`);
  return `token,customer,exp\n${rows.join('')}`;
}

it('svc au prepare --rejects writes the rows that are refused with line, reason and all their cells, and nothing else', async () => {
  const { cwd, prepare, read } = place(export100());
  ended(await prepare(...REJECTS), 13, {
    error: {
      hint: expect.stringContaining('Only rejected.csv was written; the next attempt replaces it.'),
      problem_count: 3,
      rejects_file: 'rejected.csv',
    },
  });
  expect(read('rejected.csv')).toBe(
    [
      'line,reason,token,customer,exp',
      '7,the expiration is not a month and a year,t5,"C, 5",soon',
      '47,the expiration is not a month and a year,t45,"C, 45",soon',
      '87,the expiration is not a month and a year,t85,"C, 85",soon',
      '',
    ].join('\n'),
  );
  expect(statSync(join(cwd, 'rejected.csv')).mode & 0o777).toBe(0o600);
  expect(readdirSync(cwd).toSorted()).toEqual(['export.csv', 'rejected.csv']);
});

it.each([
  ['3%', 0],
  ['2.9%', 13],
  ['3', 0],
  ['2', 13],
])('svc au prepare --rejects continues without 3 of 100 rows or not with --max-rejects %s', async (limit, code) => {
  const { cwd, prepare, read } = place(export100());
  ended(await prepare(...REJECTS, '--max-rejects', limit), code);
  expect(existsSync(join(cwd, 'tokens.csv'))).toBe(code === 0);
  expect(read('rejected.csv').split('\n')).toHaveLength(5);
});

it('svc au prepare --rejects says what was left out, and the request has the other rows', async () => {
  const { prepare, read } = place(export100());
  const { stdout, stderr } = await prepare(...REJECTS, '--max-rejects', '5%');
  expect(JSON.parse(stdout)).toMatchObject({ rows: 97, rejected: 3, rejects_file: 'rejected.csv' });
  expect(stderr).toContain(
    'warning: 3 rows left out, see rejected.csv:\n  3 rows like "aaaa" (lines 7, 47, 87): the expiration is not a month and a year\n',
  );
  expect(read('tokens.csv').split('\n')).toHaveLength(99);
  expect(read('tokens.csv')).not.toContain('t45');
});

it('svc au prepare --rejects replaces its file of an earlier attempt, but not one in which rows were corrected, without --force', async () => {
  const { cwd, prepare, read } = place(export100());
  ended(await prepare(...REJECTS), 13);
  ended(await prepare(...REJECTS), 13);
  const corrected = read('rejected.csv').replace('soon', '06/2031');
  writeFileSync(join(cwd, 'rejected.csv'), corrected);
  ended(await prepare(...REJECTS, '--max-rejects', '3'), 2, {
    error: { message: 'rejected.csv has 1 row in which nothing is wrong', next: 'svc au prepare rejected.csv' },
  });
  expect(read('rejected.csv')).toBe(corrected);
  expect(existsSync(join(cwd, 'tokens.csv'))).toBe(false);
  succeeded(await prepare(...REJECTS, '--max-rejects', '3', '--force'));
  expect(read('rejected.csv')).not.toBe(corrected);
});

it('svc au prepare --rejects replaces its file once --date-order reads the dates that were refused, but no row that was corrected', async () => {
  const { cwd, prepare, read } = place('token,exp\nt1,05/06/31\nt2,soon\n');
  const ordered = [...REJECTS, '--date-order', 'dmy'];
  ended(await prepare(...REJECTS), 13);
  const first = read('rejected.csv');
  ended(await prepare(...ordered), 13);
  expect(read('rejected.csv')).not.toContain('t1');
  writeFileSync(join(cwd, 'rejected.csv'), first.replace('soon', '06/2031'));
  ended(await prepare(...ordered), 2);
});

it.each([
  ['with bytes that are no UTF-8', Buffer.from(`token,exp,mid\nt1,05/2031,Caf\xe9\nt2,05/2031,M\n`, 'latin1'), [], []],
  ['with a quoted mark for nothing', 'token,exp\nt1,"NULL"\nt2,05/2031\n', [], []],
  [
    'read with the wrong column',
    'token,from,to\nt1,soon,05/2031\nt2,05/2031,05/2031\n',
    ['--map', 'expiration=from'],
    ['--map', 'expiration=to'],
  ],
  [
    'with a cell of two lines, and a date that can be read two ways',
    'note;token;exp\n"a\nb";t1;05/06/31\nc;t2;05/2031\n',
    [],
    ['--date-order', 'dmy'],
  ],
])('svc au prepare --rejects replaces its file that nobody corrected: %s', async (_, text, first, then) => {
  const { cwd, prepare, read } = place(text);
  ended(await prepare(...REJECTS, ...first), 13);
  const rejected = read('rejected.csv');
  succeeded(await prepare(...REJECTS, ...then, '--max-rejects', '1', '--out', 'once.csv'));
  writeFileSync(join(cwd, 'rejected.csv'), rejected.replace('t1', 't1-corrected'));
  ended(
    await prepare(...REJECTS, ...then, '--max-rejects', '1'),
    2,
    'rejected.csv has 1 row in which nothing is wrong',
  );
});

const UUIDS = Array.from({ length: 30 }, (_, at) => `0b7e2f5a-6f0d-4c57-9d0a-1f6f0f3c1a${at + 10}`);

it.each([
  ['whose token is no UUID', 'tok_abc', '05/2031', UUIDS[29], '05/2031'],
  ['with a year in which no card expires', UUIDS[29], '05/2099', UUIDS[29], '05/2031'],
])(
  'svc au prepare --rejects replaces its file once a row %s is corrected in the export, but no row that was corrected',
  async (_, token, expiry, rightToken, rightExpiry) => {
    const others = UUIDS.slice(0, 29).map((each) => `${each},05/2031,${UUIDS[28]}\n`);
    const rows = (last: string): string => `token,expiry,customer\n${others.join('')}${last},${UUIDS[28]}\n`;
    const { cwd, prepare, read } = place(rows(`${token},${expiry}`));
    ended(await prepare(...REJECTS), 13);
    const corrected = read('rejected.csv').replace(`${token},${expiry}`, `{${rightToken}},${rightExpiry}`);
    writeFileSync(join(cwd, 'export.csv'), rows(`${rightToken},${rightExpiry}`));
    const uncorrected = read('rejected.csv');
    writeFileSync(join(cwd, 'rejected.csv'), corrected);
    ended(await prepare(...REJECTS), 2, 'rejected.csv has 1 row in which nothing is wrong');
    writeFileSync(join(cwd, 'rejected.csv'), uncorrected);
    succeeded(await prepare(...REJECTS));
    expect(read('rejected.csv')).toBe('line,reason,token,expiry,customer\n');
  },
);

it('svc au prepare --rejects keeps its file with a corrected row that only --accept lets through', async () => {
  const { cwd, prepare, read } = place('token,expiry\nt1,soon\n');
  const words = [...REJECTS, '--accept', 'years'];
  ended(await prepare(...words), 13);
  const corrected = read('rejected.csv').replace('soon', '05/2099');
  writeFileSync(join(cwd, 'rejected.csv'), corrected);
  ended(await prepare(...words), 2, { error: { next: 'svc au prepare rejected.csv --accept years' } });
  expect(read('rejected.csv')).toBe(corrected);
});

it('R19: the comparison of an export with a file of refused rows ends with the command', async () => {
  const { cwd, read } = place('token,expiry\nt1,soon\n');
  writeFileSync(join(cwd, 'rejected.csv'), 'line,reason,token,expiry\n2,wrong,t1,05/2031\n');
  const ending = new AbortController();
  let readings = 0;
  const watching = () => {
    readings += 1;
    if (readings === 2) ending.abort(new Error('interrupted'));
  };
  const context = { clock: new FakeClock(), progress: { watching }, signal: ending.signal } as unknown as Context;
  const rejects = { path: join(cwd, 'rejected.csv'), name: 'rejected.csv' };
  const exported = join(cwd, 'export.csv');
  await expect(refuseCorrected(context, rejects, { exported, how: {} })).rejects.toThrow('interrupted');
  expect(read('rejected.csv')).toContain('t1');
});

it.each([[], REJECTS, [...REJECTS, '--max-rejects', '1']])(
  'svc au prepare %s that refuses rows names the command that leaves them out, which works',
  async (...options) => {
    const { cwd, prepare, read } = place(export100());
    const refused = ended(await prepare(...options), 13);
    const { next_words: words } = errorIn(refused) as { next_words: readonly string[] };
    const { code } = await svcHere(words.slice(1), { cwd, home: cwd });
    expect([code, read('rejected.csv').split('\n').length]).toEqual([0, 5]);
  },
);

it('svc au prepare --rejects writes a file that can be corrected and prepared in turn', async () => {
  const { cwd, prepare, read } = place(export100());
  await prepare(...REJECTS, '--max-rejects', '3');
  writeFileSync(join(cwd, 'rejected.csv'), read('rejected.csv').replaceAll('soon', '06/2031'));
  const { code, stdout } = await svcHere(['au', 'prepare', 'rejected.csv'], { cwd, home: cwd });
  expect({ code, rows: stdout.split('\n').slice(1) }).toEqual({
    code: 0,
    rows: ['t5,31,06,', 't45,31,06,', 't85,31,06,', ''],
  });
});

it.each([
  ['a card number', `token,note\na,b\nc,${CARD}\nd,e\n`, '3,'],
  ['an open quote', 'token,note\na,b\nc,"d\n', '3,'],
  ['no row without a problem', 'token,exp\na,x\nb,y\n', '2,'],
])('svc au prepare --rejects does not go on at %s, however many rows may be left out', async (_, text, line) => {
  const { cwd, prepare, read } = place(text);
  ended(await prepare(...REJECTS, '--max-rejects', '100%'), 13);
  expect(existsSync(join(cwd, 'tokens.csv'))).toBe(false);
  expect(read('rejected.csv').split('\n')[1]).toMatch(new RegExp(`^${line}`));
});

it('R40: svc au prepare --rejects writes a card number of a refused row nowhere, in one cell or across cells', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(cardNumber(), disguised()), fc.integer({ min: 1, max: 12 }), async (card, cut) => {
      const rows = [`a,x,${card}`, `b,"${card}"`, `c,x,${card.slice(0, cut)},${card.slice(cut)}`, 'd,x,y'];
      let text = '';
      const write = (part: string): Promise<void> => Promise.resolve(void (text += part));
      const source = stream([Buffer.from(`token,exp,note\n${rows.join('\n')}\n`)]);
      await prepareRequest(source, { request: write, rejects: write });
      expect(text).not.toContain(card);
      const digits = card.replaceAll(/\D/g, '');
      expect(digits.length >= 13 && text.replaceAll(/\D/g, '').includes(digits)).toBe(false);
      expect(text).toContain('5,the expiration is not a month and a year,d,x,y\n');
    }),
    { numRuns: cases(3_000) },
  );
});

it.each([
  [['--max-rejects', '1%'], '--max-rejects needs --rejects'],
  [['--rejects', 'r.csv', '--max-rejects', 'some'], 'must be a share such as 1%'],
  [['--rejects', 'r.csv', '--max-rejects', '101%'], 'must be a share such as 1%'],
  [['--rejects', '-'], '--rejects takes a file'],
  [['--rejects', 'export.csv', '--force'], '--rejects would replace export.csv, which is also <export>'],
  [['--rejects', 'x.csv', '--out', './x.csv'], '--rejects names a file that the command uses for something else'],
])('svc au prepare --rejects refuses %j before it reads the export', async (words, message) => {
  const { cwd, prepare, read } = place(export100());
  ended(await prepare(...words), 2, message);
  expect(read('export.csv')).toBe(export100());
  expect(readdirSync(cwd).filter((name) => name.includes('csv'))).toEqual(['export.csv']);
});

it('svc au prepare --rejects does not replace a file unasked, and has only its header where no row is refused', async () => {
  const { cwd, prepare, read } = place('token,exp\na,05/2031\n');
  succeeded(await prepare(...REJECTS));
  expect(read('rejected.csv')).toBe('line,reason,token,exp\n');
  writeFileSync(join(cwd, 'rejected.csv'), 'line;reason\n');
  ended(await prepare('--rejects', 'rejected.csv'), 2);
  expect(read('rejected.csv')).toBe('line;reason\n');
});
