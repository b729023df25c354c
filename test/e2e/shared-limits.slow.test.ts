import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { finished, Home } from '../support/svc.ts';
import { startSandbox } from '../support/sandbox.ts';
import { temporaryDirectory } from '../support/directory.ts';

/** Starts a service with the rate limits of the real one, and creates a home whose processes share a key. */
async function openWorld(): Promise<{ sandbox: RunningSandbox; home: Home; env: Record<string, string> }> {
  const directory = temporaryDirectory();
  const sandbox = await startSandbox({ directory, logCount: 2_000, limits: 'on' });
  const home = new Home();
  onTestFinished(() => sandbox.close());
  return { sandbox, home, env: { SVC_BASE_URL: sandbox.url, SVC_MANAGEMENT_API_KEY: 'sandbox-management-key' } };
}

it('R68: processes with one key get no 429 together, though one is killed, and a short command does not wait for the long ones', async () => {
  const { sandbox, home, env } = await openWorld();
  const walks = Array.from({ length: 5 }, () => home.start(['logs', '--limit', '1300', '-o', 'json'], { env }));
  const ends = walks.map((walk) => finished(walk));
  while (sandbox.ledger().length < 20) await sleep(5);
  walks[0]?.kill('SIGKILL');
  const short = await home.svc(['tenant', 'show', '-o', 'json'], { env });
  const longer = (await Promise.all(ends)).slice(1);
  expect([short, ...longer].map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    Array.from({ length: 5 }, () => ({ code: 0, stderr: expect.any(String) as string })),
  );
  const requests = sandbox.ledger();
  expect(requests.length).toBeGreaterThan(50);
  expect(requests.filter(({ status }) => status === 429)).toEqual([]);
  expect(requests.at(-1)?.path).toMatch(/^\/logs\?/);
});
