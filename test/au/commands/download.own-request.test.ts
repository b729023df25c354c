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
