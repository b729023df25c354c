import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { finished, Home } from '../support/svc.ts';

const home = new Home();
afterAll(() => home.remove());
execFileSync('mkfifo', [home.file('pipe')]);

const SERVICE = { SVC_BASE_URL: 'http://127.0.0.1:9' };
const KEYS = { ...SERVICE, SVC_API_KEY: 'a-key' };

describe('a pipe that nobody writes to', () => {
  it('R14 is refused in the place of a checkpoint', async () => {
    expect(await home.svc(['logs', 'tail', '--checkpoint', 'pipe'], { env: KEYS })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('pipe is not a regular file'),
    });
  });

  it.each([
    ['key file', ['logs'], { ...SERVICE, SVC_API_KEY_FILE: 'pipe' }],
    ['body', ['3ds', 'authenticate', 's', '--file', 'pipe'], KEYS],
  ] as const)(
    'R14 holds a command as %s no longer than --timeout, and a signal ends it',
    async (_, argv, env) => {
      expect(await home.svc([...argv, '--timeout', '300ms'], { env })).toMatchObject({
        code: 8,
        stderr: expect.stringContaining('--timeout'),
      });
      const child = home.start([...argv, '--debug'], { env });
      const end = finished(child);
      // Handlers of signals are there before anything is read.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      child.kill('SIGINT');
      expect(await end).toMatchObject({ code: 130 });
    },
  );

  it('R14 serves as a key file once its writer comes', async () => {
    const child = home.start(['logs', '--timeout', '20s'], { env: { ...SERVICE, SVC_API_KEY_FILE: 'pipe' } });
    const end = finished(child);
    writeFileSync(home.file('pipe'), 'a-key\n');
    expect(await end).toMatchObject({ code: 8 });
  });
});
