import { afterEach, beforeEach, expect, it } from 'vitest';
import { Home } from '../support/svc.ts';

let home: Home;
beforeEach(() => (home = new Home()));
afterEach(() => home.remove());

it('a tail of the sandbox ends with the command that resumes it in the sandbox, filters and form included', async () => {
  const env = { SVC_STATE_DIR: home.file('state') };
  const asked = ['--operation', 'read', '--grep', "it's|.", '-o', 'csv', '--fields', 'message'];
  const argv = ['--sandbox', 'logs', 'tail', '--since', '1h', '--max', '1', ...asked];
  const { code, stderr } = await home.svc(argv, { env });
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /resume with\n {2}svc --sandbox logs tail --checkpoint \S+\.json --operation read --grep 'it'\\''s\|\.' --output csv --fields message\n/,
  );
});

it('names the step after a new session of the sandbox as it can be typed', async () => {
  const env = { SVC_STATE_DIR: home.file('state') };
  const cards = await home.svc(['sandbox', 'cards', '--3ds', '--jq', '.token // empty'], { env });
  const token = cards.stdout.split('\n')[0] ?? '';
  const argv = ['--sandbox', '3ds', 'create', '--token', token, '--type', 'customer'];
  const { stdout, stderr } = await home.svc(argv, { env });
  const { id } = JSON.parse(stdout) as { id: string };
  expect(stderr).toContain(`then authenticate:\n  svc --sandbox 3ds authenticate ${id} --file <body>\n`);
});
