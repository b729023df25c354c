import { expect, it } from 'vitest';
import { svcHere } from '../../../support/run-here.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

it('svc profile delete says which profile is in use after the one in use was deleted', async () => {
  const home = temporaryDirectory();
  const run = async (line: string): Promise<string> => (await svcHere(line.split(' '), { home })).stderr;
  for (const name of ['qa', 'prod', 'default']) await run(`profile set output json --profile ${name}`);
  await run('profile use qa');
  expect(await run('profile delete prod --yes')).toBe('deleted profile prod\n');
  expect(await run('profile delete qa --yes')).toContain('it was the profile in use; now profile default is');
  expect(await run('profile delete default --yes')).toBe('deleted profile default\n');
});
