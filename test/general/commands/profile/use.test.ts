import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ended, succeeded, svcHere } from '../../../support/run-here.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

it('svc profile use default goes back from the sandbox also where no profile is stored, and takes no other name', async () => {
  const home = temporaryDirectory();
  const svc = (line: string) => svcHere(line.split(' '), { home, env: { SVC_BASE_URL: 'http://127.0.0.1:1' } });
  const current = (): unknown =>
    (JSON.parse(readFileSync(join(home, '.config/svc/config.json'), 'utf8')) as { current?: string }).current;
  succeeded(await svc('profile use sandbox'));
  expect(current()).toBe('sandbox');
  ended(await svc('logs'), 3, { stdout: '', error: { next: 'svc profile use default' } });
  ended(await svc('profile use nosuch'), 3);
  succeeded(await svc('profile use default'));
  expect(current()).toBeUndefined();
});
