import { afterEach, beforeEach, expect, it } from 'vitest';
import { Home } from '../support/svc.ts';

let home: Home;
beforeEach(() => (home = new Home()));
afterEach(() => home.remove());

it.each([
  [[], "tail --since [^']*' \\("],
  [['--operation', 'read'], "tail --since [^']*' and the same filters \\("],
])(
  'a tail of the sandbox with %j ends with the command that goes on in the sandbox',
  async (filters, end) => {
    const { code, stderr } = await home.svc(
      ['--sandbox', 'logs', 'tail', '--since', '1h', '--max', '1', ...filters],
      { env: { SVC_STATE_DIR: home.file('state') } },
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(new RegExp(`go on with 'svc --sandbox logs ${end}`));
  },
);

it('names the step after a new session of the sandbox as it can be typed', async () => {
  const env = { SVC_STATE_DIR: home.file('state') };
  const cards = await home.svc(['sandbox', 'cards', '--3ds', '--jq', '.token // empty'], { env });
  const token = cards.stdout.split('\n')[0] ?? '';
  const argv = ['--sandbox', '3ds', 'create', '--token', token, '--type', 'customer'];
  const { stdout, stderr } = await home.svc(argv, { env });
  const { id } = JSON.parse(stdout) as { id: string };
  expect(stderr).toContain(`next: 'svc --sandbox 3ds authenticate ${id} --file <body>', with a body`);
});
