import { mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type HereResult, svcIn } from '../../support/run-here.ts';
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
afterEach(() => home.remove());

function check(files: readonly string[], env: Record<string, string> = {}): Promise<HereResult> {
  return svcIn(home.path, ['au', 'check', ...files], { env });
}

/** Returns the GitHub workflow commands on stderr. */
function annotations({ stderr }: HereResult): string[] {
  return stderr.split('\n').filter((line) => line.startsWith('::'));
}

it('svc au check checks several files, prints those in order, and names the problems of all others by file and line', async () => {
  const checked = await check(['good.csv', 'in/bad, 100%.csv', 'in/twice.csv']);
  expect(checked.code).toBe(13);
  const rows = checked.stdout.trimEnd().split('\n');
  expect(rows.map((row) => (JSON.parse(row) as { file: string }).file)).toEqual(['good.csv', 'in/twice.csv']);
  const error = JSON.parse(checked.stderr.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
  expect(error).toMatchObject({
    code: 'refused_input',
    message: '1 of 3 files refused',
    files: [{ file: 'in/bad, 100%.csv', problem_count: 4 }],
  });
  expect(checked.stderr).toContain('in/bad, 100%.csv: line 3, token: ');
  expect(await check(['good.csv', 'in/twice.csv'])).toMatchObject({ code: 0 });
});

it('svc au check names a file that begins with a dash so that the next command does not take it for an option', async () => {
  writeFileSync(home.file('-x y.csv'), `\uFEFF${HEADER}a,27,01,\n`);
  const checked = await check(['--', '-x y.csv']);
  expect(checked.code).toBe(13);
  const next = (JSON.parse(checked.stderr.trimEnd().split('\n').at(-1) ?? '') as { next_words: string[] }).next_words;
  expect(next.slice(1)).toEqual(['au', 'prepare', './-x y.csv', '--out', './-x y.prepared.csv']);
  const prepared = await svcIn(home.path, next.slice(1));
  expect(prepared.code, prepared.stderr).toBe(0);
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
  [['good.csv'], 'the file is valid'],
  [['good.csv', 'in/twice.csv'], 'all files are valid'],
])('svc au check says of %j that %s', async (files, words) => {
  const { code, stderr } = await check(files);
  expect([code, stderr]).toEqual([0, expect.stringContaining(words)]);
});

it('svc au check gives one file as one object', async () => {
  const { code, stdout } = await check(['good.csv']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ file: 'good.csv', rows: 1 });
});

it('R40: svc au check puts problems beside their lines on GitHub Actions, without a value of any row', async () => {
  const files = ['good.csv', 'in/bad, 100%.csv', 'in/twice.csv'];
  const checked = await check(files, { GITHUB_ACTIONS: 'true' });
  const bad = 'file=in/bad%2C 100%25.csv';
  expect(annotations(checked)).toEqual([
    `::error ${bad},line=2,title=svc au check::expiration_year: this is not a year of 2 digits`,
    expect.stringContaining(`::error ${bad},line=3,title=svc au check::token: `),
    `::error ${bad},line=3,title=svc au check::expiration_month: this is not a month from 01 to 12`,
    `::error ${bad},line=4,title=svc au check::the line contains what looks like a card number; send tokens only`,
    '::warning file=in/twice.csv,line=3,title=svc au check::the token and merchant of line 2: the row is left out',
  ]);
  for (const value of [CARD, '2z', 'm-77', 'secret-token', '"13"'])
    expect(annotations(checked).join('\n')).not.toContain(value);
  // The JSON error is still the last line, where scripts read it.
  expect(JSON.parse(checked.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ exit_code: 13 });
});

it('R93: svc au check puts what a whole file contradicts beside its lines on GitHub Actions, unless it is accepted', async () => {
  const rows = Array.from({ length: 20 }, (_, at) => `00000000-0000-4000-8000-0000000000${10 + at},20,02,M-1`);
  const text = [
    'token,expiration_year,expiration_month,merchant_id',
    ...rows.with(3, rows[3]!.replace('M-1', 'NULL')),
    '',
  ];
  writeFileSync(home.file('past.csv'), text.join('\n'));
  const env = { GITHUB_ACTIONS: 'true' };
  expect(annotations(await check(['past.csv'], env))).toEqual([
    expect.stringMatching(/^::error file=past\.csv,line=5,title=svc au check::merchant_id: is a mark for nothing/),
    expect.stringMatching(/^::error file=past\.csv,title=svc au check::20 of 20 cards expired more than/),
  ]);
  const accepted = await svcIn(home.path, ['au', 'check', 'past.csv', '--accept', 'past', '--accept', 'marks'], {
    env,
  });
  expect([accepted.code, annotations(accepted)]).toEqual([0, []]);
});

it('svc au check names files from the root of the repository where GitHub tells it', async () => {
  const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: home.path };
  const child = await svcIn(home.path, ['au', 'check', home.file('in/twice.csv')], { env });
  expect(annotations(child)).toEqual([
    '::warning file=in/twice.csv,line=3,title=svc au check::the token and merchant of line 2: the row is left out',
  ]);
  const elsewhere = { ...env, GITHUB_WORKSPACE: '/nowhere/at/all' };
  expect(annotations(await check(['in/twice.csv'], elsewhere))[0]).toContain('file=in/twice.csv,');
});

it('svc au check annotates nothing elsewhere, nor standard input, and does so for submit too', async () => {
  for (const env of [{}, { GITHUB_ACTIONS: 'false' }, { GITLAB_CI: 'true', CI: 'true' }])
    expect(annotations(await check(['in/bad, 100%.csv'], env))).toEqual([]);
  const piped = await svcIn(home.path, ['au', 'check', '-'], { input: 'x\n', env: { GITHUB_ACTIONS: 'true' } });
  expect([piped.code, annotations(piped)]).toEqual([13, []]);
  const env = { GITHUB_ACTIONS: 'true', SVC_BASE_URL: 'http://127.0.0.1:9', SVC_PRIVATE_API_KEY: 'key' };
  const submitted = await svcIn(home.path, ['au', 'submit', 'in/bad, 100%.csv'], { env });
  expect([submitted.code, annotations(submitted).length]).toEqual([13, 4]);
});
