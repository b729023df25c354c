import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { openQuickDesk } from './support.ts';
import { succeeded } from '../../support/run-here.ts';

/** Before the first of the new tokens expires. */
const start = Date.parse('2026-12-01T09:00:00Z');
const LINE = 'au refresh export.csv --cycle 2026-12 --fail-on err=60% -o table';

it('svc au refresh ends in five lines: the counts, the report, the new tokens, what is to do, and the next cycle', async () => {
  const desk = await openQuickDesk({ start });
  writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
  const { stdout, stderr } = succeeded(await desk.svc(LINE));
  expect(stdout.trim().split('\n')).toEqual([
    '40 rows: 14 updated, 11 warnings, 13 errors, 2 unchanged',
    'report  refresh/2026-12/report.html',
  ]);
  expect(stderr.trimEnd().split('\n').slice(-3)).toEqual([
    '13 new tokens: refresh/2026-12/todo/replace.csv, and as SQL in update.sql beside it',
    'to do in refresh/2026-12/todo: 2 in contact.csv, 6 in consider.csv, 7 in exclude.csv, 8 in fix.csv, 1 in support.csv',
    'next cycle: leaves out 7 rows of this one, listed in refresh/exclusions.csv',
  ]);
});

it('svc au refresh --verbose names the code of each result', async () => {
  const desk = await openQuickDesk();
  writeFileSync(desk.home.file('export.csv'), exampleRequestFile());
  const { stdout } = await desk.svc(`${LINE} --verbose`);
  expect(stdout).toMatch(/^UPD_PAN +8 .*use the new token$/m);
});

it('svc au submit --wait shows no count that repeats the number of rows', async () => {
  const desk = await openQuickDesk();
  writeFileSync(desk.home.file('tokens.csv'), exampleRequestFile());
  const { stdout } = await desk.svc('au submit tokens.csv --wait -o table');
  expect(stdout).toMatch(/^rows +40$/m);
  expect(stdout).not.toMatch(/^(?:sent|left out|in cycle)/m);
  const again = await desk.svc('au submit tokens.csv --wait -o json --force');
  expect(JSON.parse(again.stdout)).toMatchObject({ sent: 40, left_out: 0, left_out_errors: 0 });
});
