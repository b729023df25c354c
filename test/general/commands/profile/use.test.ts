import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { errorIn, svcHere } from '../../../support/run-here.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

it('svc profile use default goes back from the sandbox also where no profile is stored, and takes no other name', async () => {
  const home = temporaryDirectory();
  const svc = (line: string) => svcHere(line.split(' '), { home, env: { SVC_BASE_URL: 'http://127.0.0.1:1' } });
  const current = (): unknown =>
    (JSON.parse(readFileSync(join(home, '.config/svc/config.json'), 'utf8')) as { current?: string }).current;
  expect(await svc('profile use sandbox')).toMatchObject({ code: 0 });
  expect(current()).toBe('sandbox');
  const refused = await svc('logs');
  expect([refused.code, refused.stdout, errorIn(refused)['next']]).toEqual([3, '', 'svc profile use default']);
  expect(await svc('profile use nosuch')).toMatchObject({ code: 3 });
  expect(await svc('profile use default')).toMatchObject({ code: 0 });
  expect(current()).toBeUndefined();
});
