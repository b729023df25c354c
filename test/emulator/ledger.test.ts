import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readFault } from '../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../src/emulator/faults/intercept.ts';
import { readLedger } from '../../src/emulator/ledger.ts';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { MANAGEMENT, PRIVATE, raw, sandbox, START } from './harness.ts';

it('the ledger holds every request with what the wire said of it, in memory and on disk', async () => {
  const on = await sandbox();
  await on.call('/logs?size=3&entity_type=card', { headers: { ...MANAGEMENT, 'X-Extra': '1' } });
  await on.call('/nothing', { method: 'DELETE', headers: { 'svc-api-key': 'guess' } });
  const [first, second] = on.ledger();
  expect(first).toMatchObject({
    at: new Date(START).toISOString(),
    method: 'GET',
    path: '/logs?size=3&entity_type=card',
    key: 'sandbox-management-key',
    status: 200,
    aborted: false,
  });
  expect(first?.headerNames).toContain('x-extra');
  expect(first?.headers['host']).toBe(new URL(on.url).host);
  expect(first?.received).toBeGreaterThan(100);
  expect(first?.sent).toBeGreaterThan(400);
  expect(second).toMatchObject({ method: 'DELETE', path: '/nothing', key: 'unknown', status: 404 });
  expect(readLedger(on.directory)).toEqual(on.ledger());
});

it('R06: the ledger holds no signature and no unknown key, in any file of the directory but the journal', async () => {
  const on = await sandbox();
  const job = await on.process(exampleRequestFile());
  await fetch(job.download_url, { headers: { 'svc-api-key': 'real-looking-secret' } });
  expect(on.ledger().at(-1)).toMatchObject({ path: `/store/results/${job.id}.csv`, key: 'unknown' });
  const signature = new URL(job.download_url).searchParams.get('signature')!;
  for (const name of readdirSync(on.directory).filter((name) => name.endsWith('.jsonl'))) {
    const text = readFileSync(join(on.directory, name), 'utf8');
    expect(text).not.toContain(signature);
    expect(text).not.toContain('real-looking-secret');
  }
  expect(JSON.stringify(on.ledger())).not.toContain('signature');
});

it('R06: the ledger holds no signature of an address in another form, or of another store', async () => {
  const on = await sandbox();
  const job = await on.createJob();
  const upload = await raw(on.url, { method: 'GET', path: job.upload_url });
  expect(upload.status).toBe(403);
  await raw(on.url, { method: 'GET', path: `${on.url}?x=1` });
  await on.call('/bucket/file.csv?X-Amz-Expires=60&X-Amz-Signature=canary');
  await on.call('/%73tore/x.csv?expires=1&signature=canary');
  expect(readLedger(on.directory).map(({ path }) => path)).toEqual([
    '/account-updater/jobs',
    `/store/requests/${job.id}.csv`,
    '/?x=1',
    '/bucket/file.csv',
    '/%73tore/x.csv',
  ]);
});

it('a request with an unusual method is answered', async () => {
  const on = await sandbox();
  expect(await raw(`${on.url}/logs`, { method: 'TRACE' })).toMatchObject({ status: 405 });
  expect(on.ledger()).toMatchObject([{ method: 'TRACE', status: 405, aborted: false }]);
});

it('the ledger is kept in memory only where it is wanted, and then whole', async () => {
  const on = await sandbox({ keepsRequests: false });
  await on.call('/nothing');
  expect([on.ledger(), readLedger(on.directory).length]).toEqual([[], 1]);
});

it('R36: the ledger proves how often a file was uploaded', async () => {
  const intercept = faultInterceptor([readFault('accept-second-put@PUT /store/**')]);
  const on = await sandbox({ processingMs: 1000, pickupMs: 1000, intercept });
  const job = await on.createJob();
  for (const _ of [1, 2]) await on.upload(job, exampleRequestFile());
  const puts = readLedger(on.directory).filter(({ method, status }) => method === 'PUT' && status === 200);
  expect(puts.map(({ path }) => path)).toEqual([1, 2].map(() => `/store/requests/${job.id}.csv`));
  expect(puts[0]?.headers['content-length']).toBe(String(exampleRequestFile().length));
});

it('the ledger gathers the requests of all processes in one file', async () => {
  const one = await sandbox();
  const two = await sandbox({ directory: one.directory, clock: one.clock });
  await one.call('/a', { headers: PRIVATE });
  await two.call('/b', { headers: PRIVATE });
  expect(readLedger(one.directory).map(({ path }) => path)).toEqual(['/a', '/b']);
  expect(one.ledger().map(({ path }) => path)).toEqual(['/a']);
});
