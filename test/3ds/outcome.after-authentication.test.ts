import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ErrorCode, SvcError } from '../../src/base/errors.ts';
import { ended } from '../support/run-here.ts';
import { fullBody } from './bodies.ts';
import { Place, type Reply, Scripted } from './commands/support.ts';

const place = new Place();
let server: Scripted;
beforeAll(async () => (server = await Scripted.start()));
afterAll(() => server.close());
beforeEach(() => place.file('body.json', fullBody()));

/** Makes the service authenticate session s1 with a status, and from then on reply with `later` to every read. */
function serve(status: string, later: Reply, onRead = (): void => undefined): void {
  let isAuthenticated = false;
  server.play(({ method, path }) => {
    if (path === '/3ds/sessions') return [201, { id: 's1', type: 'customer' }];
    if (method === 'GET' && isAuthenticated) {
      onRead();
      return later;
    }
    if (method === 'GET') return [200, { id: 's1', type: 'customer' }];
    isAuthenticated = true;
    return [200, { authentication_status: status }];
  });
}

/** Runs a command that a signal ends while it reads the session after the authentication. */
function endedWhileReading(argv: readonly string[], status: string, code: ErrorCode): ReturnType<Place['svc']> {
  const ended = new AbortController();
  serve(status, 'silent', () => ended.abort(new SvcError(code, 'the signal')));
  return place.svc(argv, { server, signal: ended.signal });
}

/** Each test authenticates the same session, which svc remembers. */
const AUTHENTICATE = ['3ds', 'authenticate', 's1', '--file', 'body.json', '--again'];
const RUN = ['3ds', 'run', '--token', 't1'];
const NEXT = { next: 'svc 3ds challenge-result s1 --wait', retryable: false, session: 's1' };

describe('after an authentication that was answered', () => {
  it.each<[string, Reply]>([
    ['gets no response', 'silent'],
    ['is rate limited', [429, {}]],
    ['fails', [503, {}]],
  ])('R86: a read of the session for more details that %s changes neither exit code nor result', async (_, later) => {
    serve('failed', later);
    const failing = ended(await place.svc([...AUTHENTICATE, '--fail-on', 'err'], { server }), 10);
    expect(JSON.parse(failing.stdout)).toEqual({ authentication_status: 'failed' });
    serve('failed', later);
    ended(await place.svc(RUN, { server }), 0, { row: { got: 'failed', session: 's1', reason: null } });
  });

  it('R86: --timeout that is over during a read of the session for more details changes neither exit code nor result', async () => {
    const failing = ended(await endedWhileReading([...AUTHENTICATE, '--fail-on', 'err'], 'failed', 'timeout'), 10);
    expect(JSON.parse(failing.stdout)).toEqual({ authentication_status: 'failed' });
    ended(await endedWhileReading(RUN, 'failed', 'timeout'), 0, {
      row: { got: 'failed', session: 's1', reason: null },
    });
  });

  it.each([
    [['3ds', 'challenge-result', 's1', '--fail-on', 'wrn']],
    [['3ds', 'challenge-result', 's1', '--wait', '--timeout', '1s', '--fail-on', 'wrn']],
    [[...AUTHENTICATE, '--fail-on', 'wrn']],
    [[...AUTHENTICATE, '--wait', '--timeout', '1s', '--fail-on', 'wrn']],
  ])('the command that waits for an open challenge judges the outcome as the typed one: svc %j', async (argv) => {
    const open = { authentication_status: 'challenge' };
    const shown: Reply = [200, { id: 's1', type: 'customer', authentication: open, ...open }];
    if (argv.includes('authenticate')) serve('challenge', shown);
    else server.play(() => shown);
    const { code, stderr } = await place.svc(argv, { server });
    expect([code === 0, stderr], stderr).toEqual([
      false,
      expect.stringContaining('svc 3ds challenge-result s1 --wait --fail-on wrn'),
    ]);
  });

  it('svc 3ds authenticate names the command for the outcome where the address of the challenge page cannot be read', async () => {
    serve('challenge', [503, {}]);
    ended(
      await place.svc(AUTHENTICATE, { server }),
      0,
      'the address of the challenge page could not be read',
      'svc 3ds challenge-result s1 --wait',
    );
  });

  it.each([
    ['authenticate --wait', [...AUTHENTICATE, '--wait']],
    ['run', RUN],
  ])(
    'svc 3ds %s ends with 11 when --timeout is over, names the session, and does not say to run it again',
    async (_, argv) => {
      ended(await endedWhileReading(argv, 'challenge', 'timeout'), 11, { error: NEXT });
    },
  );

  it('svc 3ds run ends with 9 and names the session where an expected reason cannot be read', async () => {
    const run = [...RUN, '--expect', 'failed', '--expect-reason', 'card-expired'];
    ended(await endedWhileReading(run, 'failed', 'timeout'), 9, { error: NEXT });
  });

  it.each(['failed', 'challenge'])(
    'R53: svc 3ds run that is interrupted after the status %s ends with 130 and names the session',
    async (status) => {
      ended(await endedWhileReading(RUN, status, 'interrupted'), 130, { error: NEXT });
    },
  );

  it('svc 3ds test reports the session of a scenario whose expected reason cannot be read', async () => {
    serve('failed', [404, {}]);
    const input = JSON.stringify({ scenarios: [{ name: 'a', token: 't1', expect: 'failed', reason: 'card-expired' }] });
    ended(await place.svc(['3ds', 'test', '-'], { server, input }), 10, { row: { got: 'error', session: 's1' } });
  });
});
