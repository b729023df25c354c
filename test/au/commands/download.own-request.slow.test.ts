import { linkSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorIn } from '../../support/run-here.ts';
import { openQuickDesk } from './support.ts';

it.each([
  ['au download', 'tokens.csv'],
  ['au download', 'link.csv'],
  ['au resume', 'tokens.csv'],
])('R89: svc %s --out %s --force never replaces the request of its run', async (words, out) => {
  const { svc, home, runIds } = await openQuickDesk();
  const request = readFileSync(home.file('tokens.csv'), 'utf8');
  linkSync(home.file('tokens.csv'), home.file('link.csv'));
  expect(await svc('au submit tokens.csv --wait --yes')).toMatchObject({ code: 0 });
  const [run = ''] = runIds();
  const refused = await svc(`${words} ${run} --out ${out} --force`);
  expect(errorIn(refused)).toMatchObject({
    code: 'usage',
    message: `--out would replace ${out}, which is also the request of ${run}`,
  });
  expect(readFileSync(home.file('tokens.csv'), 'utf8')).toBe(request);
});

it('R89: no command about a cycle, a job or a run writes into the request that it is about', async () => {
  const { svc, home, runIds, record } = await openQuickDesk();
  const request = readFileSync(home.file('tokens.csv'), 'utf8');
  expect(await svc('au submit tokens.csv --cycle month --wait --yes')).toMatchObject({ code: 0 });
  const [run = ''] = runIds();
  const job = record(run).parts[0]?.job ?? '';
  const lines = [
    ['au resume month', '--out', '--force'],
    [`au download ${job}`, '--out', '--force'],
    [`au next --run ${run}`, '--out', '--force'],
    [`au next --run ${run} --out next.csv`, '--excluded', '--force'],
    [`au report --run ${run}`, '--html', '--force'],
    ['au resume', '--summary', ''],
    ['au resume month', '--summary', ''],
    [`au resume ${run}`, '--summary', ''],
    [`au resume ${job}`, '--summary', ''],
  ] as const;
  for (const [words, option, force] of lines) {
    const refused = await svc(`${words} ${option} tokens.csv ${force}`.trim());
    const message = `${option} would replace tokens.csv, which is also the request of ${run}`;
    expect([words, refused.code, errorIn(refused)['message']]).toEqual([words, 2, message]);
  }
  expect(readFileSync(home.file('tokens.csv'), 'utf8')).toBe(request);
});
