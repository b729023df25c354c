import { expect, it } from 'vitest';
import { errorIn, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

it('R54: a command that nobody can confirm names the command with --yes, or its help', async () => {
  const home = temporaryDirectory();
  expect(await svcHere(['profile', 'set', 'output', 'json', '-p', 'prod2'], { home })).toMatchObject({ code: 0 });
  const next = async (...argv: string[]): Promise<unknown> => errorIn(await svcHere(argv, { home }))['next'];
  expect(await next('sandbox', 'reset')).toBe('svc sandbox reset --yes');
  expect(await next('sandbox', 'reset', '--directory', 'key_7Qz4Xw91')).toBe('svc sandbox reset --help');
  expect(await next('profile', 'delete', 'prod2')).toBe('svc profile delete prod2 --yes');
  const job = JSON.parse((await svcHere(['--sandbox', 'au', 'create', '-o', 'json'], { home })).stdout) as {
    id: string;
  };
  expect(await next('--sandbox', 'au', 'ignore', job.id)).toBe(`svc --sandbox au ignore ${job.id} --yes`);
});
