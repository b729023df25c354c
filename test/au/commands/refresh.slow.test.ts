import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withLock } from '../../../src/base/files/lock.ts';
import { TEST_CARDS } from '../../../src/emulator/seed/test-cards.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { SANDBOX_MERCHANT_ID } from '../../../src/schema/account-updater-files.ts';
import { FakeClock } from '../../support/clock.ts';
import { ended, errorIn, type HereResult, succeeded } from '../../support/run-here.ts';
import { jobOfEarlierBuild } from '../ledger/job-of-earlier-build.ts';
import { openQuickDesk, type QuickDesk, writeRows } from './support.ts';

const ROWS = exampleRequestFile().trimEnd().split('\n').slice(1);
const TOKENS = ROWS.map((row) => row.slice(0, row.indexOf(',')));
/** The row whose card's holder is to be contacted. */
const CONTACT = TEST_CARDS.findIndex(({ code }) => code === 'WRN_CONTACT_CARDHOLDER');
const HEADER = 'Card Ref;Customer;Valid Until';
const CYCLE = 'refresh/2026-12';
const MORE = '0b1c2d3e-4f50-4a61-8b72-9c83ad94be05;C-99;11/2031';
/** Every result code occurs among the test cards, so more rows than usual end in an error. */
const ENOUGH = ['--fail-on', 'err=60%'];

function exportOf(rows: readonly string[] = ROWS, ...more: readonly string[]): string {
  const lines = rows.map((row, index) => {
    const [token = '', year = '', month = ''] = row.split(',');
    return `${token};C-${index};${month === '' ? '' : `${month}/20${year}`}`;
  });
  return [HEADER, ...lines, ...more, ''].join('\r\n');
}

/** A desk with an export, and a function that runs the refresh of it with further words. */
async function openRefresh(options: Parameters<typeof openQuickDesk>[0] = {}) {
  const desk = await openQuickDesk(options);
  rmSync(desk.home.file('tokens.csv'));
  writeFileSync(desk.home.file('export.csv'), exportOf());
  const refresh = (...words: string[]) =>
    desk.svc(['au', 'refresh', 'export.csv', '--cycle', '2026-12', '--map', 'token=Card Ref', ...words]);
  const read = (name: string): string => readFileSync(desk.home.file(join(CYCLE, name)), 'utf8');
  return { desk, refresh, read };
}

function rowOf({ stdout }: HereResult): Record<string, unknown> {
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** The commands that a refresh named, one for each step that it did. */
function commandsOf({ stderr }: HereResult): string[] {
  return [...stderr.matchAll(/^step \d of \d, \w+:\n {2}svc (.+)$/gm)].map(([, words = '']) => words);
}

/** The files below a directory. */
function filesIn({ home }: Pick<QuickDesk, 'home'>, directory = CYCLE): string[] {
  const found = readdirSync(home.file(directory), { recursive: true }).map(String);
  return found.filter((name) => statSync(home.file(join(directory, name))).isFile()).toSorted();
}

/** The rows of a CSV file as objects. */
function tableOf(text: string): Record<string, string>[] {
  const [header = '', ...rows] = text.trimEnd().split('\n');
  const names = header.split(',');
  return rows.map((row) => Object.fromEntries(row.split(',').map((cell, at) => [names[at] ?? '', cell])));
}

it('the files with what to do after a cycle have each row with its kept columns, and the last line names the new tokens', async () => {
  const { refresh, read } = await openRefresh();
  const done = succeeded(await refresh('--keep', 'Customer'));
  const results = tableOf(read('results.csv'));
  const issued = results.filter(({ new_token: token }) => token !== '');
  expect(read('todo/replace.csv').split('\n')[0]).toBe(
    'Customer,token,new_token,new_expiration_year,new_expiration_month,result_code',
  );
  const replace = tableOf(read('todo/replace.csv'));
  expect(replace).toMatchObject(issued.map(({ token, new_token }) => ({ token, new_token })));
  for (const { Customer, token } of replace)
    expect(Customer).toBe(`C-${ROWS.findIndex((row) => row.startsWith(token ?? ''))}`);
  expect(tableOf(read('todo/contact.csv')).every(({ result_code: code }) => code === 'WRN_CONTACT_CARDHOLDER')).toBe(
    true,
  );
  expect(done.stderr).toContain(
    `${issued.length} new tokens: ${CYCLE}/todo/replace.csv, and as SQL in update.sql beside it\n`,
  );
  expect(rowOf(done)).toMatchObject({ new_tokens: issued.length, replace: `${CYCLE}/todo/replace.csv` });
});

it('the files with what to do after a cycle have the groups of au report, also for codes with a chosen action', async () => {
  const { desk, refresh, read } = await openRefresh();
  const chosen = ['--action', 'UPD_PAN=exclude', '--action', 'UPD_EXP_DATE=keep'];
  const done = succeeded(await refresh(...ENOUGH, '--next', '--verbose', ...chosen));
  const { groups } = rowOf(await desk.svc(['au', 'report', `${CYCLE}/results.csv`, ...chosen]));
  const written = filesIn(desk, `${CYCLE}/todo`)
    .filter((name) => name.endsWith('.csv'))
    .map((name) => [name.slice(0, -4), tableOf(read(`todo/${name}`)).length]);
  expect({ keep: expect.any(Number) as number, ...Object.fromEntries(written) }).toEqual(groups);
  expect(rowOf(done)['new_tokens']).toBe((groups as Record<string, number>)['replace']);
  const excluded = new Set(
    tableOf(readFileSync(desk.home.file('refresh/exclusions.csv'), 'utf8')).map((row) => row['token']),
  );
  expect(tableOf(read('todo/replace.csv')).filter(({ token }) => excluded.has(token))).toEqual([]);
  const named = commandsOf(done).filter((words) => /^au (?:report|next) /.test(words));
  expect(named.map((words) => words.endsWith(` ${chosen.join(' ')}`))).toEqual([true, true]);
});

it('the files with what to do after a cycle without new tokens are a header, because a program reads it', async () => {
  const { desk, refresh, read } = await openRefresh();
  const unchanged = ROWS.filter((row) => row.startsWith('00000000'));
  writeFileSync(desk.home.file('export.csv'), exportOf(unchanged, MORE));
  succeeded(await refresh('--fail-on', 'err=100%'));
  expect(read('todo/replace.csv')).toBe('token,new_token,new_expiration_year,new_expiration_month,result_code\n');
});

it('the files with what to do after a cycle stay where somebody changed one, which ends with 3 and names it', async () => {
  const { desk, refresh, read } = await openRefresh();
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(0, 4)));
  succeeded(await refresh(...ENOUGH));
  const replace = desk.home.file(`${CYCLE}/todo/replace.csv`);
  writeFileSync(replace, 'mine');
  ended(await refresh(...ENOUGH), 3, { error: { files: [`${CYCLE}/todo/replace.csv`] }, unsaid: 'new tokens: ' });
  writeFileSync(desk.home.file('export.csv'), exportOf());
  const refused = await refresh('--add', ...ENOUGH);
  expect([refused.code, readFileSync(replace, 'utf8')], refused.stderr).toEqual([3, 'mine']);
  expect(errorIn(refused)['files']).toEqual([`${CYCLE}/todo/replace.csv`]);
  ended(
    await refresh('--fail-on', 'err=1%'),
    10,
    `warning: cycle 2026-12: ${CYCLE}/todo/replace.csv is not as the refresh wrote it`,
  );
  expect(tableOf(read('todo/fix.csv')).length).toBeGreaterThan(0);
  rmSync(replace);
  succeeded(await refresh(...ENOUGH));
  expect(tableOf(read('todo/replace.csv')).length).toBeGreaterThan(0);
});

describe('a request of a cycle that goes no further', () => {
  it('a request of a cycle to which --add could not send the rows of an export stays without them', async () => {
    let mayCreate = true;
    const { desk, refresh, read } = await openRefresh({
      intercept: ({ method }, outgoing, proceed) =>
        mayCreate || method === 'GET' ? proceed() : outgoing.writeHead(401).end(),
    });
    succeeded(await refresh(...ENOUGH));
    const before = filesIn(desk).map((name) => read(name));
    mayCreate = false;
    writeFileSync(desk.home.file('export.csv'), exportOf(ROWS, MORE));
    ended(await refresh('--add', ...ENOUGH), 4);
    expect(filesIn(desk).map((name) => read(name))).toEqual(before);
    mayCreate = true;
    expect(rowOf(await refresh(...ENOUGH))).toMatchObject({ rows: ROWS.length, new_rows: 1 });
    expect(rowOf(await desk.svc(['au', 'refresh', '--cycle', '2026-12', ...ENOUGH]))).toMatchObject({ new_rows: null });
    expect(desk.uploads()).toBe(1);
  });

  it('R85: a request of a cycle to which --add added only tokens that the cycle made goes on as before', async () => {
    const { desk, refresh, read } = await openRefresh();
    writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(0, 4)));
    succeeded(await refresh(...ENOUGH));
    const made = tableOf(read('todo/replace.csv')).map(({ new_token: token = '' }) => `${token},31,05,`);
    writeFileSync(desk.home.file('export.csv'), exportOf([...made, ...ROWS.slice(3, 4)]));
    for (const words of [['--add'], [], ['--add', '--next']])
      ended(await refresh(...words, ...ENOUGH), 0, { uploads: 1 });
    succeeded(await desk.svc(['au', 'refresh', '--cycle', '2026-12', ...ENOUGH]));
  });
});

/** The token of each row of a file, in its order. */
function tokensIn(text: string): string[] {
  return tableOf(text).map(({ token = '' }) => token);
}

it('the files of a whole cycle have each token of two requests once, and each job keeps its own results', async () => {
  const { desk, refresh, read } = await openRefresh();
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(0, 20)));
  succeeded(await refresh(...ENOUGH));
  const [first = ''] = desk.jobs();
  const own = readFileSync(desk.files(first).results, 'utf8');
  expect(read('results.csv')).toBe(own);
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(10), MORE));
  const both = succeeded(await refresh('--add', ...ENOUGH));
  const tokens = tokensIn(read('results.csv'));
  expect(new Set(tokens).size).toBe(tokens.length);
  for (const token of tokensIn(own)) expect(tokens).toContain(token);
  const { updated, warned, errors, unknown, unchanged, new_tokens: issued, ...row } = rowOf(both);
  expect(row).toMatchObject({ rows: ROWS.length + 1, results: `${CYCLE}/results.csv`, report: `${CYCLE}/report.html` });
  expect(Number(updated) + Number(warned) + Number(errors) + Number(unknown)).toBe(tokens.length);
  expect(unchanged).toBe(ROWS.length + 1 - tokens.length);
  expect(issued).toBe(tableOf(read('results.csv')).filter(({ new_token: token }) => token !== '').length);
  expect(read('report.html')).toContain(`request.csv: ${ROWS.length + 1} requested = `);
  for (const name of ['results.csv', 'report.html'])
    expect(statSync(desk.home.file(join(CYCLE, name))).mode & 0o777, name).toBe(0o600);
  expect(tokensIn(read('request.csv'))).toEqual([...TOKENS, MORE.split(';')[0]]);
  expect(readFileSync(desk.files(first).results, 'utf8')).toBe(own);
});

it('the files of a whole cycle have a result of each merchant of a token, also equal ones, and that of a shared row once', async () => {
  const { desk, read } = await openRefresh();
  const [contact = '', other = ''] = [TOKENS[CONTACT], TOKENS[0]];
  const refreshWith = async (...rows: readonly string[]): Promise<HereResult> => {
    const lines = ['token;expiration_month;expiration_year;merchant_id;card', ...rows, ''];
    writeFileSync(desk.home.file('shop.csv'), lines.join('\n'));
    return desk.svc('au refresh shop.csv --cycle 2026-12 --add --keep card');
  };
  const cards = (): unknown[] => tableOf(read('todo/contact.csv')).map(({ card }) => card);
  const [ann, ben] = [`${contact};05;28;;Ann`, `${contact};05;28;${SANDBOX_MERCHANT_ID};Ben`];
  expect(rowOf(await refreshWith(ann))).toMatchObject({ rows: 1, warned: 1, unchanged: 0 });
  expect(rowOf(await refreshWith(ben))).toMatchObject({ rows: 2, warned: 2, unchanged: 0 });
  expect(cards()).toEqual(['Ann', 'Ben']);
  ended(await refreshWith(ann, `${other};05;28;;Cy`, ben), 0, {
    row: { rows: 3, updated: 1, warned: 2, unchanged: 0 },
  });
  expect([desk.uploads(), cards()]).toEqual([3, ['Ann', 'Ben']]);
});

it('the files of a whole cycle have each new token where the job of an earlier build has one for two merchants', async () => {
  const { desk, read } = await openRefresh();
  const [updated = '', other = ''] = TOKENS;
  const contact = TOKENS[CONTACT] ?? '';
  const both = [updated, contact].flatMap((token) => [`${token},28,05,`, `${token},28,05,${SANDBOX_MERCHANT_ID}`]);
  await jobOfEarlierBuild(desk, both);
  const rows = [updated, other, contact].map((token) => `${token};28;05;card of ${token}`);
  const header = 'token;expiration_year;expiration_month;card';
  writeFileSync(desk.home.file('shop.csv'), [header, ...rows, ''].join('\n'));
  ended(await desk.on('laptop', 'au refresh shop.csv --cycle 2026-12 --keep card --next'), 0, {
    row: { rows: 3, warned: 2, new_tokens: 3 },
  });
  const tokensOf = (name: string): unknown[] => tableOf(read(name)).map(({ card, token }) => [card, token]);
  const replaced = tokensOf('todo/replace.csv');
  expect(replaced).toHaveLength(3);
  expect(replaced).toEqual(
    expect.arrayContaining([
      [`card of ${other}`, other],
      ['', updated],
    ]),
  );
  const unknown = ['', contact];
  expect(tokensOf('todo/contact.csv')).toEqual([unknown, unknown]);
  expect(tableOf(read('results.csv')).filter(({ token }) => token === updated)).toHaveLength(2);
});

it('the files of a whole cycle stay as they are while added rows are pending', async () => {
  const { desk, refresh, read } = await openRefresh({ processingMs: 60_000 });
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(0, 20)));
  ended(await refresh('--no-wait', ...ENOUGH), 11);
  await desk.clock.advance(120_000);
  succeeded(await refresh('--no-wait', ...ENOUGH));
  const before = read('results.csv');
  writeFileSync(desk.home.file('export.csv'), exportOf());
  // A next request would lack the rows that are pending.
  ended(await refresh('--add', '--no-wait', '--next', ...ENOUGH), 11, {
    row: { status: 'pending', rows: ROWS.length, results: null, next: null },
  });
  expect([read('results.csv'), filesIn(desk).includes('next.csv')]).toEqual([before, false]);
  await desk.clock.advance(120_000);
  ended(await desk.svc(['au', 'refresh', '--next', ...ENOUGH]), 0, { row: { status: 'completed', rows: ROWS.length } });
  expect(tokensIn(read('results.csv')).length).toBeGreaterThan(tokensIn(before).length);
  expect(read('next.csv').trimEnd().split('\n')).toHaveLength(1 + ROWS.length - 7);
});

it('the files of a whole cycle are not written while it is not known what became of a request', async () => {
  let unreadable = 'none';
  const { desk, refresh, read } = await openRefresh({
    processingMs: 60_000,
    intercept: (incoming, outgoing, proceed) =>
      incoming.url?.endsWith(unreadable) ? outgoing.writeHead(403).end() : proceed(),
  });
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(0, 20)));
  ended(await refresh('--no-wait', ...ENOUGH), 11);
  const [first = ''] = desk.jobs();
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(20)));
  const pending = await refresh('--add', '--no-wait', ...ENOUGH);
  expect(desk.uploads(), pending.stderr).toBe(2);
  unreadable = first;
  await desk.clock.advance(120_000);
  ended(await refresh('--add', '--no-wait', ...ENOUGH), 4, { stdout: '' });
  expect(filesIn(desk)).not.toContain('results.csv');
  unreadable = 'none';
  succeeded(await refresh('--add', '--no-wait', ...ENOUGH));
  expect(tokensIn(read('results.csv')).length).toBeGreaterThan(20);
});

describe('the directory of all cycles', () => {
  it('the directory of all cycles belongs to a tenant, and nothing of another one is sent from it', async () => {
    const { desk, refresh } = await openRefresh({ tenants: ['test', 'test'] });
    succeeded(await refresh(...ENOUGH));
    const [ours, theirs] = desk.sandbox.tenants;
    const file = readFileSync(desk.home.file('refresh/tenant.json'), 'utf8');
    expect(JSON.parse(file)).toMatchObject({ tenant: ours?.id });
    writeFileSync(desk.home.file('export.csv'), exportOf(ROWS, MORE));
    const own = `--out-dir refresh-${theirs?.id.slice(0, 8)}`;
    for (const words of [
      ['2026-12', '--add'],
      ['2026-12', '--add', '--dry-run'],
      ['2027-01', '--pay-again'],
      ['2026-12', '--add', '--out-dir', 'refresh/'],
    ]) {
      const line = ['au', 'refresh', 'export.csv', '--map', 'token=Card Ref', '--cycle', ...words];
      const refused = await desk.svc(line, { SVC_PRIVATE_API_KEY: theirs?.private_key ?? '' });
      ended(refused, 3, { uploads: 1, error: { alternatives: [expect.stringContaining(own)] } });
      expect(String(errorIn(refused)['alternatives']).match(/--pay-again/g) ?? []).toHaveLength(
        words.includes('--pay-again') ? 1 : 0,
      );
    }
  });

  it.each([
    ['tenant.json', 'which is that of a file of svc'],
    ['Exclusions.csv', 'which is that of a file of svc'],
    ['..', 'not only dots'],
    ['.exclusions.csv.lock', 'which is not safe as the name of a folder'],
    ['a0b1c2d3-0000-4000-8000-00000000000c', 'which looks like the id of a job'],
  ])('svc au refresh makes no directory for a cycle with the name %s, %s', async (name, why) => {
    const { desk, refresh } = await openRefresh();
    const words = ['au', 'refresh', 'export.csv', '--cycle', name, '--map', 'token=Card Ref'];
    for (const options of [[], ['--dry-run']])
      ended(await desk.svc([...words, ...options]), 2, { error: { message: expect.stringContaining(why) } });
    expect(existsSync(desk.home.file('refresh'))).toBe(false);
    succeeded(await refresh(...ENOUGH));
    ended(await desk.svc(words), 2);
  });

  it('a directory in the place of tenant.json stops a refresh with the reason', async () => {
    const { desk, refresh } = await openRefresh();
    mkdirSync(desk.home.file('refresh/tenant.json'), { recursive: true });
    ended(await refresh(), 3, { uploads: 0, error: { message: 'refresh/tenant.json does not name a tenant' } });
  });

  it('the directory of all cycles is another one in the sandbox', async () => {
    const { desk } = await openRefresh();
    const words = ['au', 'refresh', 'export.csv', '--cycle', '2026-12', '--map', 'token=Card Ref', '--dry-run'];
    ended(await desk.svc(['--sandbox', ...words], { SVC_BASE_URL: '' }), 0, {
      row: { file: 'refresh-sandbox/2026-12/request.csv' },
    });
  });
});

it('a refresh without an export goes on with what the cycle has, or with the one cycle that is open', async () => {
  const { desk, refresh } = await openRefresh({ processingMs: 3_600_000 });
  ended(await desk.svc('au refresh'), 2, { error: { message: 'no cycle in refresh is open' } });
  ended(await desk.svc('au refresh --cycle 2026-12'), 2, {
    error: { next: 'svc au refresh export.csv --cycle 2026-12' },
  });
  ended(await refresh('--no-wait'), 11);
  // The export may be another one by now, which is not looked at.
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS, MORE));
  for (const line of ['au refresh --cycle 2026-12 --no-wait', 'au refresh --no-wait'])
    expect(await desk.svc(line)).toMatchObject({ code: 11 });
  await desk.clock.advance(3_700_000);
  const done = await desk.svc('au refresh');
  expect([done.code, rowOf(done)['rows'], desk.uploads()], done.stderr).toEqual([0, ROWS.length, 1]);
});

it('a refresh without an export goes on with the one cycle that is open where its directory is a link', async () => {
  const { desk, refresh } = await openRefresh({ processingMs: 3_600_000 });
  ended(await refresh('--no-wait'), 11);
  renameSync(desk.home.file(CYCLE), desk.home.file('volume'));
  symlinkSync(desk.home.file('volume'), desk.home.file(CYCLE));
  ended(await desk.svc('au refresh --no-wait'), 11, { uploads: 1, row: { cycle: '2026-12' } });
});

it('svc au refresh takes an export to the results, the report and the next request, and names the command of each step', async () => {
  const { desk, refresh, read } = await openRefresh();
  const done = ended(await refresh('--verbose', '--keep', 'Customer', '--next', ...ENOUGH), 0, {
    row: {
      cycle: '2026-12',
      status: 'completed',
      rows: ROWS.length,
      jobs: desk.jobs(),
      request: `${CYCLE}/request.csv`,
      results: `${CYCLE}/results.csv`,
      report: `${CYCLE}/report.html`,
      next: `${CYCLE}/next.csv`,
      exclusions: 'refresh/exclusions.csv',
    },
  });
  expect(Object.keys(rowOf(done)).slice(0, 8)).toEqual(
    'cycle status rows dropped new_rows jobs request results'.split(' '),
  );
  expect(read('request.csv').split('\n').slice(1)).toEqual([...ROWS, '']);
  const files = [
    'next.csv',
    'next.keep.csv',
    'refresh.json',
    'report.html',
    'request.csv',
    'request.keep.csv',
    'results.csv',
    ...['consider', 'contact', 'exclude', 'fix', 'replace', 'support'].map((group) => `todo/${group}.csv`),
    'todo/update.sql',
  ];
  expect(filesIn(desk)).toEqual(files);
  for (const file of files) expect(statSync(desk.home.file(join(CYCLE, file))).mode & 0o777, file).toBe(0o600);
  const page = read('report.html');
  expect(page).toContain('<title>Account Updater report: cycle 2026-12</title>');
  // The page is passed on, so that it names no directory of this machine.
  expect(page).not.toContain(desk.home.path);
  const commands = commandsOf(done);
  expect(commands.map((line) => line.split(' ')[1])).toEqual(['prepare', 'submit', 'submit', 'report', 'next']);
  // The command of a step does the same by itself.
  const next = read('next.csv');
  rmSync(desk.home.file(`${CYCLE}/next.csv`));
  rmSync(desk.home.file(`${CYCLE}/next.keep.csv`));
  succeeded(await desk.svc(commands[4] ?? ''));
  expect(read('next.csv')).toBe(next);
});

it('svc au refresh does nothing twice: the same command again reads what is there and sends nothing', async () => {
  const { desk, refresh, read } = await openRefresh();
  const first = await refresh('--next', ...ENOUGH);
  const before = filesIn(desk).map((name) => read(name));
  const again = succeeded(await refresh('--next', ...ENOUGH));
  expect(rowOf(again)).toEqual(rowOf(first));
  expect(filesIn(desk).map((name) => read(name))).toEqual(before);
  expect(desk.uploads()).toBe(1);
});

it('svc au refresh lists closed accounts also without --next, and writes next.csv once --next is added', async () => {
  const { desk, refresh, read } = await openRefresh();
  const done = ended(await refresh(...ENOUGH), 0, { row: { next: null, next_rows: null, excluded: 7 } });
  expect(filesIn(desk)).not.toContain('next.csv');
  const list = readFileSync(desk.home.file('refresh/exclusions.csv'), 'utf8');
  expect(list.trimEnd().split('\n')).toHaveLength(1 + 7);
  expect(done.stderr).not.toContain('step ');
  ended(await refresh('--next', ...ENOUGH), 0, {
    row: { next: `${CYCLE}/next.csv`, next_rows: ROWS.length - 7, excluded: 7 },
  });
  expect(read('next.csv').trimEnd().split('\n')).toHaveLength(1 + ROWS.length - 7);
  expect(readFileSync(desk.home.file('refresh/exclusions.csv'), 'utf8')).toBe(list);
  expect(desk.uploads()).toBe(1);
});

it('svc au refresh ends with 11 with --no-wait, and the same command goes on, even without the export and the request file', async () => {
  const { desk, refresh, read } = await openRefresh({ processingMs: 3_600_000 });
  const begun = ended(await refresh('--no-wait', ...ENOUGH), 11);
  expect(rowOf(begun)).toMatchObject({ status: 'pending', rows: ROWS.length, results: null, next: null });
  expect(errorIn(begun)).toMatchObject({
    next: expect.stringContaining('svc au refresh export.csv --cycle 2026-12') as string,
    alternatives: ['svc au resume'],
  });
  ended(await refresh('--no-wait', ...ENOUGH), 11);
  const request = read('request.csv');
  rmSync(desk.home.file('export.csv'));
  rmSync(desk.home.file(`${CYCLE}/request.csv`));
  const done = ended(await refresh('--next', ...ENOUGH), 0, 'export.csv is gone: its request was prepared before');
  expect(read('request.csv')).toBe(request);
  expect(rowOf(done)).toMatchObject({ status: 'completed', next: `${CYCLE}/next.csv` });
  expect(desk.uploads()).toBe(1);
});

it('svc au refresh prepares again after the export was corrected, and sends nothing of the refused one', async () => {
  const { desk, refresh } = await openRefresh();
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS, 'x;C;soon'));
  const refused = ended(await refresh(), 13);
  // The file with the refused rows is in the directory of the cycle, so that --rejects is not an option here.
  const { next_words: leavingOut } = errorIn(refused) as { next_words: readonly string[] };
  expect(leavingOut.slice(-2)).toEqual(['--max-rejects', '1']);
  succeeded(await desk.svc([...leavingOut.slice(1), '--dry-run']));
  expect(existsSync(desk.home.file('refresh'))).toBe(false);
  writeFileSync(desk.home.file('export.csv'), exportOf());
  ended(await refresh(...ENOUGH), 0, { uploads: 1 });
});

it('svc au refresh that finds no export names the command that begins its cycle with one', async () => {
  const { desk } = await openRefresh();
  ended(await desk.svc('au refresh gone.csv --cycle 2027-01 --next'), 1, {
    stdout: '',
    error: { message: 'gone.csv does not exist', next: 'svc au refresh export.csv --cycle 2027-01 --next' },
  });
  expect(existsSync(desk.home.file('refresh'))).toBe(false);
});

it('svc au refresh sends only new rows of another export in the same cycle, and writes the results of all', async () => {
  const { desk, refresh, read } = await openRefresh();
  succeeded(await refresh(...ENOUGH));
  const first = read('results.csv');
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS, MORE));
  // A changed export sends nothing without the operator's word.
  ended(await refresh(...ENOUGH), 0, '1 row of export.csv is new in cycle 2026-12: --add submits it', {
    row: { new_rows: 1, request: `${CYCLE}/request.csv` },
  });
  const planned = await refresh('--dry-run');
  expect([planned.code, planned.stderr.trimEnd().split('\n').at(-1)]).toEqual([0, 'dry run: nothing was sent']);
  expect(desk.uploads()).toBe(1);
  ended(
    await refresh('--add', '--fail-on', 'err=100%'),
    0,
    `${ROWS.length} of ${ROWS.length + 1} rows of ${CYCLE}/request.csv are in cycle`,
    'rows on the list of exclusions left out: 7 rows',
    { row: { rows: ROWS.length + 1, request: `${CYCLE}/request.csv` } },
  );
  // Rows that the second export lacks, since their accounts are closed, keep their results.
  expect(new Set(tokensIn(read('results.csv')))).toEqual(new Set([...tokensIn(first), MORE.split(';')[0]]));
  expect(desk.uploads()).toBe(2);
  // The first export is recognized, and nothing of it is sent again.
  writeFileSync(desk.home.file('export.csv'), exportOf());
  expect(rowOf(await refresh(...ENOUGH))).toMatchObject({ request: `${CYCLE}/request.csv`, status: 'completed' });
  // An export without new rows ends well and costs nothing, added or not.
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(0, 5)));
  expect(rowOf(await refresh(...ENOUGH))).toMatchObject({ new_rows: 0 });
  ended(await refresh('--add', ...ENOUGH), 0, { uploads: 2 });
});

it('R72: svc au refresh ends with 11 when the time passes while a request is pending and another has results', async () => {
  const { desk, refresh } = await openRefresh({ processingMs: 3_600_000 });
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(0, 20)));
  ended(await refresh('--no-wait', ...ENOUGH), 11);
  await desk.clock.advance(7_200_000);
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS, MORE));
  ended(await refresh('--add', '--timeout', '10m', ...ENOUGH), 11, {
    row: { cycle: '2026-12', status: 'pending', results: null },
  });
});

it('R84: svc au refresh gets the results of rows that another machine submitted, and of those that it added', async () => {
  const { desk, read } = await openRefresh({ processingMs: 60_000 });
  const line = ['au', 'refresh', 'export.csv', '--cycle', '2026-12', '--map', 'token=Card Ref', '--no-wait', '--add'];
  const refreshOn = (machine: string) => desk.on(machine, [...line, '--fail-on', 'err=100%']);
  ended(await refreshOn('runner'), 11);
  const request = read('request.csv');
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS, MORE));
  const both = await refreshOn('laptop');
  const added = '0b1c2d3e-4f50-4a61-8b72-9c83ad94be05,31,11,\n';
  expect([both.code, read('request.csv')], both.stderr).toEqual([11, request + added]);
  await desk.clock.advance(120_000);
  ended(await refreshOn('laptop'), 0, { row: { rows: ROWS.length + 1, results: `${CYCLE}/results.csv` } });
  const results = read('results.csv');
  expect(desk.received().map((file) => file.trimEnd().split('\n').length - 1)).toEqual([ROWS.length, 1]);
  // The results that one machine wrote are those of the other one too.
  succeeded(await refreshOn('runner'));
  succeeded(await refreshOn('desktop'));
  expect([read('results.csv'), desk.uploads()]).toEqual([results, 2]);
});

it('svc au refresh makes the request again that another machine sent, where the export still gives the same file', async () => {
  const { desk, read } = await openRefresh({ processingMs: 60_000 });
  const words = [
    'au',
    'refresh',
    'export.csv',
    '--cycle',
    '2026-12',
    '--map',
    'token=Card Ref',
    ...ENOUGH,
    '--no-wait',
  ];
  const refreshOn = (machine: string) => desk.on(machine, words);
  ended(await refreshOn('runner'), 11);
  const request = read('request.csv');
  rmSync(desk.home.file(`${CYCLE}/request.csv`));
  const other = await refreshOn('laptop');
  expect([other.code, read('request.csv')], other.stderr).toEqual([11, request]);
  expect(other.stderr).toContain(`${CYCLE}/request.csv was restored from export.csv`);
  // Another list of exclusions gives another request.
  rmSync(desk.home.file(`${CYCLE}/request.csv`));
  writeFileSync(desk.home.file('refresh/exclusions.csv'), `token,code,cycle,date\n${TOKENS[0]},,,\n`);
  const differs = await refreshOn('desktop');
  expect([differs.code, existsSync(desk.home.file(`${CYCLE}/request.csv`))], differs.stderr).toEqual([1, false]);
  expect(errorIn(differs)).toMatchObject({
    message: `${CYCLE}/request.csv is gone, and export.csv does not give the same file now`,
    next: 'svc au resume 2026-12 --wait',
  });
  expect(desk.uploads()).toBe(1);
});

it('svc au refresh gets the results of each request that another machine submitted, once results.csv is gone', async () => {
  const { desk, read } = await openRefresh();
  const refreshOn = (machine: string, ...words: string[]) =>
    desk.on(machine, ['au', 'refresh', ...words, '--cycle', '2026-12', '--fail-on', 'err=100%']);
  const exported = ['export.csv', '--map', 'token=Card Ref', '--add'];
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(0, 20)));
  succeeded(await refreshOn('runner', ...exported));
  writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.slice(20), MORE));
  succeeded(await refreshOn('runner', ...exported));
  const [results, replace] = [read('results.csv'), read('todo/replace.csv')];
  rmSync(desk.home.file(`${CYCLE}/results.csv`));
  const done = await refreshOn('laptop');
  expect([done.code, rowOf(done)['rows']], done.stderr).toEqual([0, ROWS.length + 1]);
  expect([read('results.csv'), read('todo/replace.csv'), desk.uploads()]).toEqual([results, replace, 2]);
  rmSync(desk.home.file(`${CYCLE}/results.csv`));
  succeeded(await refreshOn('runner'));
  expect([read('results.csv'), desk.uploads()]).toEqual([results, 2]);
});

it('svc au refresh sends rows again whose job the operator abandoned, in another job', async () => {
  let isCut = true;
  const { desk, refresh } = await openRefresh({
    intercept: (incoming, _outgoing, proceed) => (isCut && incoming.method === 'PUT' ? incoming.destroy() : proceed()),
  });
  expect(await refresh('--no-wait')).not.toMatchObject({ code: 0 });
  isCut = false;
  const [lost = ''] = desk.jobs();
  succeeded(await desk.svc(`au abandon ${lost} --yes`));
  const done = succeeded(await refresh(...ENOUGH));
  expect([desk.uploads(), rowOf(done)['rows'], rowOf(done)['jobs']]).toEqual([
    1,
    ROWS.length,
    desk.jobs().filter((job) => job !== lost),
  ]);
});

it('svc au refresh writes nothing where it could not send a row', async () => {
  let mayCreate = false;
  const { desk, refresh } = await openRefresh({
    intercept: (_incoming, outgoing, proceed) => (mayCreate ? proceed() : outgoing.writeHead(401).end()),
  });
  ended(await refresh(), 4);
  expect(existsSync(desk.home.file('refresh'))).toBe(false);
  mayCreate = true;
  succeeded(await refresh(...ENOUGH));
  expect(filesIn(desk)).toContain('request.csv');
});

it.each(['request.csv', 'results.csv', 'report.html', 'next.csv', 'next.keep.csv'])(
  'svc au refresh refuses a directory with a %s that it did not write, before it does anything',
  async (name) => {
    const { desk, refresh, read } = await openRefresh();
    mkdirSync(desk.home.file(CYCLE), { recursive: true });
    writeFileSync(desk.home.file(join(CYCLE, name)), 'mine');
    ended(await refresh('--next'), 3, { error: { file: `${CYCLE}/${name}` } });
    expect([filesIn(desk), read(name), desk.uploads()]).toEqual([[name], 'mine', 0]);
  },
);

it.each(['results.csv', 'report.html', 'next.csv', 'next.keep.csv'])(
  'svc au refresh never replaces a %s that appeared while the job was pending',
  async (name) => {
    const { desk, refresh, read } = await openRefresh({ processingMs: 60_000 });
    ended(await refresh('--keep', 'Customer', '--no-wait'), 11);
    writeFileSync(desk.home.file(join(CYCLE, name)), 'mine');
    await desk.clock.advance(120_000);
    ended(await refresh('--keep', 'Customer', '--next', ...ENOUGH), 3, { error: { files: [`${CYCLE}/${name}`] } });
    expect(read(name)).toBe('mine');
  },
);

it('svc au refresh refuses a request file that was changed after it was prepared', async () => {
  const { desk, refresh, read } = await openRefresh();
  succeeded(await refresh(...ENOUGH));
  writeFileSync(desk.home.file(`${CYCLE}/request.csv`), read('request.csv').split('\n').slice(0, 3).join('\n'));
  ended(await refresh(), 3, { error: { message: `${CYCLE}/request.csv was changed after it was prepared` } });
});

it('svc au refresh ends with 10 after the report when --fail-on is met, and makes the next request once it is not', async () => {
  const { desk, refresh } = await openRefresh();
  const met = ended(await refresh('--next', '--fail-on', 'err=1%'), 10);
  expect(rowOf(met)).toMatchObject({ report: `${CYCLE}/report.html`, next: null });
  expect(filesIn(desk)).not.toContain('next.csv');
  succeeded(await refresh('--next'));
  expect(filesIn(desk)).toContain('next.csv');
  expect(desk.uploads()).toBe(1);
});

it('svc au refresh ends with 10 where one error code has most rows, writes the new tokens and makes no next request', async () => {
  const wrong = ROWS.slice(0, 19).map(
    (_, index) => `${'0'.repeat(8)}-1111-4222-8333-${String(index).padStart(12, '0')},27,01,`,
  );
  const { desk, refresh, read } = await openRefresh();
  writeFileSync(desk.home.file('export.csv'), exportOf([...ROWS.slice(0, 10), ...wrong]));
  ended(await refresh(), 10, {
    error: { code: 'threshold', hint: expect.stringContaining(`${CYCLE}/todo has the rows`) },
  });
  expect(read('todo/fix.csv').split('\n').length).toBeGreaterThan(19);
  expect(filesIn(desk)).toEqual(expect.arrayContaining(['todo/replace.csv', 'report.html']));
  expect(filesIn(desk)).not.toContain('next.csv');
  // Its codes may be wrong, so the list of exclusions gets none of them, and the cycle stays open.
  expect(existsSync(desk.home.file('refresh/exclusions.csv'))).toBe(false);
  ended(await desk.svc('au refresh --fail-on err=60%'), 10, {
    error: {
      message: `19 rows met --fail-on err=60%, and most rows of cycle 2026-12 ended in one error code`,
      hint: expect.stringContaining('refresh/exclusions.csv has none of them yet'),
      alternatives: ['svc au refresh --cycle 2026-12 --fail-on err=100%'],
    },
  });
  expect(existsSync(desk.home.file('refresh/exclusions.csv'))).toBe(false);
  succeeded(await desk.svc('au refresh --fail-on err=100%'));
  expect(existsSync(desk.home.file('refresh/exclusions.csv'))).toBe(true);
  ended(await desk.svc('au refresh'), 2, 'no cycle in refresh is open');
});

it('svc au refresh leaves out rows of a job that it did not create, and writes their results too', async () => {
  const { desk, refresh } = await openRefresh();
  writeFileSync(desk.home.file('few.csv'), exampleRequestFile().split('\n').slice(0, 4).join('\n'));
  succeeded(await desk.svc('au submit few.csv --cycle 2026-12'));
  const rest = await refresh(...ENOUGH);
  expect([rest.code, rowOf(rest)['rows']]).toEqual([0, ROWS.length]);
  expect(rest.stderr).toContain(`3 of ${ROWS.length} rows of ${CYCLE}/request.csv are in cycle 2026-12 already`);
  expect(desk.received().map((file) => file.trimEnd().split('\n').length - 1)).toEqual([3, ROWS.length - 3]);
});

it('svc au refresh leaves tokens of earlier cycles out of a later request', async () => {
  const { desk, refresh } = await openRefresh();
  succeeded(await refresh(...ENOUGH));
  const later = ['au', 'refresh', 'export.csv', '--cycle', '2027-01', '--map', 'token=Card Ref', ...ENOUGH];
  await desk.clock.advance(31 * 86_400_000);
  ended(await desk.svc(later), 0, /^updated \d+\.\d% \(2026-12: \d+\.\d%\), warned /m, {
    row: { rows: ROWS.length - 7 },
  });
  const page = readFileSync(desk.home.file('refresh/2027-01/report.html'), 'utf8');
  expect(page).toMatch(/<p>updated \d+\.\d% \(2026-12: \d+\.\d%\), warned /);
});

it.each([
  ['of a completed request', '--fail-on err=60%'],
  ['of a pending request', '--no-wait'],
  ['with --dry-run', '--dry-run'],
])(
  'R74: svc au refresh ends with 9 and changes nothing where the state directory lacks the ledger of the request that refresh.json names (%s)',
  async (of, words) => {
    const { desk, refresh, read } = await openRefresh({ processingMs: of === 'of a pending request' ? 3_600_000 : 0 });
    await refresh(...(of === 'of a pending request' ? ['--no-wait'] : ENOUGH));
    const before = filesIn(desk).map((name) => read(name));
    const sent = desk.sandbox.ledger().length;
    renameSync(desk.home.file('.local/state'), desk.home.file('.local/lost'));
    // The export may be another by now, or gone.
    for (const exported of [exportOf(), exportOf(ROWS, MORE), undefined]) {
      if (exported === undefined) rmSync(desk.home.file('export.csv'));
      else writeFileSync(desk.home.file('export.csv'), exported);
      ended(await refresh(...words.split(' ')), 9, {
        stdout: '',
        error: { code: 'outcome_unknown', file: `${CYCLE}/refresh.json` },
      });
      expect(filesIn(desk).map((name) => read(name))).toEqual(before);
    }
    expect([desk.sandbox.ledger().length, desk.uploads()]).toEqual([sent, 1]);
    rmSync(desk.home.file('.local/state'), { recursive: true, force: true });
    renameSync(desk.home.file('.local/lost'), desk.home.file('.local/state'));
    writeFileSync(desk.home.file('export.csv'), exportOf());
    ended(await refresh('--no-wait', ...ENOUGH), of === 'of a pending request' ? 11 : 0, { uploads: 1 });
  },
);

it('R74: svc au refresh goes on by the same command where the ledger could not be written before the first claim', async () => {
  const { desk, refresh } = await openRefresh();
  const cycle = desk.home.file(`.local/state/svc/ledger/${desk.sandbox.tenants[0]?.id}/cycles/2026-12`);
  mkdirSync(cycle, { recursive: true });
  // A file in the place of a directory also stops a user who may write everywhere.
  writeFileSync(join(cycle, 'rows'), '');
  expect((await refresh(...ENOUGH)).code).not.toBe(0);
  expect(desk.uploads()).toBe(0);
  rmSync(join(cycle, 'rows'));
  succeeded(await refresh(...ENOUGH));
  expect(desk.uploads()).toBe(1);
});

it('R74: refresh.json says before each upload that the request was claimed, so that a ledger that is lost from then on is noticed', async () => {
  const claimed: unknown[] = [];
  const { desk, refresh, read } = await openRefresh({
    intercept: (incoming, _outgoing, proceed) => {
      if (incoming.method !== 'PUT') return proceed();
      claimed.push((JSON.parse(read('refresh.json')) as Record<string, unknown>)['claimed']);
      return claimed.length === 1 ? incoming.destroy() : proceed();
    },
  });
  expect((await refresh('--no-wait')).code).not.toBe(0);
  // As after a crash between the claim and the record.
  const [job = ''] = desk.jobs();
  desk.files(job).record('some');
  const { claimed: _, ...unclaimed } = JSON.parse(read('refresh.json')) as Record<string, unknown>;
  writeFileSync(desk.home.file(`${CYCLE}/refresh.json`), JSON.stringify(unclaimed));
  expect([0, 11]).toContain((await refresh('--no-wait', ...ENOUGH)).code);
  expect(claimed.length).toBeGreaterThan(1);
  expect(new Set(claimed)).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{64}$/)]));
});

it('svc au refresh ends with 11 while another process works in its directory', async () => {
  const { desk, refresh } = await openRefresh();
  mkdirSync(desk.home.file(CYCLE), { recursive: true });
  const host = { pid: process.pid, isAlive: () => true, clock: new FakeClock(), signal: new AbortController().signal };
  ended(await withLock(desk.home.file(`${CYCLE}/.refresh.lock`), host, () => refresh()), 11, {
    uploads: 0,
    error: { code: 'pending', held_by: process.pid },
  });
});

it('svc au refresh shows with --dry-run what it would submit, writes nothing and only reads', async () => {
  let changes = 0;
  const { desk, refresh } = await openRefresh({
    intercept: ({ method }, _outgoing, proceed) => {
      if (method !== 'GET') changes += 1;
      proceed();
    },
  });
  ended(await refresh('--dry-run'), 0, { row: { file: `${CYCLE}/request.csv`, rows: ROWS.length, job_count: 1 } });
  expect([existsSync(desk.home.file('refresh')), changes]).toEqual([false, 0]);
});

it('svc au refresh --dry-run names the refresh, not its request file, where another cycle has the rows', async () => {
  const { desk, refresh } = await openRefresh();
  succeeded(await refresh(...ENOUGH));
  const words = ['au', 'refresh', 'export.csv', '--cycle', '2027-01', '--map', 'token=Card Ref'];
  const options = ['--exclusions', 'none', '--out-dir', '2027-01', '--dry-run'];
  ended(await desk.svc([...words, ...options]), 6, {
    error: {
      next: `svc au refresh export.csv --cycle 2026-12 --map 'token=Card Ref' ${options.join(' ')}`,
      alternatives: [
        `svc au refresh export.csv --cycle 2027-01 --map 'token=Card Ref' ${options.join(' ')} --pay-again`,
      ],
    },
  });
});

it('svc au refresh names itself with --new-ledger where the ledger is empty, and with --pay-again where an open cycle has the rows', async () => {
  const { desk, refresh } = await openRefresh({ processingMs: 60_000 });
  ended(await refresh('--no-wait'), 11);
  await desk.clock.advance(60_000);
  const elsewhere = { SVC_STATE_DIR: desk.home.file('elsewhere') };
  const words = ['au', 'refresh', 'export.csv', '--cycle', '2027-01', '--map', 'token=Card Ref'];
  const [job = ''] = desk.jobs();
  const named = "svc au refresh export.csv --cycle 2027-01 --map 'token=Card Ref'";
  ended(await desk.svc([...words, '--out-dir', 'other', '--next'], elsewhere), 9, {
    error: {
      next: `svc au status ${job}`,
      alternatives: ['svc au jobs', `${named} --out-dir other --next --new-ledger`],
    },
  });
  const open = await desk.svc(words);
  expect(errorIn(open), open.stderr).toMatchObject({
    next: named.replace('2027-01', '2026-12'),
    alternatives: ['svc au resume 2026-12 --wait', `${named} --pay-again`],
  });
  expect(desk.uploads()).toBe(1);
});

it('svc au refresh counts the rows of an export whose tokens all came from its cycle, and finishes the cycle', async () => {
  const { desk, refresh, read } = await openRefresh();
  succeeded(await refresh(...ENOUGH));
  const [, ...updates] = read('todo/replace.csv').trimEnd().split('\n');
  const made = updates.map((line) => `${line.split(',')[1]},,,`);
  writeRows(desk, 'made.csv', ...made);
  const words = 'au refresh made.csv --cycle 2026-12 --out-dir other';
  ended(await desk.svc(words), 0, { row: { status: 'nothing_new', rows: made.length, jobs: [] } });
  ended(await desk.svc('au refresh --out-dir other'), 2, 'no cycle in other is open');
  expect(desk.uploads()).toBe(1);
});

it('svc au refresh asks for a cycle, and refuses the record of another one', async () => {
  const { desk, refresh } = await openRefresh();
  ended(await desk.svc('au refresh export.csv'), 2, {
    error: { next: expect.stringMatching(/^svc au refresh export\.csv --cycle \d{4}-\d\d$/) },
  });
  mkdirSync(desk.home.file(CYCLE), { recursive: true });
  for (const record of ['{', '{"version":1,"cycle":"2026-11","requests":[]}', '{"version":2}']) {
    writeFileSync(desk.home.file(`${CYCLE}/refresh.json`), record);
    ended(await refresh(), 3);
  }
  expect(desk.uploads()).toBe(0);
});

it('svc au refresh names a next command that needs no standard input once the request is made', async () => {
  const { desk } = await openRefresh({ processingMs: 60_000 });
  const words = ['au', 'refresh', '-', '--cycle', '2026-12', '--map', 'token=Card Ref', ...ENOUGH];
  ended(await desk.svc([...words, '--no-wait'], {}, exportOf()), 11);
  const pending = ended(await desk.svc([...words, '--no-wait'], {}, exportOf()), 11);
  const { next_words: next } = errorIn(pending) as { next_words: string[] };
  expect(next.slice(1, 5)).toEqual(['au', 'refresh', '--cycle', '2026-12']);
  ended(await desk.svc(next.slice(1).filter((word) => word !== '--no-wait')), 0, { uploads: 1 });
});

it('svc au refresh says that the options of an export changed, not the export', async () => {
  const { desk, refresh } = await openRefresh();
  succeeded(await refresh(...ENOUGH));
  const again = await refresh('--keep', 'Card Ref', ...ENOUGH);
  expect(again.stderr).toContain(
    'export.csv is read with other options than before, and cycle 2026-12 has all of its rows',
  );
  expect(desk.uploads()).toBe(1);
});

it('svc au refresh sends nothing before it knows the merchant of each row, and keeps the options typed', async () => {
  const { desk } = await openRefresh();
  const [token = ''] = TOKENS;
  const rows = [`${token};`, `${token};${SANDBOX_MERCHANT_ID}`, `${token};OTHER`];
  writeFileSync(desk.home.file('shops.csv'), ['token;store_no', ...rows, ''].join('\n'));
  ended(await desk.svc('au refresh shops.csv --cycle 2026-12 --next --quiet'), 13, {
    uploads: 0,
    error: {
      next: 'svc au refresh shops.csv --cycle 2026-12 --next --map merchant_id=store_no',
      alternatives: ['svc au refresh shops.csv --cycle 2026-12 --next --no-merchant'],
    },
  });
  ended(await desk.svc('au refresh shops.csv --cycle 2026-12 --next --no-merchant --accept repeats'), 0, {
    row: { rows: 1 },
  });
  ended(await desk.svc('au refresh shops.csv --cycle 2026-12 --accept repeats --no-merchant --next'), 0, {
    uploads: 1,
  });
});

it.each([
  ['a column that is not there', ['--map', 'token=Card'], '--map token=NAME'],
  ['the cycle', ['--map', 'token=Card Ref'], ''],
])('svc au refresh keeps the options typed in the command that names %s', async (what, map, added) => {
  const { desk } = await openRefresh();
  const options = ['--no-expiration', '--out-dir', 'months', '--no-wait', '--fail-on', 'err=100%'];
  const cycle = what === 'the cycle' ? [] : ['--cycle', '2026-12'];
  const refused = await desk.svc(['au', 'refresh', 'export.csv', ...cycle, ...map, ...options]);
  const next = String(errorIn(refused)['next']);
  for (const typed of ['--no-expiration', '--out-dir months', '--no-wait', '--fail-on err=100%', added])
    expect(next).toContain(typed);
  expect(next).toMatch(/ --cycle \d{4}-\d\d /);
  expect(next.match(/--map '?token=/g)).toHaveLength(1);
});

it('R79: a new month with the rows of an old one whose results nobody has read names the command that gets them, and begins after it', async () => {
  const { desk, refresh } = await openRefresh({ processingMs: 60_000 });
  ended(await refresh('--no-wait'), 11);
  await desk.clock.advance(28 * 86_400_000);
  const words = [
    'au',
    'refresh',
    'export.csv',
    '--cycle',
    '2027-01',
    '--map',
    'token=Card Ref',
    '--no-wait',
    ...ENOUGH,
  ];
  // Only the directory in which the old cycle was begun gets its files.
  ended(await desk.svc([...words, '--out-dir', 'elsewhere']), 6, { error: { next: 'svc au resume 2026-12 --wait' } });
  const refused = ended(await desk.svc([...words, '--add']), 6, 'whose results nobody has read', { uploads: 1 });
  const [, ...next] = errorIn(refused)['next_words'] as string[];
  expect(next).toEqual(words.toSpliced(2, 1).with(3, '2026-12'));
  succeeded(await desk.svc(next));
  expect(existsSync(desk.home.file(`${CYCLE}/todo/replace.csv`))).toBe(true);
  ended(await desk.svc(words), 11, { uploads: 2 });
});

describe('rows that an export corrects after they were sent', () => {
  it.each([
    ['', ROWS.length],
    ['--add', ROWS.length + 1],
  ])(
    'rows that an export corrects are said, and those with an error sent by the named command alone (%s)',
    async (add, sent) => {
      const { desk, refresh, read } = await openRefresh();
      succeeded(await refresh(...ENOUGH));
      const codes = read('results.csv')
        .split('\n')
        .slice(1)
        .map((line) => line.split(','));
      const listed = readFileSync(desk.home.file('refresh/exclusions.csv'), 'utf8');
      const wrong = codes.flatMap(([token = '', , , , , , code = '']) =>
        code.startsWith('ERR_') && !listed.includes(token) ? [token] : [],
      );
      const right = TOKENS.find((token) => !codes.some(([other]) => other === token)) ?? '';
      expect([wrong.length > 0, right !== '']).toEqual([true, true]);
      const correct = (row: string): string => {
        const [token = ''] = row.split(',');
        return [right, ...wrong].includes(token) ? `${token},31,07,` : row;
      };
      writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.map(correct), ...(add === '' ? [] : [MORE])));
      const words = [...add.split(' ').filter(Boolean), ...ENOUGH];
      const dry = await refresh('--dry-run', ...words);
      expect(existsSync(desk.home.file(`${CYCLE}/corrected.csv`))).toBe(false);
      const again = ended(await refresh(...words), 0, { uploads: add === '' ? 1 : 2 });
      const changed = `${wrong.length + 1} rows of export.csv have other expirations than in ${CYCLE}/request.csv, which stays as it is`;
      for (const { stderr } of [dry, again]) expect(stderr).toContain(changed);
      expect(again.stderr).toContain(
        `${CYCLE}/corrected.csv has ${wrong.length} rows of them, whose result is an error`,
      );
      expect(read('request.csv').trimEnd().split('\n')).toHaveLength(sent + 1);
      const [, command = ''] = /svc (au refresh refresh.2026-12.corrected\.csv .*)$/m.exec(again.stderr) ?? [];
      expect(command).toBe(`au refresh ${CYCLE}/corrected.csv --cycle 2026-12.2 --pay-again`);
      ended(await desk.svc(`${command} --fail-on err=100%`), 0);
      const rows = desk.received().at(-1)?.trimEnd().split('\n').slice(1);
      expect(rows?.toSorted()).toEqual(wrong.map((token) => `${token},31,07,`).toSorted());
      // The rows are in that cycle now, so another one must be confirmed.
      if (add === '') ended(await refresh(...ENOUGH), 0, { uploads: 2 }, /corrected\.csv --cycle 2026-12\.3$/m);
    },
  );

  it('a file of corrected rows that was edited stays as it is, and goes once the export has the rows as they were sent', async () => {
    const { desk, refresh, read } = await openRefresh();
    succeeded(await refresh(...ENOUGH));
    const [, token] = /^([^,\n]+),.*,ERR_INVALID_EXP_DATE$/m.exec(read('results.csv')) ?? [];
    const corrected = (date: string) =>
      exportOf(ROWS.map((row) => (row.startsWith(`${token},`) ? `${token},31,${date},` : row)));
    writeFileSync(desk.home.file('export.csv'), corrected('07'));
    ended(await refresh(...ENOUGH), 0, '1 row of export.csv has another expiration than');
    const first = read('corrected.csv');
    writeFileSync(desk.home.file(`${CYCLE}/corrected.csv`), `${first}edited`);
    writeFileSync(desk.home.file('export.csv'), corrected('08'));
    ended(await refresh(...ENOUGH), 0, 'corrected.csv was changed after the refresh wrote it, and stays as it is', {
      uploads: 1,
    });
    writeFileSync(desk.home.file(`${CYCLE}/corrected.csv`), first);
    writeFileSync(desk.home.file('export.csv'), exportOf(ROWS.toReversed()));
    ended(await refresh(...ENOUGH), 0, { unsaid: /expiration than/ });
    expect(existsSync(desk.home.file(`${CYCLE}/corrected.csv`))).toBe(false);
  });
});
