import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
/** Tokens whose cards have a new number at the sandbox. */
const [NEW_A, NEW_B] = ['11111111-2222-4333-8444-555555555555', '22222222-2222-4333-8444-555555555555'];
const [A = '', B = '', C = ''] = ROWS.map((row) => row.slice(0, 36));

async function merchantDesk(
  options: Parameters<typeof openQuickDesk>[0],
  files: Readonly<Record<string, readonly string[]>>,
): Promise<QuickDesk> {
  const desk = await openQuickDesk({ ...options, tenants: ['production'], merchants: ['M1', 'M2', 'M3'] });
  for (const [name, rows] of Object.entries(files)) writeFileSync(desk.home.file(name), [...rows, ''].join('\n'));
  return desk;
}

function tokensIn({ home }: QuickDesk, name: string): string[] {
  const lines = readFileSync(home.file(name), 'utf8').trimEnd().split('\n').slice(1);
  return lines.map((line) => line.slice(0, 36));
}

interface Refreshed {
  /** The results of the first job. Other jobs then have none. */
  readonly answer?: readonly string[];
  readonly columns?: string;
  readonly keep?: readonly string[];
}

/** A desk whose refresh is of an export with customers, and a function that reads one of its files as rows. */
async function refreshed(options: Refreshed, ...rows: readonly string[]) {
  const { columns = 'customer,token,expiration,merchant_id', keep = ['--keep', 'customer'] } = options;
  let first: string | undefined;
  const intercept: Interceptor = (incoming, outgoing, proceed) => {
    const isResult = incoming.method === 'GET' && incoming.url?.includes('/store/') === true;
    if (!isResult || options.answer === undefined) return proceed();
    const job = incoming.url?.replace(/\?.*/, '');
    first ??= job;
    outgoing.end([RESULT_COLUMNS.join(','), ...(job === first ? options.answer : []), ''].join('\n'));
  };
  const desk = await merchantDesk({ intercept }, { 'e.csv': [columns, ...rows] });
  const done = await desk.svc([
    'au',
    'refresh',
    'e.csv',
    '--cycle',
    '2026-12',
    ...keep,
    '--next',
    '--fail-on',
    'err=100%',
  ]);
  const read = (name: string): string[] => {
    const file = desk.home.file(`refresh/2026-12/${name}`);
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  };
  return { desk, done, read };
}

describe('a token with two merchants in two jobs', () => {
  it('the result for another merchant of a token is left out of a file that does not have that row', async () => {
    const desk = await merchantDesk(
      {},
      {
        'wrong.csv': [HEADER, `${A},28,05,M3`, `${B},28,05,M1`],
        'right.csv': [HEADER, `${A},28,05,M1`, `${B},28,05,M1`],
      },
    );
    rowOf(await desk.svc('au submit wrong.csv --cycle 2026-12 --wait'));
    const done = rowOf(await desk.svc('au submit right.csv --cycle 2026-12 --wait --out r.csv'));
    expect(done).toMatchObject({ sent: 1, left_out: 1, results: { compared: true, updated: 2 } });
    expect(tokensIn(desk, 'r.csv')).toEqual([A, B]);
    rowOf(await desk.svc('au report r.csv --request right.csv'));
  });

  it('the result of the row that a file has is delivered, where its job had a row of another merchant too', async () => {
    const desk = await merchantDesk(
      {},
      {
        'first.csv': [HEADER, `${A},28,05,M3`, `${B},28,05,M1`, `${A},28,05,M1`],
        'other.csv': [HEADER, `${A},29,05,M1`, `${B},28,05,M1`, `${C},28,05,M1`],
      },
    );
    rowOf(await desk.svc('au submit first.csv --cycle 2026-12 --wait --out f.csv'));
    expect(rowOf(await desk.svc('au submit other.csv --cycle 2026-12 --wait --out r.csv'))).toMatchObject({
      left_out: 2,
    });
    const [, , b, ofM1] = readFileSync(desk.home.file('f.csv'), 'utf8').split('\n');
    const [, ...delivered] = readFileSync(desk.home.file('r.csv'), 'utf8').trimEnd().split('\n');
    expect(delivered).toEqual([ofM1, b, expect.stringContaining(C)]);
    rowOf(await desk.svc('au report r.csv --request other.csv'));
  });

  it('the results of a token with two merchants, of which each job had one, have the order of the rows', async () => {
    const desk = await merchantDesk(
      {},
      {
        'first.csv': [HEADER, `${B},28,05,M1`, `${A},28,05,M2`],
        'both.csv': [HEADER, `${A},28,05,M1`, `${B},28,05,M1`, `${A},28,05,M2`, `${C},28,05,M1`],
      },
    );
    rowOf(await desk.svc('au submit first.csv --cycle 2026-12 --wait --out f.csv'));
    const done = rowOf(await desk.svc('au submit both.csv --cycle 2026-12 --wait --out r.csv'));
    expect(done).toMatchObject({ sent: 2, left_out: 2 });
    expect(tokensIn(desk, 'r.csv')).toEqual([A, B, A, C]);
    const line = (file: string, at: number): string => readFileSync(desk.home.file(file), 'utf8').split('\n')[at] ?? '';
    expect(line('r.csv', 3)).toBe(line('f.csv', 2));
  });
});

describe('the result of a token with two merchants', () => {
  const KEPT = ['customer', 'token', 'new_token', 'new_expiration_year', 'new_expiration_month', 'result_code'];

  it('each result of a token with two merchants is that of its row, in the order of the request, where both rows have one', async () => {
    const { done, read } = await refreshed(
      {},
      `Ann,${A},05/28,M1`,
      `Ben,${B},05/28,M1`,
      `Cy,${A},05/28,WRONG`,
      `Di,${A},05/28,M2`,
    );
    expect(rowOf(done)).toMatchObject({ rows: 4, updated: 3, errors: 1, new_tokens: 3 });
    const [header, ...rows] = read('todo/replace.csv');
    expect(header).toBe(KEPT.join(','));
    expect(rows.map((row) => row.slice(0, row.indexOf(',') + 37))).toEqual([`Ann,${A}`, `Ben,${B}`, `Di,${A}`]);
    expect(read('todo/fix.csv')[1]).toMatch(new RegExp(`^Cy,${A}`));
    expect(read('next.csv')[3]).toBe(`${A},28,05,WRONG`);
  });

  /** Results in another order than the rows, which stays, and with only one of the token that has two rows. */
  const ONE_OF_TWO = [`${B},28,05,${NEW_B},31,02,UPD_PAN`, `${A},28,05,${NEW_A},31,02,UPD_PAN`];

  it('the result of a token with two merchants has the kept columns of the row that its job has, where only one row has a result', async () => {
    const { done, read } = await refreshed(
      { answer: ONE_OF_TWO },
      `Ann,${A},05/28,M1`,
      `Ben,${B},05/28,M1`,
      `Cy,${A},05/28,M2`,
    );
    expect(rowOf(done)).toMatchObject({ rows: 3, updated: 2, new_tokens: 2 });
    expect(read('todo/replace.csv')).toEqual([
      KEPT.join(','),
      `Ben,${B},${NEW_B},31,02,UPD_PAN`,
      `Ann,${A},${NEW_A},31,02,UPD_PAN`,
    ]);
  });

  it('the result of a token with two merchants is in replace.csv without a warning, where no column of the export was kept', async () => {
    const { done, read } = await refreshed(
      { answer: ONE_OF_TWO, columns: 'token,expiration,merchant_id', keep: [] },
      `${A},05/28,M1`,
      `${B},05/28,M1`,
      `${A},05/28,M2`,
    );
    expect(rowOf(done)).toMatchObject({ rows: 3, updated: 2, new_tokens: 2 });
    expect(done.stderr).not.toContain('kept columns');
    expect(read('todo/replace.csv').slice(1)).toEqual([`${B},${NEW_B},31,02,UPD_PAN`, `${A},${NEW_A},31,02,UPD_PAN`]);
  });

  it('the error of a token with two merchants has the kept columns of its row by svc au refresh, and none by svc au report, which knows no job', async () => {
    const { desk, done, read } = await refreshed(
      { answer: [`${A},28,05,,,,ERR_INVALID_CONFIG`] },
      `Ann,${A},05/28,M1`,
      `Cy,${A},05/28,WRONG`,
    );
    expect(rowOf(done)).toMatchObject({ rows: 2, errors: 1 });
    expect(read('todo/fix.csv')[1]).toBe(`Ann,${A},28,05,,,,ERR_INVALID_CONFIG`);
    const [request, results] = ['refresh/2026-12/request.csv', 'refresh/2026-12/results.csv'];
    const split = `au report ${results} --request ${request} --keep refresh/2026-12/request.keep.csv --split-into split`;
    const report = await desk.svc(split);
    expect(report.stderr).toContain('results name no merchant, and svc au refresh finds their rows by job');
    expect(readFileSync(desk.home.file('split/fix.csv'), 'utf8').split('\n')[1]).toBe(
      `${A},28,05,,,,ERR_INVALID_CONFIG,`,
    );
  });
});

describe('a file whose rows for one token name two merchants', () => {
  const FILES = { 'both.csv': [HEADER, `${A},28,05,M1`, `${B},28,05,M1`, `${A},28,05,M2`] };

  it('a file whose rows for one token name two merchants becomes two jobs, which one line says, and its results have the order of its rows', async () => {
    const desk = await merchantDesk({}, FILES);
    expect(rowOf(await desk.svc('au check both.csv'))).toMatchObject({ job_count: 2 });
    const line = 'au submit both.csv --cycle 2026-12';
    expect((await desk.svc(`${line} --dry-run`)).stderr).toContain('it would create 2 jobs for 3 rows');
    ended(
      await desk.svc(`${line} --wait`),
      0,
      '1 token of both.csv has rows for several merchants: a token stands once in a job, so that 2 jobs are needed\n',
      { row: { rows: 3, sent: 3, jobs: [expect.any(String), expect.any(String)] } },
    );
    expect(desk.received().map((body) => body.trimEnd().split('\n').slice(1))).toEqual([
      [`${A},28,05,M1`, `${B},28,05,M1`],
      [`${A},28,05,M2`],
    ]);
    expect(tokensIn(desk, 'both.results.csv')).toEqual([A, B, A]);
    ended(await desk.svc(line), 0, { uploads: 2 });
  });

  it('a file whose rows for one token need more than 5 jobs is sent with --accept merchants only, and says so', async () => {
    const rows = Array.from({ length: 6 }, (_, at) => `${A},28,05,M${at}`);
    const five = rows.slice(1).map((row) => row.replace(A, B));
    const desk = await merchantDesk({}, { 'six.csv': [HEADER, ...rows], 'five.csv': [HEADER, ...five] });
    const line = 'au submit six.csv --cycle 2026-12';
    for (const dry of ['', ' --dry-run'])
      ended(await desk.svc(line + dry), 6, {
        uploads: 0,
        error: {
          message: 'a token of six.csv has 6 merchants, so that its rows need 6 jobs; nothing was submitted',
          next: `svc ${line} --accept merchants`,
        },
      });
    rowOf(await desk.svc('au submit five.csv --cycle 2026-11'));
    expect(desk.uploads()).toBe(5);
    rowOf(await desk.svc(`${line} --accept merchants`));
    expect(desk.uploads()).toBe(11);
  });

  it('a file whose rows for one token name two merchants is refused by svc au upload before its job has a claim', async () => {
    const desk = await merchantDesk({}, FILES);
    const ledger = { SVC_LEDGER: desk.home.file('ledger') };
    mkdirSync(ledger.SVC_LEDGER);
    const { id } = rowOf(await desk.svc('au create', ledger));
    for (const options of ['', ' --dry-run']) {
      ended(await desk.svc(`au upload ${String(id)} both.csv${options}`, ledger), 13, {
        error: { next: 'svc au submit both.csv' },
      });
    }
    expect([desk.uploads(), readdirSync(ledger.SVC_LEDGER)]).toEqual([0, []]);
    // The job takes a file with each token once.
    writeFileSync(desk.home.file('one.csv'), [HEADER, `${A},28,05,M1`, ''].join('\n'));
    rowOf(await desk.svc(`au upload ${String(id)} one.csv`, ledger));
  });
});

it('R93: the rows of a file that are not sent yet are looked at together, those of further merchants too', async () => {
  const rows = [`${A},,,M1`, `${B},,,M1`, `${B},,,NULL`];
  const desk = await merchantDesk({}, { 'first.csv': [HEADER, `${A},,,M1`], 'more.csv': [HEADER, ...rows] });
  ended(await desk.svc('au submit first.csv --cycle 2026-12 --yes'), 0);
  ended(await desk.svc('au submit more.csv --cycle 2026-12 --yes'), 13, {
    error: { problems: [{ column: 'merchant_id', rule: 'marks' }] },
    uploads: 1,
  });
  const accepted = await desk.svc('au submit more.csv --cycle 2026-12 --yes --accept marks');
  ended(accepted, 0, 'merchants: 2', { uploads: 3 });
});
