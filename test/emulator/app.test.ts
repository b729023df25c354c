import { expect, it, onTestFinished } from 'vitest';
import { createApp } from '../../src/emulator/app.ts';
import { createService } from '../../src/emulator/tenants.ts';
import { prepareDirectory, statePaths } from '../../src/emulator/state/journal.ts';
import { logPageSchema } from '../../src/schema/log.ts';
import { MANAGEMENT, PRIVATE, START } from './harness.ts';
import { temporaryDirectory } from '../support/directory.ts';

/** Creates the app alone, without a server or a socket. */
function app() {
  const directory = temporaryDirectory();
  prepareDirectory(statePaths(directory));
  const service = createService(
    { directory, logCount: 10 },
    () => START,
    () => 'http://localhost',
  );
  onTestFinished(() => service.state.close());
  return createApp(service);
}

it('the app without a server serves the API', async () => {
  const response = await app().request('/logs?size=3', { headers: MANAGEMENT });
  expect(response.status).toBe(200);
  expect(logPageSchema.parse(await response.json()).data).toHaveLength(3);
});

it('the app without a server takes a job through its store', async () => {
  const on = app();
  const created = await on.request('/account-updater/jobs', { method: 'POST', headers: PRIVATE });
  const { upload_url } = (await created.json()) as { upload_url: string };
  const put = { method: 'PUT', body: 'token\n', headers: { 'content-length': '6' } };
  expect((await on.request(upload_url, put)).status).toBe(200);
  const altered = await on.request(`${upload_url}x`, put);
  expect([altered.status, await altered.text()]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')]);
});

it('the app without a server refuses a body that is too large, whether or not its length is given', async () => {
  const on = app();
  const body = `"${'x'.repeat(1_000_001)}"`;
  const headers = { ...MANAGEMENT, 'content-type': 'application/json' };
  const given = { ...headers, 'content-length': String(body.length) };
  for (const sent of [headers, given]) {
    const response = await on.request('/tenants/self', { method: 'PUT', body, headers: sent });
    expect([response.status, response.headers.get('content-type')]).toEqual([413, 'application/problem+json']);
  }
});

it('the app without a server refuses other hosts, other methods and other paths', async () => {
  const on = app();
  expect((await on.request('/logs', { headers: { host: 'example.com' } })).status).toBe(403);
  expect((await on.request('/logs', { method: 'PUT' })).headers.get('allow')).toBe('GET');
  expect((await on.request('/nothing')).status).toBe(404);
});
