import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { fullBody } from './bodies.ts';
import { FakeClock } from '../support/clock.ts';
import { ended, succeeded } from '../support/run-here.ts';
import { Place, type Reply, Scripted } from './commands/support.ts';

const place = new Place();
let server: Scripted;
beforeAll(async () => (server = await Scripted.start()));
afterAll(() => server.close());
beforeEach(() => place.file('body.json', fullBody()));

const STATE = join(place.path, '.local/state/svc');
const FILE = join(STATE, '3ds-sessions.json');

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

it('svc 3ds authenticate sends nothing for a session that another command authenticated after it was read', async () => {
  server.play(({ method }) =>
    method === 'GET' ? [200, { id: 's-both', type: 'customer' }] : [200, { authentication_status: 'challenge' }],
  );
  const argv = ['3ds', 'authenticate', 's-both', '--file', 'body.json', '--yes'];
  mkdirSync(STATE, { recursive: true });
  writeFileSync(`${FILE}.lock`, '');
  const clock = new FakeClock({ auto: false });
  const slower = place.svc(argv, { server, clock });
  await expect.poll(() => clock.sleeping).toBe(1);
  rmSync(`${FILE}.lock`);
  succeeded(await place.svc(argv, { server, clock: new FakeClock() }));
  clock.toNext();
  ended(await slower, 13, 'was authenticated before');
  expect(server.lines.filter((line) => line.startsWith('POST'))).toHaveLength(1);
});

/** Serves sessions that show no authentication and end as successful. */
function serveHidden(): void {
  server.play(({ method, path }) => {
    if (path.endsWith('/authenticate')) return [200, { authentication_status: 'successful' }];
    return [method === 'GET' ? 200 : 201, { id: 's-new', type: 'customer' }];
  });
}

it('svc 3ds test remembers no session, and svc 3ds run one in place of the oldest of a thousand', async () => {
  serveHidden();
  rmSync(FILE, { force: true });
  const suite = 'scenarios: [{name: a, token: t, expect: successful}]';
  succeeded(await place.svc(['3ds', 'test', '-'], { server, input: suite }));
  expect(existsSync(FILE)).toBe(false);
  const earlier = Array.from({ length: 5_000 }, (_, at) => [`${server.url}/ s-${at}`, Date.now()] as const);
  mkdirSync(STATE, { recursive: true });
  writeFileSync(FILE, JSON.stringify({ version: 1, sessions: Object.fromEntries(earlier) }));
  succeeded(await place.svc(['3ds', 'run', '--token', 't'], { server }));
  const { sessions } = JSON.parse(readFileSync(FILE, 'utf8')) as { sessions: Record<string, number> };
  expect(Object.keys(sessions).slice(-2)).toEqual([earlier.at(-1)?.[0], expect.stringMatching(/ s-new$/)]);
  expect(Object.keys(sessions)).toHaveLength(1_001);
});

it('svc 3ds run waits a moment for a lock that nobody can read, warns once, and authenticates', async () => {
  serveHidden();
  mkdirSync(STATE, { recursive: true });
  writeFileSync(`${FILE}.lock`, '');
  const clock = new FakeClock();
  const start = clock.now();
  const { stderr } = succeeded(await place.svc(['3ds', 'run', '--token', 't'], { server, clock }));
  rmSync(`${FILE}.lock`);
  expect(stderr.match(/a second authentication of this session will not be noticed/g)).toHaveLength(1);
  expect(clock.now() - start).toBeLessThan(5_000);
});
