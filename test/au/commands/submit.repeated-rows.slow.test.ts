import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { RESULT_COLUMNS } from '../../../src/schema/account-updater-files.ts';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from './support.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const [A = '', B = '', C = ''] = ROWS;
const TOKEN_A = A.slice(0, 36);
const UPPER_A = TOKEN_A.toUpperCase();
const WITH_OTHER_CASE = A.replace(TOKEN_A, UPPER_A);
/** The same rows in other bytes: quoted, with another line end, with another expiration, and in capitals. */
const REPEATED = [`${HEADER}\r`, A, B, `"${TOKEN_A}",27,01,${merchantOf(A)}\r`, C, WITH_OTHER_CASE, B].join('\n');
const SENT = [HEADER, A, B, C, ''].join('\n');
const WARNING =
  '3 rows repeat the token and merchant of an earlier row and are left out: line 4 (that of line 2), line 6 (that of line 2), line 7 (that of line 3)';

const NEW_ONE = '11111111-2222-4333-8444-555555555555';
const NEW_TWO = '22222222-2222-4333-8444-555555555555';

/** Returns a result file that gives each token a new one. */
function resultsOf(...tokens: readonly (readonly [token: string, newToken: string])[]): string {
  const rows = tokens.map(([token, newToken]) => `${token},,,${newToken},30,01,UPD_PAN\n`);
  return `${RESULT_COLUMNS.join(',')}\n${rows.join('')}`;
}

function merchantOf(row: string): string {
  return row.split(',').at(-1) ?? '';
}

async function deskWith(files: Readonly<Record<string, string>>): Promise<QuickDesk> {
  const desk = await openQuickDesk();
  for (const [name, text] of Object.entries(files)) writeFileSync(desk.home.file(name), text);
  return desk;
}

function read({ home }: QuickDesk, name: string): string {
  return readFileSync(home.file(name), 'utf8');
}

describe('a file that repeats rows', () => {
  it.each(['', ' --cycle 2026-12'])(
    'R58: svc au submit%s sends each row once and says which lines repeat, with all others as they are, a line feed behind each',
    async (options) => {
      const desk = await deskWith({ 'r.csv': REPEATED });
      ended(await desk.svc(`au submit r.csv --wait${options}`), 0, `r.csv: ${WARNING}`, {
        row: { rows: 3, results: { compared: true } },
      });
      expect(desk.received()).toEqual([SENT]);
      expect(read(desk, 'r.csv')).toBe(REPEATED);
    },
  );

  it.each(['', ' --cycle 2026-12'])('R58: svc au submit%s again sends nothing more', async (options) => {
    const desk = await deskWith({ 'r.csv': REPEATED });
    const first = rowOf(await desk.svc(`au submit r.csv --wait${options}`));
    const again = rowOf(await desk.svc(`au submit r.csv --wait${options}`));
    expect(again).toMatchObject({ jobs: first['jobs'], status: 'already_submitted' });
    // The same rows without the repeats are the same submission.
    writeFileSync(desk.home.file('once.csv'), SENT);
    const once = rowOf(await desk.svc(`au submit once.csv${options}`));
    expect(once).toMatchObject({ jobs: first['jobs'], status: 'already_submitted' });
    expect(desk.received()).toHaveLength(1);
  });

  it('a dry run and a check count what would be sent, and which rows repeat', async () => {
    const desk = await deskWith({ 'r.csv': REPEATED });
    ended(await desk.svc('au submit r.csv --dry-run'), 0, 'it would create 1 job for 3 rows', {
      row: { rows: 3, repeated_tokens: 3, job_count: 1 },
    });
    ended(await desk.svc('au check r.csv'), 0, WARNING, { row: { rows: 6, repeated_tokens: 3 } });
  });

  it('R58: svc au upload sends each row once', async () => {
    const desk = await deskWith({ 'r.csv': REPEATED });
    const { id } = rowOf(await desk.svc('au create'));
    rowOf(await desk.svc(`au upload ${String(id)} r.csv`));
    expect(desk.received()).toEqual([SENT]);
  });

  it('R58: rows that other files of the cycle had and rows that repeat are each sent once', async () => {
    const desk = await deskWith({ 'first.csv': `${HEADER}\n${B}\n`, 'r.csv': REPEATED });
    rowOf(await desk.svc('au submit first.csv --cycle 2026-12'));
    ended(await desk.svc('au submit r.csv --cycle 2026-12'), 0, '1 of 3 rows of r.csv is in cycle 2026-12 already', {
      row: { rows: 3 },
    });
    expect(desk.received()).toEqual([`${HEADER}\n${B}\n`, `${HEADER}\n${A}\n${C}\n`]);
  });

  it('the report and the next request count a repeated row as one row', async () => {
    const desk = await deskWith({ 'r.csv': REPEATED });
    rowOf(await desk.svc('au submit r.csv --wait'));
    const report = rowOf(await desk.svc('au report r.results.csv --request r.csv'));
    expect(report['request']).toMatchObject({ rows: 3, not_requested: 0, duplicates: 0 });
    const next = rowOf(await desk.svc('au next r.csv r.results.csv --fail-on err=100%'));
    const { groups, rows } = next as { groups: Record<string, number>; rows: number };
    expect(rows + (groups['exclude'] ?? 0)).toBe(3);
  });

  it('results of a file that repeats rows are reported, and lead to the next request', async () => {
    const desk = await deskWith({
      'r.csv': `${HEADER}\n${A}\n${A}\n${B}\n`,
      'results.csv': resultsOf([TOKEN_A, NEW_ONE], [TOKEN_A, NEW_ONE]),
    });
    const report = rowOf(await desk.svc('au report results.csv --request r.csv'));
    expect(report['request']).toMatchObject({ rows: 2, unchanged: 1, duplicates: 0 });
    rowOf(await desk.svc('au next r.csv results.csv'));
    expect(read(desk, 'r.next.csv')).not.toContain(TOKEN_A);
  });
});

describe('a token that is a UUID', () => {
  it('a UUID in capitals matches its results, its exclusion and its kept columns in lower case', async () => {
    const desk = await deskWith({
      'upper.csv': `${HEADER}\n${[A, B, C].map((row) => row.slice(0, 36).toUpperCase() + row.slice(36)).join('\n')}\n`,
      'results.csv': resultsOf([C.slice(0, 36), NEW_ONE], [TOKEN_A, NEW_TWO]),
      'in-order.csv': resultsOf([TOKEN_A, NEW_TWO], [C.slice(0, 36), NEW_ONE]),
      'closed.csv': `token,code,cycle,date\n${B.slice(0, 36)},WRN_CLOSED_ACCOUNT,,2026-01-01\n`,
      'k.csv': `row,token,name\n1,${TOKEN_A},Ann\n2,${B.slice(0, 36)},Bob\n3,${C.slice(0, 36)},Cy\n`,
    });
    for (const name of ['results.csv', 'in-order.csv']) {
      const words = `au next upper.csv ${name} --exclusions closed.csv --keep k.csv --out n.csv --force`;
      expect(rowOf(await desk.svc(words))).toMatchObject({ rows: 2, groups: { replace: 2 }, excluded_before: 1 });
      expect(read(desk, 'n.keep.csv')).toBe(`row,token,name\n1,${NEW_TWO},Ann\n2,${NEW_ONE},Cy\n`);
      const report = rowOf(await desk.svc(`au report ${name} --request upper.csv`));
      expect(report['request']).toMatchObject({ not_requested: 0, unchanged: 1 });
    }
    const prepared = rowOf(await desk.svc('au prepare upper.csv --exclusions closed.csv --out p.csv'));
    expect(prepared).toMatchObject({ rows: 2, changes: { excluded_tokens: 1 } });
  });
});

describe('a token with two merchants', () => {
  const EXPORT = `token,merchant_id,name\n${TOKEN_A},M1,Ann\n${UPPER_A},M2,Ben\n${TOKEN_A},M2,Cy\n${UPPER_A},M1,Di\n`;

  it('svc au prepare keeps a row for each merchant, and drops rows with both from above', async () => {
    const desk = await deskWith({ 'x.csv': EXPORT });
    const prepared = rowOf(await desk.svc('au prepare x.csv --keep name --out p.csv'));
    expect(prepared).toMatchObject({ rows: 2, changes: { repeated_tokens: 2 } });
    expect(read(desk, 'p.csv')).toBe(`${HEADER}\n${TOKEN_A},,,M1\n${UPPER_A},,,M2\n`);
    expect(read(desk, 'p.keep.csv')).toBe(`row,token,name\n1,${TOKEN_A},Ann\n2,${UPPER_A},Ben\n`);
  });

  it('both rows of a token with two merchants are sent, take the new token, and keep their own columns', async () => {
    const desk = await deskWith({ 'x.csv': EXPORT, 'results.csv': resultsOf([TOKEN_A, NEW_TWO]) });
    rowOf(await desk.svc('au prepare x.csv --keep name --out p.csv'));
    expect(rowOf(await desk.svc('au submit p.csv'))).toMatchObject({ rows: 2 });
    rowOf(await desk.svc('au next p.csv results.csv --keep p.keep.csv --out n.csv'));
    expect(read(desk, 'n.csv')).toBe(`${HEADER}\n${NEW_TWO},30,01,M1\n${NEW_TWO},30,01,M2\n`);
    expect(read(desk, 'n.keep.csv')).toBe(`row,token,name\n1,${NEW_TWO},Ann\n2,${NEW_TWO},Ben\n`);
  });
});
