import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { finished, Home, LAUNCHER } from '../support/svc.ts';

it('the embedded sandbox says that its disk is full, in one error and without a stack', async () => {
  const home = new Home();
  const svc = `"${process.execPath}" "${LAUNCHER}" --sandbox`;
  // The journal has one kilobyte when the limit of that size begins to hold.
  const line = `for each in 1 2 3 4 5 6; do ${svc} au create --yes >/dev/null 2>&1; done
    ulimit -f 1; trap '' XFSZ; exec ${svc} au jobs`;
  const run = await finished(spawn('bash', ['-c', line], { cwd: home.path, env: home.environment() }));
  expect([run.code, run.stderr.trimEnd().split('\n').length], run.stderr).toEqual([8, 1]);
  expect(JSON.parse(run.stderr)).toMatchObject({
    status: 507,
    message: expect.stringContaining('The state of the sandbox cannot be written (EFBIG).'),
  });
});
