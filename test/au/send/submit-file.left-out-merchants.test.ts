import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { type HereResult, rowOf } from '../../support/run-here.ts';
import { openQuickDesk, writeRows } from '../commands/support.ts';

const [HEADER = '', ...ROWS] = exampleRequestFile().trimEnd().split('\n');
const [A = '', B = ''] = ROWS.map((row) => row.slice(0, 36));
const [RIGHT, WRONG, OTHER] = [`${A},28,05,M1`, `${A},28,05,WRONG`, `${B},28,05,M1`];
const CYCLE = '--cycle 2026-12 --wait';

/** A desk whose commands use a shared ledger, from the machine with the given name. */
async function merchantDesk(files: Readonly<Record<string, readonly string[]>>) {
  const desk = await openQuickDesk({ tenants: ['production'], merchants: ['M1'] });
  mkdirSync(desk.home.file('ledger'));
  for (const [name, rows] of Object.entries(files)) writeRows(desk, name, ...rows);
  const svc = (machine: string, line: string): Promise<HereResult> =>
    desk.svc(line, { SVC_STATE_DIR: desk.home.file(machine), SVC_LEDGER: desk.home.file('ledger') });
  const fixFile = (name: string): string | undefined =>
    existsSync(desk.home.file(name)) ? readFileSync(desk.home.file(name), 'utf8') : undefined;
  return { ...desk, svc, fixFile };
}

it('R79: a left-out row whose result is an update is not billed again for the error of another merchant', async () => {
  const { svc, fixFile } = await merchantDesk({ 'one.csv': [RIGHT, WRONG], 'two.csv': [RIGHT] });
  rowOf(await svc('laptop', `au submit one.csv ${CYCLE}`));
  const done = await svc('laptop', `au submit two.csv ${CYCLE}`);
  expect(rowOf(done)).toMatchObject({ left_out: 1, left_out_errors: 0, results: { updated: 1, errors: 0 } });
  expect(fixFile('two.fix.csv')).toBeUndefined();
  expect(done.stderr).not.toContain('fix.csv');
});

it('a left-out row whose result is an error is written where the job has a right row of the token too', async () => {
  const { svc, fixFile } = await merchantDesk({ 'one.csv': [RIGHT, WRONG, OTHER], 'two.csv': [OTHER, WRONG] });
  rowOf(await svc('laptop', `au submit one.csv ${CYCLE}`));
  const done = await svc('laptop', `au submit two.csv ${CYCLE}`);
  expect(rowOf(done)).toMatchObject({ left_out: 2, left_out_errors: 1, results: { updated: 1, errors: 1 } });
  expect(fixFile('two.fix.csv')).toBe(`${HEADER}\n${WRONG}\n`);
});

it('R79: a left-out row is not billed again where an error may be that of another row in the job of another machine', async () => {
  const { svc, fixFile } = await merchantDesk({ 'one.csv': [RIGHT, WRONG], 'two.csv': [RIGHT] });
  const { job } = rowOf(await svc('runner', `au submit one.csv ${CYCLE}`));
  const done = await svc('laptop', `au submit two.csv ${CYCLE}`);
  expect(rowOf(done)).toMatchObject({ left_out: 1, left_out_errors: 1, results: { updated: 1, errors: 1 } });
  expect(done.stderr).toMatch(
    new RegExp(
      `it is not known whether the result of 1 row of two.csv is an error, so that it was not written to be billed again: job ${String(job)} \\(sent by .+@.+\\) has rows of its token for several merchants`,
    ),
  );
  expect(fixFile('two.fix.csv')).toBeUndefined();
  expect(done.stderr).not.toContain('fix.csv');
});

it('both rows of a token are written where another machine has them in another order and both results are errors', async () => {
  const [one, other] = [WRONG, `${A},28,05,M2`];
  const { svc, fixFile } = await merchantDesk({ 'one.csv': [one, other, OTHER], 'two.csv': [other, one] });
  rowOf(await svc('runner', `au submit one.csv ${CYCLE}`));
  expect(rowOf(await svc('laptop', `au submit two.csv ${CYCLE}`))).toMatchObject({ left_out_errors: 2 });
  expect(fixFile('two.fix.csv')).toBe(`${HEADER}\n${other}\n${one}\n`);
});

it('left-out rows whose result is an error are written with the job of another machine that may have their tokens for other merchants', async () => {
  const { svc, fixFile } = await merchantDesk({
    'one.csv': [OTHER, WRONG],
    'two.csv': [WRONG],
    'same.csv': [WRONG, OTHER],
  });
  const { job } = rowOf(await svc('runner', `au submit one.csv ${CYCLE}`));
  const part = await svc('laptop', `au submit two.csv ${CYCLE}`);
  expect(rowOf(part)).toMatchObject({ left_out_errors: 1 });
  expect(fixFile('two.fix.csv')).toBe(`${HEADER}\n${WRONG}\n`);
  const doubt = `errors may be those of other merchants if job ${String(job)} `;
  expect(part.stderr).toContain(doubt);
  // All rows of the job are known here.
  const whole = await svc('desktop', `au submit same.csv ${CYCLE}`);
  expect(rowOf(whole)).toMatchObject({ left_out_errors: 1 });
  expect(whole.stderr).not.toContain(doubt);
});
