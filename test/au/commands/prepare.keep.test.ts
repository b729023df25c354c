import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ended, errorIn, succeeded, svcHere } from '../../support/run-here.ts';
import { SHOWN_DIGITS } from '../../support/card-numbers.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const EXPORT = [
  'Card;Customer Id;Note;exp',
  'a;C-1;"two\r\nlines";05/2031',
  'b;C-2; "x, y" ;05/2031',
  'a;C-3;repeated;05/2031',
  'c;;;05/2031',
  '',
].join('\r\n');

const KEEP = ['--map', 'token=Card', '--keep', 'customer id', '--keep', 'Note'];

function place(text = EXPORT) {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'export.csv'), text);
  const svc = (line: string) => svcHere(line.split(' '), { cwd, home: cwd });
  const prepare = (...words: string[]) => svcHere(['au', 'prepare', 'export.csv', ...words], { cwd, home: cwd });
  return { cwd, svc, prepare, read: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}

const RESULTS = [
  'token,expiration_year,expiration_month,new_token,new_expiration_year,new_expiration_month,result_code,extra',
  'a,31,05,n,33,01,UPD_PAN,e',
  'b,31,05,,,,WRN_CLOSED_ACCOUNT,',
  '',
].join('\n');

describe('svc au prepare --keep', () => {
  it('svc au prepare --keep writes the kept columns beside the request, a line each, private', async () => {
    const { cwd, prepare, read } = place();
    const { stdout, stderr } = await prepare(...KEEP, '--out', 'tokens.csv');
    expect(JSON.parse(stdout)).toMatchObject({ rows: 3, keep_file: 'tokens.keep.csv', columns_left_out: 0 });
    expect(stderr).toContain('kept in tokens.keep.csv: Customer Id, Note');
    expect(read('tokens.csv').split('\n').slice(1)).toEqual(['a,31,05,', 'b,31,05,', 'c,31,05,', '']);
    expect(read('tokens.keep.csv')).toBe(
      ['row,token,Customer Id,Note', '1,a,C-1,two lines', '2,b,C-2,"x, y"', '3,c,,', ''].join('\n'),
    );
    expect(statSync(join(cwd, 'tokens.keep.csv')).mode & 0o777).toBe(0o600);
  });

  it('the file of svc au prepare --keep is joined to results by au report --split-into', async () => {
    const { cwd, svc, prepare, read } = place();
    await prepare(...KEEP, '--out', 'tokens.csv');
    writeFileSync(join(cwd, 'results.csv'), RESULTS);
    succeeded(await svc('au report results.csv --split-into todo --keep tokens.keep.csv'));
    const header = `${RESULTS.split('\n')[0]},Customer Id,Note`;
    expect(read('todo/replace.csv')).toBe(`${header}\na,31,05,n,33,01,UPD_PAN,e,C-1,two lines\n`);
    expect(read('todo/exclude.csv')).toBe(`${header}\nb,31,05,,,,WRN_CLOSED_ACCOUNT,,C-2,"x, y"\n`);
  });

  it('blanks at the ends of a kept cell stay in the files that svc au report writes', async () => {
    const { cwd, svc, prepare, read } = place(EXPORT.replace('C-1', '"  C-1 "').replace('C-2', ' C-2'));
    succeeded(await prepare(...KEEP, '--out', 'tokens.csv'));
    expect(read('tokens.keep.csv')).toContain('1,a,"  C-1 ",two lines\n2,b," C-2","x, y"\n');
    writeFileSync(join(cwd, 'results.csv'), RESULTS);
    succeeded(await svc('au report results.csv --split-into todo --keep tokens.keep.csv'));
    expect(read('todo/replace.csv')).toContain(',UPD_PAN,e,"  C-1 ",two lines\n');
  });

  it('a kept timestamp whose digits could be those of a card is joined to results', async () => {
    const { cwd, svc, prepare, read } = place(EXPORT.replace('C-1', '2035-08-25 12:33:12.0384+00:00'));
    succeeded(await prepare(...KEEP, '--out', 'tokens.csv'));
    writeFileSync(join(cwd, 'results.csv'), RESULTS);
    succeeded(await svc('au report results.csv --split-into todo --keep tokens.keep.csv'));
    expect(read('todo/replace.csv')).toContain(',2035-08-25 12:33:12.0384+00:00,');
  });

  it.each(['"Customer\nId"', '"Customer \r\n Id"'])(
    'svc au prepare --keep writes a wrapped name of a column on one line: %j',
    async (name) => {
      const wrapped = EXPORT.replace('Customer Id', name).replace('b;C-2', `Card;${name};Note;exp\r\nb;C-2`);
      const { cwd, svc, prepare, read } = place(wrapped);
      const prepared = await prepare(...KEEP, '--out', 'tokens.csv');
      expect(prepared.stderr).toContain('kept in tokens.keep.csv: Customer Id, Note');
      expect(JSON.parse(prepared.stdout)).toMatchObject({ rows: 3 });
      expect(read('tokens.keep.csv').split('\n')[0]).toBe('row,token,Customer Id,Note');
      writeFileSync(join(cwd, 'results.csv'), RESULTS);
      succeeded(await svc('au report results.csv --split-into todo --keep tokens.keep.csv'));
      expect(read('todo/replace.csv')).toContain(',extra,Customer Id,Note\na,31,05,n,33,01,UPD_PAN,e,C-1,two lines\n');
    },
  );

  it('R40: svc au prepare refuses a card number in a wrapped name of a column', async () => {
    const { prepare } = place(EXPORT.replace('Customer Id', '"Customer\n4111 1111\n1111 1111"'));
    const result = ended(await prepare('--map', 'token=Card', '--out', 'tokens.csv'), 13, {
      error: { rule: 'card_number' },
    });
    expect(result.stderr + result.stdout).not.toMatch(SHOWN_DIGITS);
  });

  it('svc au prepare --keep warns of repeated rows with other kept columns, and of no equal ones', async () => {
    const { prepare } = place(EXPORT.replace('c;;;', 'b; C-2 ;"x, y";'));
    expect((await prepare(...KEEP, '--out', 'tokens.csv')).stderr).toContain(
      'warning: 1 row (line 5) repeats the token and merchant of an earlier row and has other kept columns: only those of the earlier row are kept. Match new tokens to your records by the old token, not by the kept columns\n',
    );
    ended(await prepare('--map', 'token=Card', '--keep', 'exp', '--out', 'equal.csv', '--no-expiration'), 0, {
      unsaid: 'kept columns',
    });
  });

  it('the file of svc au prepare --keep is joined by au next to the rows left out, and follows the new tokens', async () => {
    const { cwd, svc, prepare, read } = place();
    await prepare(...KEEP, '--out', 'tokens.csv');
    writeFileSync(join(cwd, 'results.csv'), RESULTS);
    const line = 'au next tokens.csv results.csv --keep tokens.keep.csv --out next.csv --excluded excluded.csv';
    const { stdout, stderr } = await svc(line);
    expect(JSON.parse(stdout)).toMatchObject({ rows: 2, keep_file: 'next.keep.csv' });
    expect(stderr).not.toContain('warning');
    expect(read('next.keep.csv')).toBe('row,token,Customer Id,Note\n1,n,C-1,two lines\n2,c,,\n');
    expect(read('excluded.csv').split('\n')[1]).toMatch(/^2,b,31,05,,WRN_CLOSED_ACCOUNT,.*,C-2,"x, y"$/);
  });

  it('a file of svc au prepare --keep for another request gives empty columns and a warning', async () => {
    const { cwd, svc, prepare, read } = place();
    await prepare(...KEEP, '--out', 'tokens.csv');
    writeFileSync(join(cwd, 'results.csv'), RESULTS);
    writeFileSync(join(cwd, 'other.keep.csv'), 'row,token,No\n1,x,1\n');
    ended(
      await svc('au report results.csv --split-into todo --keep other.keep.csv'),
      0,
      'other.keep.csv has no columns for 2 rows',
    );
    expect(read('todo/exclude.csv').split('\n')[1]).toBe('b,31,05,,,,WRN_CLOSED_ACCOUNT,,');
  });

  it('the file of svc au prepare --keep is refused as a request by the check that every upload passes', async () => {
    const { cwd, svc, prepare } = place();
    await prepare(...KEEP, '--out', 'tokens.csv');
    ended(await svc(`au check ${join(cwd, 'tokens.keep.csv')}`), 13);
  });

  it('R40: svc au prepare --keep writes nothing when a kept column contains a card number', async () => {
    const { cwd, prepare } = place(EXPORT.replace('C-2', '4111-1111-1111-1111'));
    const result = ended(
      await prepare(...KEEP, '--out', 'tokens.csv', '--rejects', 'r.csv', '--max-rejects', '90%'),
      13,
    );
    expect(errorIn(result)['problems']).toMatchObject([{ line: 4, rule: 'card_number' }]);
    expect(
      readdirSync(cwd)
        .filter((name) => name.includes('csv'))
        .toSorted(),
    ).toEqual(['export.csv', 'r.csv']);
    expect(readFileSync(join(cwd, 'r.csv'), 'utf8')).not.toMatch(SHOWN_DIGITS);
  });

  it.each(['4111 1111\r\n1111 1111', 'pays with 4111 1111\n1111 1111 still', '4111-1111-\n\n 1111-1111'])(
    'R40: svc au prepare --keep refuses a card number that the line ends of a kept cell divide: %j',
    async (note) => {
      const { prepare, read } = place(EXPORT.replace('two\r\nlines', note));
      const result = ended(await prepare(...KEEP, '--out', 'tokens.csv', '--rejects', 'r.csv'), 13);
      expect(errorIn(result)['problems']).toMatchObject([{ line: 2, rule: 'card_number' }]);
      expect(read('r.csv')).not.toMatch(SHOWN_DIGITS);
    },
  );

  it.each([
    [['--keep', 'Note'], 2, '--keep needs --out'],
    [
      ['--keep', 'Missing', '--out', 'tokens.csv'],
      13,
      'a column to keep does not exist; the export has the columns Card',
    ],
    [['--keep', 'token', '--out', 'tokens.csv', '--map', 'token=Card'], 13, 'the column token cannot be kept'],
  ])('svc au prepare --keep refuses %j', async (words, code, message) => {
    const { cwd, prepare } = place('Card,Note,token\na,b,c\n');
    ended(await prepare(...words), code, message);
    expect(existsSync(join(cwd, 'tokens.csv'))).toBe(false);
  });

  it('svc au prepare --keep does not replace its file unasked', async () => {
    const { cwd, prepare } = place();
    writeFileSync(join(cwd, 'tokens.keep.csv'), 'mine');
    ended(await prepare(...KEEP, '--out', 'tokens.csv'), 2);
    succeeded(await prepare(...KEEP, '--out', 'tokens.csv', '--force'));
  });

  it.each([
    ['au report r.csv --keep k.csv', '--keep needs --split-into'],
    ['au next t.csv r.csv --keep k.csv --out -', '--keep needs a file for --out'],
  ])('--keep is refused where its columns have no file to go to: %s', async (line, message) => {
    ended(await place().svc(line), 2, message);
  });
});

describe('kept columns of a token with several merchants', () => {
  const REQUEST = 'token,expiration_year,expiration_month,merchant_id\nt,,,m1\nt,,,m2\nu,,,m1\n';
  const SORTED = 'row,token,customer\n2,t,bob\n1,t,alice\n3,u,carol\n';
  const [HEADER = ''] = RESULTS.split(',extra');
  const BOTH = `${HEADER}\nt,,,n1,,,UPD_PAN\nt,,,n2,,,UPD_PAN\n`;
  const ONE = `${HEADER}\nt,,,,,,ERR_INVALID_CONFIG\nu,,,,,,ERR_INVALID_CONFIG\n`;

  function placeOf({ request = REQUEST, results = BOTH, keep = SORTED }) {
    const found = place();
    const files = { 'q.csv': request, 'r.csv': results, 'k.csv': keep };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(found.cwd, name), text);
    return found;
  }

  it('au next joins the kept columns of each row, also if their file was sorted', async () => {
    const { svc, read } = placeOf({});
    const { code, stderr } = await svc('au next q.csv r.csv --keep k.csv --out n.csv');
    expect([code, stderr.includes('warning')]).toEqual([0, false]);
    expect(read('n.keep.csv')).toBe('row,token,customer\n1,n1,alice\n2,n2,bob\n3,u,carol\n');
  });

  it.each([
    ['lacks a row', REQUEST.replace('t,,,m1\n', ''), SORTED],
    ['has one more', REQUEST, SORTED.replace('2,t,bob\n', '')],
  ])(
    'au next and au report join no kept columns to a token of which the request %s, and warn',
    async (_, request, keep) => {
      const results = `${HEADER}\nt,,,,,,ERR_INVALID_CONFIG\n`;
      const { svc, read } = placeOf({ request, keep, results });
      const { code, stderr } = await svc('au next q.csv r.csv --keep k.csv --out n.csv --fail-on err=100%');
      expect([code, read('n.keep.csv').match(/alice|bob/)]).toEqual([0, null]);
      expect(stderr).toContain('k.csv belong to them; use the file that was kept for q.csv');
      const report = await svc('au report r.csv --split-into todo --keep k.csv --request q.csv');
      expect([report.code, read('todo/fix.csv').match(/alice|bob/)]).toEqual([0, null]);
      expect(report.stderr).toContain('kept columns are left empty in 1 row');
    },
  );

  it('au report without a request joins no kept columns that differ, and says that svc au refresh finds them', async () => {
    const { svc, read } = placeOf({ results: ONE });
    const { code, stderr } = await svc('au report r.csv --split-into todo --keep k.csv');
    expect([code, read('todo/fix.csv').split('\n').slice(1)]).toEqual([
      0,
      ['t,,,,,,ERR_INVALID_CONFIG,', 'u,,,,,,ERR_INVALID_CONFIG,carol', ''],
    ]);
    expect(stderr).toContain('kept columns are left empty in 1 row');
    expect(stderr).toContain('; results name no merchant, and svc au refresh finds their rows by job');
  });

  it('au report without a request joins kept columns that are the same in all rows of a token', async () => {
    const { svc, read } = placeOf({ results: ONE, keep: SORTED.replace('alice', 'bob') });
    const { stderr } = await svc('au report r.csv --split-into todo --keep k.csv');
    expect(read('todo/fix.csv')).toContain('\nt,,,,,,ERR_INVALID_CONFIG,bob\n');
    expect(stderr).not.toContain('warning');
  });
});
