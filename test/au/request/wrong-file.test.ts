import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { openDesk } from '../commands/support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id';
const REQUEST = `${HEADER}\na,27,01,M1\nb,27,02,M1\n`;
const RESULT_HEADER =
  'token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code';
const RESULTS = `${RESULT_HEADER}\na,27,01,a2,29,11,UPD_PAN\n`;
const EXCLUDED = `row,${HEADER},result_code,reason\n1,a,27,01,M1,WRN_CLOSED_ACCOUNT,the issuer closed the account\n`;
const BODY = { authentication_category: 'payment', authentication_type: 'payment-transaction' };

const FILES = {
  'q.csv': REQUEST,
  'r.csv': RESULTS,
  'r.csv.unproven': RESULTS,
  'excel.csv': `\uFEFF${RESULTS.replaceAll(',', ';').replaceAll('\n', '\r\n')}`,
  'quoted.csv': RESULTS.replace(RESULT_HEADER, RESULT_HEADER.replaceAll(/(\w+)/g, '"$1"')),
  'titled.csv': RESULTS.replace(RESULT_HEADER, RESULT_HEADER.replaceAll('_', ' ').toUpperCase()),
  'more.csv': RESULTS.replace('result_code', 'result_code,network').replace('UPD_PAN', 'UPD_PAN,x'),
  'few.csv': 'token,result_code\na,WRN_OPT_OUT\n',
  'keep.csv': RESULTS,
  'excluded.csv': EXCLUDED,
  'body.json': JSON.stringify(BODY, null, 2),
  'list.json': '[\n  1\n]\n',
} as const;

const RESULT_FILES = ['r.csv', 'excel.csv', 'quoted.csv', 'titled.csv', 'more.csv', 'few.csv'] as const;

function place() {
  const cwd = temporaryDirectory();
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text);
  return {
    at: (name: string) => join(cwd, name),
    has: (name: string) => existsSync(join(cwd, name)),
    run: async (line: string) => {
      const { code, stdout, stderr } = await svcHere(line.split(' '), { cwd, home: cwd });
      const { message, next } = code === 0 ? {} : errorIn({ stderr });
      return { code, message, next, stdout };
    },
  };
}

describe('a file of another kind', () => {
  it.each(RESULT_FILES)('%s, a result file, is no request for check, prepare, next and report', async (file) => {
    const { at, run, has } = place();
    const refused = { code: 13, message: expect.stringContaining(`${file} is a result file, not`), stdout: '' };
    const next = `svc au next <request> ${file}`;
    for (const line of [`au check ${at(file)}`, `au submit ${at(file)} --dry-run`])
      expect(await run(line)).toMatchObject({ ...refused, next: `svc au next <request> ${at(file)}` });
    expect(await run(`au prepare ${file}`)).toMatchObject({ ...refused, next });
    expect(await run(`au prepare ${file} --map token=new_token --out p.csv`)).toMatchObject({ ...refused, next });
    expect(await run(`au next ${file} few.csv --out n.csv`)).toMatchObject({ ...refused, next });
    expect(await run(`au report few.csv --request ${file}`)).toMatchObject({ ...refused, next });
    expect([has('p.csv'), has('n.csv')]).toEqual([false, false]);
  });

  it.each([
    ['excluded.csv', 'is a list of excluded rows', 'svc au submit <file>'],
    ['body.json', 'is JSON', 'svc au prepare <export> --out tokens.csv'],
    ['list.json', 'is JSON', 'svc au prepare <export> --out tokens.csv'],
  ])('%s is neither a request nor results, and the next command fits it', async (file, message, next) => {
    const { at, run, has } = place();
    const refused = { code: 13, message: expect.stringContaining(`${file} ${message}, not`), stdout: '' };
    for (const line of [`au check ${at(file)}`, `au submit ${at(file)} --dry-run`])
      expect(await run(line)).toMatchObject(refused);
    expect(await run(`au prepare ${file} --out p.csv`)).toMatchObject({ ...refused, next });
    expect(await run(`au next ${file} r.csv`)).toMatchObject({ ...refused, next });
    expect(await run(`au report r.csv --request ${file}`)).toMatchObject({ ...refused, next });
    expect(await run(`au next q.csv ${file}`)).toMatchObject({ ...refused, next: 'svc au next q.csv <results>' });
    expect(await run(`au report ${file} --request q.csv`)).toMatchObject({
      ...refused,
      next: 'svc au report <results> --request q.csv',
    });
    expect(has('p.csv')).toBe(false);
  });

  it('a request file is no result file', async () => {
    const { run, has } = place();
    const refused = { code: 13, message: 'q.csv is a request file, not a result file', stdout: '' };
    expect(await run('au report q.csv')).toMatchObject({ ...refused, next: 'svc au report <results>' });
    expect(await run('au report q.csv --split-into todo')).toMatchObject(refused);
    expect(await run('au next q.csv q.csv')).toMatchObject({ ...refused, next: 'svc au next q.csv <results>' });
    expect([has('todo'), has('q.next.csv')]).toEqual([false, false]);
  });

  it('a file without the columns of results is named as no result file', async () => {
    const { at, run } = place();
    for (const [name, text] of [
      ['other.csv', 'a,b\n1,2\n'],
      ['book.xlsx', 'PK\u0003\u0004\n'],
    ] as const) {
      writeFileSync(at(name), text);
      const refused = { code: 13, message: `${name} is not a result file: it lacks the columns token and result_code` };
      expect(await run(`au report ${name}`)).toMatchObject({ ...refused, next: 'svc au report <results>' });
      expect(await run(`au next q.csv ${name}`)).toMatchObject({ ...refused, next: 'svc au next q.csv <results>' });
    }
    expect((await run('au prepare book.xlsx'))['message']).toBe(
      'book.xlsx, line 1: the file is a zip file or an Excel workbook: save it as CSV in UTF-8',
    );
  });

  it('a file of four columns is a request file only if they are those of one', async () => {
    const { at, run } = place();
    writeFileSync(at('four.csv'), 'token,b,c,d\n1,2,3,4\n');
    const refused = { code: 12, message: 'the result file lacks the column result_code' };
    expect(await run('au report four.csv')).toMatchObject(refused);
  });

  it('swapped arguments are refused, and say which file is which', async () => {
    const { run, has } = place();
    const swapped = { code: 13, message: 'r.csv is a result file, not a request file' };
    const next = 'svc au next <request> r.csv';
    expect(await run('au next r.csv q.csv --out n.csv')).toMatchObject({ ...swapped, next });
    expect(await run('au report q.csv --request r.csv --html p.html')).toMatchObject({ ...swapped, next });
    expect([has('n.csv'), has('p.html')]).toEqual([false, false]);
  });

  it('parts of the results and refused ones make no next request', async () => {
    const { run } = place();
    const words = ['au', 'next', 'q.csv'].join(' ');
    expect(await run(`${words} keep.csv`)).toMatchObject({ code: 13, next: 'svc au next q.csv <results>' });
    expect(await run('au report keep.csv --request q.csv')).toMatchObject({ code: 13 });
    expect(await run(`${words} r.csv.unproven`)).toMatchObject({
      code: 13,
      next: 'svc au download <job> --accept-unproven',
    });
    for (const file of ['keep.csv', 'excluded.csv', 'r.csv.unproven'])
      expect([file, (await run(`au report ${file}`)).code]).toEqual([file, 0]);
    expect((await run('au report r.csv.unproven --request q.csv')).code).toBe(0);
    expect((await run(`${words} r.csv`)).code).toBe(0);
  });

  it.each([
    ['fix.csv', 'svc au refresh <export> --cycle <name>'],
    ['keep.csv', 'svc au next <request> <results>'],
    ['todo/replace.csv', 'svc au next <request> <results>'],
  ])('%s, a part of the results, is not sent, and the command that is named takes another file', async (name, next) => {
    const { at, run } = place();
    mkdirSync(at('todo'));
    writeFileSync(at(name), RESULTS);
    const refused = { code: 13, message: expect.stringContaining(`${name} is a result file, not`), stdout: '', next };
    for (const line of [`check ${at(name)}`, `submit ${at(name)}`, `prepare ${name}`, `next ${name} r.csv`])
      expect(await run(`au ${line}`)).toMatchObject(refused);
  });

  it('an export with a column of its own for the code of a token is prepared once that has another name', async () => {
    const { run } = place();
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'own.csv'), 'token,expiry,last_code\na,01/27,x\n');
    expect((await run(`au prepare ${join(cwd, 'own.csv')}`)).stdout).toBe(`${HEADER}\na,27,01,\n`);
  });

  it('no job is created for a result file, from the disk or from a pipe', async () => {
    const { home, env, svc, uploads, sandbox } = await openDesk();
    writeFileSync(home.file('r.csv'), RESULTS);
    const jobs = async (): Promise<number> => {
      const headers = { 'SVC-API-KEY': 'sandbox-private-key' };
      const response = await fetch(new URL('/account-updater/jobs', sandbox.url), { headers });
      return ((await response.json()) as { data: unknown[] }).data.length;
    };
    expect((await svc('au submit r.csv --wait')).code).toBe(13);
    const piped = await home.svc(['au', 'submit', '-'], { env, input: RESULTS });
    expect([piped.code, errorIn(piped)['next']]).toEqual([13, 'svc au next <request> <file>']);
    expect([uploads(), await jobs()]).toEqual([0, 0]);
  });
});
