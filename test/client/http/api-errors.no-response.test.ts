import { expect, it } from 'vitest';
import { startLogServer } from '../../logs/commands/log-server.ts';
import { FaultServer } from '../../support/fault-server.ts';
import { errorIn, svcHere } from '../../support/run-here.ts';

it('a refused connection is no response of the service, and retries name the address', async () => {
  const closed = await FaultServer.start([]);
  const { url: baseUrl } = closed;
  await closed.close();
  const { code, stderr } = await svcHere(['logs', 'list', '--debug'], { baseUrl });
  expect(code).toBe(8);
  expect(stderr).toMatch(new RegExp(`no response from \\S*${baseUrl.host}\\S* .*, retrying in `));
  expect(stderr).not.toContain('returned an error');
});

it('a list that is not found is about the address, and an id that is not found about the id', async () => {
  const server = await startLogServer();
  server.refusal = 404;
  const baseUrl = new URL(server.url);
  const list = await svcHere(['logs', 'list'], { baseUrl });
  expect([list.code, errorIn(list)]).toEqual([
    5,
    expect.objectContaining({ hint: expect.stringContaining(baseUrl.origin), next: expect.stringMatching(/ doctor$/) }),
  ]);
  const one = await svcHere(['api', 'GET', '/account-updater/jobs/1'], { baseUrl });
  expect([one.code, String(errorIn(one)['hint']).includes(baseUrl.origin)]).toEqual([5, false]);
});
