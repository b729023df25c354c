import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ended, errorIn, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const EXPORT = 'token,exp\na,05/31\nb,soon\nc,06/31\n';
const LIST =
  'token,code,cycle,date\nb,WRN_CLOSED_ACCOUNT,2026-11,2026-11-03\nc,WRN_CLOSED_ACCOUNT,2026-11,2026-11-03\n';

function place(list?: string) {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'export.csv'), EXPORT);
  if (list !== undefined) writeFileSync(join(cwd, 'closed.csv'), list);
  const prepare = (...words: string[]) =>
    svcHere(['au', 'prepare', 'export.csv', '--exclusions', 'closed.csv', '--out', 'tokens.csv', ...words], { cwd });
  return { cwd, prepare, read: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}

it('svc au prepare --exclusions leaves out the tokens on the list, whatever else is wrong with their rows, and counts them', async () => {
  const { prepare, read } = place(LIST);
  ended(await prepare(), 0, 'rows on the list of exclusions left out: 2 rows (lines 3, 4)', {
    row: { rows: 1, rejected: 0, changes: { excluded_tokens: 2 } },
  });
  expect(read('tokens.csv').split('\n').slice(1)).toEqual(['a,31,05,', '']);
  expect(read('closed.csv')).toBe(LIST);
});

it('svc au prepare --exclusions ends with 3 when the list does not exist, and names both ways on', async () => {
  const { cwd, prepare } = place();
  ended(await prepare('--rejects', 'rejected.csv', '--max-rejects', '1'), 3, {
    error: {
      message: 'closed.csv does not exist; nothing was written',
      next: 'svc au prepare export.csv --exclusions closed.csv --rejects rejected.csv --max-rejects 1 --out tokens.csv',
      alternatives: [
        'svc au prepare export.csv --rejects rejected.csv --max-rejects 1 --out tokens.csv --exclusions none',
      ],
    },
  });
  expect(readdirSync(cwd)).toEqual(['export.csv']);
});

it('svc au prepare --exclusions names the way on without a list whose name begins with a dash', async () => {
  const { cwd } = place();
  ended(await svcHere(['au', 'prepare', 'export.csv', '--exclusions=-closed.csv'], { cwd }), 3, {
    error: { alternatives: ['svc au prepare export.csv --exclusions none'] },
  });
});

it('svc au prepare --exclusions none leaves out no row', async () => {
  const { cwd } = place();
  const line = 'au prepare export.csv --exclusions none --out tokens.csv --rejects rejected.csv --max-rejects 1';
  ended(await svcHere(line.split(' '), { cwd }), 0, { row: { rows: 2, rejected: 1 }, unsaid: 'exclusions' });
});

it('svc au prepare --exclusions refuses an export whose every row is on the list', async () => {
  const { cwd, prepare } = place(`${LIST}a,,,\n`);
  const result = ended(await prepare(), 13);
  expect(JSON.stringify(errorIn(result))).toContain('every row of the export is on the list of exclusions');
  expect(existsSync(join(cwd, 'tokens.csv'))).toBe(false);
});

it('svc au prepare --exclusions refuses a file that is no list of exclusions', async () => {
  const { prepare } = place('token,reason\na,closed\n');
  ended(await prepare(), 13, { error: { message: expect.stringContaining('is no list of exclusions') } });
});
