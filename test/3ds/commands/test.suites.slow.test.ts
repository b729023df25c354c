import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import { CHALLENGE_CANCEL_REASON_CODES, STATUS_REASONS } from '../../../src/schema/three-ds/values.ts';
import { ended } from '../../support/run-here.ts';
import { openSuites, results } from './suites.ts';

const { directory, scripted, serve, svc } = await openSuites();

it('svc 3ds test without a file runs every test card of the sandbox, and each ends as its scenario says', async () => {
  const run = ended(await svc('test|--junit|report.xml'), 0, { stderr: '42 passed, 0 failed\n' });
  const all = results(run);
  expect(new Set(all.map(({ scenario }) => scenario)).size).toBe(42);
  expect(all.map(({ scenario }) => scenario.replace(/, \w+ \d{4}$/, ''))).toEqual(
    sandboxThreeDsCards().map(({ scenario }) => scenario),
  );
  expect(all.find(({ scenario }) => scenario.startsWith('Failed Challenge'))).toMatchObject({
    result: 'passed',
    expected: 'failed',
    got: 'failed',
    reason: 'card-authentication-failed',
    session: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  const report = readFileSync(join(directory, 'report.xml'), 'utf8');
  expect(report).toContain('<testsuite name="3-D Secure" tests="42" failures="0" errors="0"');
  for (const { token } of sandboxThreeDsCards()) expect(run.stdout + run.stderr + report).not.toContain(token);
});

it('svc 3ds test --all-reasons produces each of 26 status reasons and 7 cancel reasons, and checks it', async () => {
  const run = ended(await svc('test|--all-reasons'), 0, { stderr: '33 passed, 0 failed\n' });
  const reasons = results(run).map(({ reason }) => reason);
  expect(new Set(reasons)).toEqual(
    new Set([...Object.keys(STATUS_REASONS), ...Object.keys(CHALLENGE_CANCEL_REASON_CODES)]),
  );
});

it('svc 3ds test --all-reasons --print writes a suite that passes as a file', async () => {
  const printed = await svc('test|--all-reasons|--print');
  expect((await svc('test|-', printed.stdout)).stderr).toBe('33 passed, 0 failed\n');
});

it('svc 3ds test prints that suite as a file to start from, which runs as it is', async () => {
  const { stdout } = await svc('test|--print');
  const { scenarios } = parse(stdout) as { scenarios: object[] };
  expect(scenarios).toHaveLength(42);
  const run = await svc('test|-|--only|0004', stdout);
  expect([run.code, results(run).length]).toEqual([0, 2]);
});

it('svc 3ds test has a few sessions under way at once, and keeps the order of the file', async () => {
  let [open, most] = [0, 0];
  const names = Array.from({ length: 20 }, (_, at) => `scenario ${at}`);
  serve([200, { authentication_status: 'successful' }]);
  const suite = { scenarios: names.map((name) => ({ name, token: 'a', expect: 'successful' })) };
  scripted.play(({ path }) => {
    if (path !== '/3ds/sessions') open -= 1;
    else most = Math.max(most, (open += 1));
    return path === '/3ds/sessions' ? [201, { id: 's' }] : [200, { authentication_status: 'successful' }];
  });
  const run = await svc('test|-', JSON.stringify(suite), scripted.url);
  expect(results(run).map(({ scenario }) => scenario)).toEqual(names);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(6);
});
