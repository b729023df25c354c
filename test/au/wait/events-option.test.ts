import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import type { RunningSandbox } from '../../../src/emulator/running-sandbox.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { delivery, post } from '../../events/support.ts';
import { finished, Home } from '../../support/svc.ts';
import { startSandbox } from '../../support/sandbox.ts';

const home = new Home();
afterAll(() => home.remove());

let sandbox: RunningSandbox;
let port: number;

beforeEach(async () => {
  port = await freePort();
  sandbox = await startSandbox({
    directory: home.file(`sandbox-${port}`),
    processingMs: 3_000,
    webhooks: [`http://127.0.0.1:${port}/hooks`],
    webhookDuplicates: true,
  });
  writeFileSync(home.file(`${port}.csv`), exampleRequestFile());
});
afterEach(() => sandbox.close());

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}

function environment(): Record<string, string> {
  // Each test has a new sandbox, which svc could take for the tenant of an earlier run in a shared state directory.
  return {
    SVC_BASE_URL: sandbox.url,
    SVC_PRIVATE_API_KEY: 'sandbox-private-key',
    SVC_STATE_DIR: home.file(`state-${port}`),
  };
}

function submit(...argv: string[]): string[] {
  return ['au', 'submit', `${port}.csv`, ...argv];
}

it('svc au submit --wait --events ends its wait when the event comes; the job itself is read as ever', async () => {
  const { code, stdout, stderr } = await home.svc(submit('--wait', '--events', String(port)), { env: environment() });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stderr).toContain(`listening for events on http://127.0.0.1:${port}`);
  expect(stderr).toContain('an event says that a job has ended: polling now');
  expect(JSON.parse(stdout)).toMatchObject({ status: 'completed' });
});

it('svc au submit --wait --events believes nothing that an event says', async () => {
  const child = home.start(submit('--wait', '--events', String(port)), { env: environment() });
  const ended = finished(child);
  let job: string | undefined;
  let isListening = false;
  child.stderr.on('data', (text: string) => {
    job ??= /created job ([\w-]+)/.exec(text)?.[1];
    isListening ||= text.includes('listening');
  });
  await expect.poll(() => job !== undefined && isListening, { timeout: 10_000 }).toBe(true);
  const lie = delivery('lie', { data: { job: { id: job, status: 'completed' } } });
  expect(await post(`http://127.0.0.1:${port}`, lie)).toMatchObject({ status: 200 });
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', results: { bytes: expect.any(Number) } });
});

it('svc au submit --wait --events creates nothing when the port is in use', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
  const { code, stderr } = await home.svc(submit('--wait', '--events', String(port)), { env: environment() });
  await new Promise((resolve) => taken.close(resolve));
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ message: `port ${port} is in use` });
  expect(sandbox.ledger()).toEqual([]);
});

it('svc au submit --wait --events needs --wait', async () => {
  const { code } = await home.svc(submit('--events', '0'), { env: environment() });
  expect(code).toBe(2);
  expect(sandbox.ledger()).toEqual([]);
});
