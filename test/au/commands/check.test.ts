import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { ended, type HereResult, succeeded, svcIn } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id\n';
const CARD = '4242424242424242';

let home: Home;
beforeEach(() => {
  home = new Home();
  mkdirSync(home.file('in'));
  writeFileSync(home.file('good.csv'), `${HEADER}a,27,01,\n`);
  writeFileSync(home.file('in/bad, 100%.csv'), `${HEADER}a,2z,01,m-77\n,27,13,\n${CARD},27,01,\n`);
  writeFileSync(home.file('in/twice.csv'), `${HEADER}secret-token,27,01,\nsecret-token,27,01,\n`);
});

function check(files: readonly string[], env: Record<string, string> = {}): Promise<HereResult> {
  return svcIn(home.path, ['au', 'check', ...files], { env });
}

it('svc au check checks several files, prints those in order, and names the problems of all others by file and line', async () => {
  const checked = ended(await check(['good.csv', 'in/bad, 100%.csv', 'in/twice.csv']), 13);
  const rows = checked.stdout.trimEnd().split('\n');
  expect(rows.map((row) => (JSON.parse(row) as { file: string }).file)).toEqual(['good.csv', 'in/twice.csv']);
  const error = JSON.parse(checked.stderr.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
  expect(error).toMatchObject({
    code: 'refused_input',
    message: '1 of 3 files refused',
    files: [{ file: 'in/bad, 100%.csv', problem_count: 4 }],
  });
  expect(checked.stderr).toContain('in/bad, 100%.csv: line 3, token: ');
  succeeded(await check(['good.csv', 'in/twice.csv']));
});

it('svc au check checks the files after one that does not exist, and ends with 1', async () => {
  const checked = ended(await check(['nope.csv', 'in/bad, 100%.csv', 'good.csv']), 1, {
    row: { file: 'good.csv' },
    error: { message: '2 of 3 files refused', files: [{ file: 'nope.csv' }, { problem_count: 4 }] },
  });
  expect(checked.stderr).toContain('nope.csv does not exist');
  expect(checked.stderr).toContain('in/bad, 100%.csv: line 3, token: ');
});

it('svc au check names a file that begins with a dash so that the next command does not take it for an option', async () => {
  writeFileSync(home.file('-x y.csv'), `\uFEFF${HEADER}a,27,01,\n`);
  const checked = ended(await check(['--', '-x y.csv']), 13);
  const next = (JSON.parse(checked.stderr.trimEnd().split('\n').at(-1) ?? '') as { next_words: string[] }).next_words;
  expect(next.slice(1)).toEqual(['au', 'prepare', './-x y.csv', '--out', './-x y.prepared.csv']);
  succeeded(await svcIn(home.path, next.slice(1)));
});

it.each([
  ['a,27,5,', true],
  ['a,2027,05,', true],
  ['a,27,13,', false],
  ['a,x7,05,', false],
  ['"a,27,05,', false],
  [`a,27,5,\n${CARD},27,05,`, false],
])('svc au check suggests svc au prepare for %j only if that corrects it (%j)', async (rows, isMended) => {
  writeFileSync(home.file('q.csv'), `${HEADER}${rows}\nb,27,01,\n`);
  const checked = await check(['q.csv']);
  expect([checked.code, checked.stderr.includes('svc au prepare')], checked.stderr).toEqual([13, isMended]);
  const prepared = await svcIn(home.path, ['au', 'prepare', 'q.csv', '--out', 'p.csv']);
  expect(prepared.code === 0, prepared.stderr).toBe(isMended);
});

it.each([
  [['good.csv'], 'the file is valid', { row: { file: 'good.csv', rows: 1 } }],
  [['good.csv', 'in/twice.csv'], 'all files are valid', {}],
])('svc au check says of %j that %s, and gives one file as one object', async (files, words, shown) => {
  ended(await check(files), 0, words, shown);
});

it.each([
  'check FILE',
  'submit FILE --cycle 2026-12',
  'submit FILE --dry-run',
  'submit FILE --curl --dry-run',
  `upload ${'0'.repeat(8)} FILE`,
])('R40: svc au %s refuses a file with a card number in its name, which the ledger would keep', async (line) => {
  const file = 'in/4242-4242 4242-4242.csv';
  writeFileSync(home.file(file), `${HEADER}a,27,01,\n`);
  const argv = ['au', ...line.split(' ').map((word) => (word === 'FILE' ? file : word))];
  const refused = ended(
    await svcIn(home.path, argv, {
      env: { SVC_MANAGEMENT_API_KEY: 'a-key-of-a-test', SVC_BASE_URL: 'http://127.0.0.1:9' },
    }),
    13,
  );
  expect(refused.stderr).toContain('the name of the file contains what looks like a card number');
  expect(refused.stderr).not.toContain('4242-4242');
});

it.each(['prepare good.csv --out FILE', 'next good.csv results.csv --out FILE'])(
  'R40: svc au %s makes no request file that could not be submitted',
  async (line) => {
    const refused = ended(await svcIn(home.path, ['au', ...line.replace('FILE', `${CARD}.csv`).split(' ')]), 13);
    expect(refused.stderr).toContain('the name of the file contains what looks like a card number');
  },
);
