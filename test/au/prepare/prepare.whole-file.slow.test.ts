import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { FakeClock } from '../../support/clock.ts';

const HEADER = 'token,expiration_year,expiration_month,merchant_id';
const NOW = '2026-11-28T12:00:00Z';
const COUNT = 40;

function uuid(at: number): string {
  return `0b7e2f5a-6f0d-4c57-9d0a-${String(at).padStart(12, '0')}`;
}

/** The expirations of the rows: each month of the years 2027 and 2028, beginning with 06/27. */
function dateOf(at: number): { readonly year: string; readonly month: string } {
  return { year: String(27 + (Math.trunc(at / 12) % 2)), month: String(((at + 5) % 12) + 1).padStart(2, '0') };
}

type Row = { readonly at: number; readonly token: string; readonly yy: string; readonly mm: string };

/** Writes an export of rows, each made of a token, an expiration and a merchant. */
function place(cells: (row: Row) => readonly string[], header = 'token,expiration,merchant_id', count = COUNT) {
  const lines = Array.from({ length: count }, (_, at) => {
    const { year, month } = dateOf(at);
    return cells({ at, token: uuid(at), yy: year, mm: month }).join(',');
  });
  return placeText(`${[header, ...lines].join('\n')}\n`);
}

function placeText(text: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-whole-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'export.csv'), text);
  const run = (...argv: string[]) =>
    svcHere(argv, { cwd, home: cwd, clock: new FakeClock({ start: Date.parse(NOW) }) });
  return {
    path: join(cwd, 'export.csv'),
    run,
    read: (name: string) => readFileSync(join(cwd, name), 'utf8'),
    prepare: (...options: string[]) => run('au', 'prepare', 'export.csv', ...options),
  };
}

type Placed = ReturnType<typeof place>;

async function rowsOf({ prepare }: Placed, ...options: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await prepare(...options);
  expect(code, stderr).toBe(0);
  return stdout.trimEnd().split('\n').slice(1);
}

/** The rows that are right, with the merchant of each row. */
function right(merchant: (at: number) => string, count = COUNT): string[] {
  return Array.from({ length: count }, (_, at) => {
    const { year, month } = dateOf(at);
    return `${uuid(at)},${year},${month},${merchant(at)}`;
  });
}

const merchantOf = (at: number): string => ['M-1', 'M-2'][at % 2] ?? '';

it.each([
  [
    'the last day',
    ({ yy, mm }: Row) => new Date(Date.UTC(2000 + Number(yy), Number(mm), 0)).toISOString().slice(0, 10),
    undefined,
  ],
  [
    'the last day, without leap years',
    ({ yy, mm }: Row) => `20${yy}-${mm}-${[31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(mm) - 1]}`,
    undefined,
  ],
  ['the first day', ({ yy, mm }: Row) => `20${yy}-${mm}-01`, 'each on the first of its month'],
  ['the 15th', ({ yy, mm }: Row) => `20${yy}-${mm}-15`, 'each on day 15 of its month'],
  [
    'the beginning of the first day in UTC',
    ({ yy, mm }: Row) => `20${yy}-${mm}-01T00:00:00Z`,
    'each on the first of its month',
  ],
  [
    'the end of the last day in UTC',
    ({ yy, mm }: Row) => new Date(Date.UTC(2000 + Number(yy), Number(mm), 0, 23, 59, 59)).toISOString(),
    undefined,
  ],
  [
    'midnight in its own zone',
    ({ yy, mm }: Row) => `20${yy}-${mm}-01T00:00:00+02:00`,
    'each on the first of its month',
  ],
])('R93: full dates on %s of months need no answer', async (_, date, said) => {
  const exported = place((row) => [row.token, date(row), merchantOf(row.at)]);
  expect(await rowsOf(exported)).toEqual(right(merchantOf));
  const { stderr } = await exported.prepare();
  expect(/each on [^\n;]*/.exec(stderr)?.[0]).toBe(said);
});

/** A ready request of 30 rows, of which one has another merchant and one another year. */
function request(merchant: string, year = '27'): string {
  const row = (at: number): string => `${uuid(at)},${at === 4 ? year : '28'},05,${at === 3 ? merchant : 'M-1'}\n`;
  return `${HEADER}\n${Array.from({ length: 30 }, (_, at) => row(at)).join('')}`;
}

it('R93: svc au check and svc au submit refuse what a ready request cannot mean, and go on with --accept', async () => {
  for (const [text, check] of [
    [request('NULL'), 'marks'],
    [request('4.4E+14'), 'numbers'],
    [request("'M-1"), 'numbers'],
    [request('M-1', '99'), 'years'],
    [request('M-1').replaceAll(',28,05', ',20,05'), 'past'],
    [request('M-1').replace(uuid(2), 'TK123'), 'tokens'],
    [request('M-1').replace(uuid(2), `{${uuid(2)}}`), 'tokens'],
  ] as const) {
    const { run, path } = placeText(text);
    for (const command of ['check', 'submit']) {
      const refused = await run('--sandbox', 'au', command, path);
      expect([refused.code, errorIn(refused)['checks']], check).toEqual([13, [check]]);
      expect(errorIn(refused)['next']).toContain(`--accept ${check}`);
      expect((await run('--sandbox', 'au', command, path, '--accept', check)).code, check).toBe(0);
    }
  }
});
