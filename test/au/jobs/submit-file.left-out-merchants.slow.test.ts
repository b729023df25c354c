import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { ended, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';
import { jobOfEarlierBuild } from '../ledger/job-of-earlier-build.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const [A = '', B = '', C = '', D = '', E = ''] = ROWS.map((row) => row.slice(0, 36));
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
  const job = await earlierJob(RIGHT, WRONG);
  const done = ended(
    await svc('laptop', `au submit two.csv ${CYCLE}`),
    0,
    new RegExp(
      `1 row of two.csv may have an error as its result, and was not written to two.fix.csv: job ${job} \\(sent by .+@.+\\) may have its token for several merchants, and results name no merchant. two.results.csv has all results of its token`,
    ),
    { row: { left_out: 1, left_out_errors: 1, results: { updated: 1, errors: 1 } } },
  );
  expect(fixFile('two.fix.csv')).toBeUndefined();
  expect(done.stderr).not.toContain('submit that file');
});

it('the warning of unclear errors counts no row of a token without errors, and names no job without errors', async () => {
  const [first, second] = [`${B},28,05,M1`, `${B},28,05,M2`];
  const { svc, home, earlierJob } = await merchantDesk(
    { 'two.csv': [WRONG, RIGHT, second, first, `${D},28,05,M2`, `${D},28,05,M1`] },
    ['M1', 'M2'],
  );
  const job = await earlierJob(RIGHT, WRONG, first, second, `${C},28,05,M1`);
  const right = await earlierJob(`${D},28,05,M1`, `${D},28,05,M2`, `${E},28,05,M1`);
  const done = ended(await svc('laptop', `au submit two.csv ${CYCLE}`), 0, {
    row: { left_out: 6, left_out_errors: 1 },
  });
  const doubt = done.stderr.split('\n').find((line) => line.includes('may have an error')) ?? '';
  expect(doubt).toContain('2 rows of two.csv may have an error as their result, and were not written');
  expect(doubt).toContain(`: job ${job} (`);
  expect(doubt).not.toContain(right);
  // The warning names the file where an operator finds the error.
  expect(doubt).toContain('two.results.csv has all results of their tokens');
  const errors = readFileSync(home.file('two.results.csv'), 'utf8')
    .split('\n')
    .filter((row) => row.includes('ERR_'));
  expect(errors.map((row) => row.slice(0, 36))).toEqual([A]);
});

it('both rows of a token are written where the job of an earlier build has them in another order and both results are errors', async () => {
  const [one, other] = [WRONG, `${A},28,05,M2`];
  const { svc, fixFile, earlierJob } = await merchantDesk({ 'two.csv': [other, one] });
  await earlierJob(one, other);
  expect(rowOf(await svc('laptop', `au submit two.csv ${CYCLE}`))).toMatchObject({ left_out_errors: 2 });
  expect(fixFile('two.fix.csv')).toBe(`${HEADER}\n${other}\n${one}\n`);
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
