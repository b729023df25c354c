import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';
import { jobOfEarlierBuild } from '../ledger/job-of-earlier-build.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const [A = '', B = ''] = ROWS.map((row) => row.slice(0, 36));
const [RIGHT, WRONG, OTHER] = [`${A},28,05,M1`, `${A},28,05,WRONG`, `${B},28,05,M1`];
const CYCLE = '--cycle 2026-12 --wait';

/** A desk whose commands use a shared ledger, from the machine with the given name. */
async function merchantDesk(files: Readonly<Record<string, readonly string[]>>, merchants = ['M1']) {
  const desk = await openQuickDesk({ tenants: ['production'], merchants });
  for (const [name, rows] of Object.entries(files)) writeRows(desk, name, ...rows);
  const fixFile = (name: string): string | undefined =>
    existsSync(desk.home.file(name)) ? readFileSync(desk.home.file(name), 'utf8') : undefined;
  const earlierJob = (...rows: readonly string[]): Promise<string> => jobOfEarlierBuild(desk, rows);
  return { ...desk, svc: desk.on, fixFile, earlierJob };
}

it.each(['laptop', 'runner'])(
  'R79: a left-out row whose result is an update is not billed again for the error of another merchant that %s sent',
  async (machine) => {
    const { svc, fixFile } = await merchantDesk({ 'one.csv': [RIGHT, WRONG], 'two.csv': [RIGHT] });
    rowOf(await svc(machine, `au submit one.csv ${CYCLE}`));
    const done = ended(await svc('laptop', `au submit two.csv ${CYCLE}`), 0, {
      row: { left_out: 1, left_out_errors: 0, results: { updated: 1, errors: 0 } },
    });
    expect(fixFile('two.fix.csv')).toBeUndefined();
    expect(done.stderr).not.toContain('fix.csv');
  },
);

it('a fix file whose rows are known to have no error is left with a warning', async () => {
  const { svc, fixFile, home } = await merchantDesk({ 'one.csv': [RIGHT, WRONG], 'two.csv': [RIGHT] });
  rowOf(await svc('laptop', `au submit one.csv ${CYCLE}`));
  const old = `${HEADER}\n${RIGHT}\n`;
  writeFileSync(home.file('two.fix.csv'), old);
  ended(
    await svc('laptop', `au submit two.csv ${CYCLE}`),
    0,
    'warning: two.fix.csv was here before and was not changed: no left-out row of two.csv',
    { row: { left_out_errors: 0 } },
  );
  expect(fixFile('two.fix.csv')).toBe(old);
});

it('a left-out row whose result is an error is written where the job has a right row of the token too', async () => {
  const { svc, fixFile } = await merchantDesk({ 'one.csv': [RIGHT, WRONG, OTHER], 'two.csv': [OTHER, WRONG] });
  rowOf(await svc('laptop', `au submit one.csv ${CYCLE}`));
  ended(await svc('laptop', `au submit two.csv ${CYCLE}`), 0, {
    row: { left_out: 2, left_out_errors: 1, results: { updated: 1, errors: 1 } },
  });
  expect(fixFile('two.fix.csv')).toBe(`${HEADER}\n${WRONG}\n`);
});

it('R79: a left-out row is not billed again where an error may be that of another row in the job of an earlier build', async () => {
  const { svc, fixFile, earlierJob } = await merchantDesk({ 'two.csv': [RIGHT] });
  await earlierJob(RIGHT, WRONG);
  const done = ended(await svc('laptop', `au submit two.csv ${CYCLE}`), 0, {
    row: { left_out: 1, results: { updated: 1, errors: 1 } },
  });
  expect(fixFile('two.fix.csv')).toBeUndefined();
  expect(done.stderr).not.toContain('submit that file');
});

it('a left-out row whose result is an error in the job of another machine is written, because no job has a token for two merchants', async () => {
  const { svc, fixFile } = await merchantDesk({
    'one.csv': [OTHER, WRONG],
    'two.csv': [WRONG],
    'same.csv': [WRONG, OTHER],
  });
  rowOf(await svc('runner', `au submit one.csv ${CYCLE}`));
  ended(await svc('laptop', `au submit two.csv ${CYCLE}`), 0, { row: { left_out_errors: 1 } });
  expect(fixFile('two.fix.csv')).toBe(`${HEADER}\n${WRONG}\n`);
  ended(await svc('desktop', `au submit same.csv ${CYCLE}`), 0, { row: { left_out_errors: 1 } });
});
