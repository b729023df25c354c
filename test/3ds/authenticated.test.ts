import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { fullBody } from './bodies.ts';
import { ended, succeeded } from '../support/run-here.ts';
import { Place, type Reply, Scripted } from './commands/support.ts';

const place = new Place();
let server: Scripted;
beforeAll(async () => (server = await Scripted.start()));
afterAll(() => server.close());
beforeEach(() => place.file('body.json', fullBody()));

it.each<[string, string, Reply, number]>([
  ['sends nothing', 'a response without a readable status', [200, { authentication_status: 7 }], 1],
  ['sends nothing', 'a part of a response', [206, { authentication_status: 'failed' }], 1],
  ['sends nothing', 'an outcome', [200, { authentication_status: 'failed' }], 1],
  ['sends again', 'a refusal', [400, { title: 'Bad request' }], 2],
])('svc 3ds authenticate %s after %s, of a session that shows nothing', async (_, what, reply, sent) => {
  const session = `s-${what.replaceAll(' ', '-')}`;
  let posts = 0;
  server.play(({ method }) => {
    if (method === 'GET') return [200, { id: session, type: 'customer' }];
    posts += 1;
    return reply;
  });
  const argv = ['3ds', 'authenticate', session, '--file', 'body.json', '--yes'];
  await place.svc(argv, { server });
  const second = await place.svc(argv, { server });
  expect([second.code === 13, posts], second.stderr).toEqual([sent === 1, sent]);
});

it('svc 3ds authenticate sends nothing for a session that svc 3ds run authenticated, while its challenge is not shown', async () => {
  server.play(({ method, path }) => {
    if (method === 'GET') return [200, { id: 's-run', type: 'customer' }];
    return path.endsWith('/authenticate') ? [200, { authentication_status: 'challenge' }] : [201, { id: 's-run' }];
  });
  succeeded(await place.svc(['3ds', 'run', '--token', 't', '--expect', 'challenge'], { server }));
  const argv = ['3ds', 'authenticate', 's-run', '--file', 'body.json', '--yes'];
  ended(await place.svc(argv, { server }), 13, 'was authenticated before');
});
