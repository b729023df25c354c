import { randomUUID } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../support/fault-server.ts';
import { answer } from '../../support/fault-steps.ts';
import { bodyOf } from '../../support/request-reader.ts';
import { finished, Home } from '../../support/svc.ts';
import { until } from '../../support/until.ts';
import { succeeded, svcHere, svcIn } from '../../support/run-here.ts';
import { systemClock } from '../../../src/base/system.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const home = new Home();

/** Starts a sandbox in a separate process, and returns what it prints once it is ready. */
async function start(...options: string[]): Promise<{ url: string; directory: string }> {
  const child = home.start(['sandbox', 'start', '--port', '0', '-o', 'jsonl', ...options]);
  const end = finished(child);
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await end;
  });
  const line = await new Promise<string>((resolve) => child.stdout.once('data', (text) => resolve(String(text))));
  return JSON.parse(line) as { url: string; directory: string };
}

const MANAGEMENT = { 'svc-api-key': 'sandbox-management-key' };

it('svc sandbox start has a production tenant, faults and webhooks where they are requested', async () => {
  const receiver = await serve([answer(200)]);
  const options = ['--tenants', 'production', '--directory', 'production', '--webhook', receiver.url.href];
  const faults = ['--webhook-duplicates', '--fault', '418@GET /tenants/self:#2'];
  const { url, directory } = await start(...options, ...faults);
  const first = await fetch(`${url}/tenants/self`, { headers: MANAGEMENT });
  expect(await first.json()).toMatchObject({ type: 'production' });
  expect((await fetch(`${url}/tenants/self`, { headers: MANAGEMENT })).status).toBe(418);
  await fetch(`${url}/tenants/self`, { method: 'PUT', headers: MANAGEMENT, body: '{"name":"x"}' });
  await until(() => receiver.whole().length >= 2);
  const updated = { event: expect.objectContaining({ type: 'tenant.updated' }) };
  expect(receiver.ledger.map(bodyOf)).toEqual(Array(2).fill(expect.objectContaining(updated)));
  const { stdout } = await home.svc([
    'sandbox',
    'requests',
    '--directory',
    directory,
    '-o',
    'csv',
    '--fields',
    'method,status,event',
  ]);
  expect(stdout.trimEnd().split('\n').slice(1).toSorted()).toEqual([
    'GET,200,',
    'GET,418,',
    'POST,200,tenant.updated',
    'POST,200,tenant.updated',
    'PUT,200,',
  ]);
  const again = await home.svc(['sandbox', 'start', '--port', '0', '--directory', directory, '--tenants', 'test']);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('a production tenant')]);
  expect(again.stderr).toContain(`svc sandbox reset --directory ${directory}`);
});

it('svc sandbox start names the types of its tenants, where a person reads it', async () => {
  const argv = ['sandbox', 'start', '--port', '0', '--tenants', 'test,production', '--timeout', '1s', '-o', 'table'];
  const { stdout } = await svcHere(argv, { home: temporaryDirectory() });
  expect(stdout).toMatch(/^tenants +test, production$/m);
});

it('svc sandbox start --accept-tokens serves results for tokens that nobody created', async () => {
  const { url } = await start('--accept-tokens', '--processing', '1ms', '--directory', 'accepting');
  const rows = Array.from({ length: 500 }, () => `${randomUUID()},27,01,`);
  writeFileSync(
    home.file('export.csv'),
    ['token,expiration_year,expiration_month,merchant_id', ...rows, ''].join('\n'),
  );
  const env = { SVC_BASE_URL: url, SVC_PRIVATE_API_KEY: 'sandbox-private-key' };
  const line = 'au submit export.csv --wait --out results.csv -o json';
  const { stdout } = succeeded(await home.svc(line.split(' '), { env }));
  expect(stdout).not.toContain('ERR_INVALID_TOKEN');
});

it.each([
  [['--merchant-id', 'M-1'], 2, '--merchant-id needs a production tenant'],
  [['--tenants', 'test,test', '--merchant-id', 'M-1'], 2, '--merchant-id needs a production tenant'],
  [['--webhook-duplicates'], 2, '--webhook-duplicates needs --webhook'],
  [['--directory', 'plain', '--job-ids', 'uuid'], 1, 'plain ids of jobs and a production tenant'],
])('svc sandbox exec refuses options that it would ignore: %s', async (options, code, message) => {
  const directory = temporaryDirectory();
  const place = { directory: join(directory, 'plain'), tenants: ['production'], jobIds: 'plain' } as const;
  await (await startSandbox(place)).close();
  const words = ['sandbox', 'exec', ...options, '--', process.execPath, '-e', ''];
  const run = await svcIn(directory, words, { clock: systemClock });
  expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(message)]);
  expect(readdirSync(directory)).toEqual(['plain']);
});

it('svc sandbox exec takes merchant ids for a production tenant of an earlier start', async () => {
  const directory = temporaryDirectory();
  await (await startSandbox({ directory, tenants: ['test', 'production'] })).close();
  const options = ['--directory', directory, '--merchant-id', 'M-1'];
  succeeded(await svcHere(['sandbox', 'exec', ...options, '--', process.execPath, '-e', ''], { clock: systemClock }));
});
