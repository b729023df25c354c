import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { openStore } from '../../../src/client/store/open-store.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { refuseLinks } from '../../support/refuse-links.ts';
import { svcHere } from '../../support/run-here.ts';

const NOT_IMPLEMENTED = { status: 501, code: 'NotImplemented' };

async function ledgerFinding(env: Record<string, string>) {
  const { stdout } = await svcHere(['doctor', '-o', 'json'], { env });
  const findings = JSON.parse(stdout) as { check: string; result: string; found: string; code: string | null }[];
  return findings.find(({ check }) => check === 'ledger');
}

it('svc doctor says nothing of a ledger where none is set', async () => {
  expect(await ledgerFinding({})).toBeUndefined();
});

it('svc doctor checks a ledger in a directory, before and after its first use', async () => {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-doctor-ledger-'));
  onTestFinished(() => fs.rmSync(place, { recursive: true }));
  expect(await ledgerFinding({ SVC_LEDGER: place })).toMatchObject({
    result: 'warning',
    found: `${place} (SVC_LEDGER) creates no object twice and has no ledger: the first upload begins one`,
  });
  fs.mkdirSync(path.join(place, 'tenant/cycles/2026-12'), { recursive: true });
  fs.writeFileSync(path.join(place, 'tenant/cycles/2026-12/00000001.json'), '{}');
  expect(await ledgerFinding({ SVC_LEDGER: place })).toMatchObject({
    result: 'ok',
    found: `${place} (SVC_LEDGER), creates no object twice`,
  });
  expect(fs.readdirSync(path.join(place, 'tenant'))).toEqual(['cycles']);
  // What the place was tried with stays, and is tried again.
  expect(fs.readdirSync(path.join(place, 'probe'))).toHaveLength(1);
});

it('svc doctor fails for a bucket that replaces objects that exist', async () => {
  const bucket = await BucketServer.start();
  onTestFinished(() => bucket.close());
  const env = { ...bucket.environment, SVC_LEDGER: 's3://logs/ledger' };
  const signal = new AbortController().signal;
  const host = { env, cwd: '/', pid: 1, isAlive: () => true, clock: systemClock, signal };
  const objects = await openStore(host, env.SVC_LEDGER, { noun: 'ledger', writers: 'machines' });
  await objects.create('tenant/cycles/2026-12/00000001.json', Buffer.from('{}'));
  expect(await ledgerFinding(env)).toMatchObject({ result: 'ok' });
  bucket.conditions = 'ignored';
  expect(await ledgerFinding(env)).toMatchObject({ result: 'failed', code: 'config' });
});

it.each([
  ['ignores conditions', (bucket: BucketServer) => void (bucket.conditions = 'ignored')],
  ['responds to them with 501', (bucket: BucketServer) => void (bucket.conditions = NOT_IMPLEMENTED)],
  ['ignores them since it keeps versions', (bucket: BucketServer) => void (bucket.isVersioned = true)],
])('svc doctor fails for a place without a ledger in a bucket that %s, each time', async (_how, change) => {
  const bucket = await BucketServer.start();
  onTestFinished(() => bucket.close());
  const env = { ...bucket.environment, SVC_LEDGER: 's3://logs/ledger' };
  for (const _ of [1, 2]) expect(await ledgerFinding(env)).toMatchObject({ result: 'warning' });
  change(bucket);
  for (const _ of [1, 2]) expect(await ledgerFinding(env)).toMatchObject({ result: 'failed', code: 'config' });
});

it.each(['EIO', 'EPERM', 'ENOSYS', 'ENOTSUP'])(
  'svc doctor fails for a directory of a ledger whose hard links are refused with %s',
  async (code) => {
    const place = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-doctor-ledger-'));
    onTestFinished(() => fs.rmSync(place, { recursive: true }));
    refuseLinks(place, code);
    const found = expect.stringContaining('has no hard links');
    expect(await ledgerFinding({ SVC_LEDGER: place })).toMatchObject({ result: 'failed', code: 'config', found });
  },
);

it('svc doctor shows all findings where the bucket of the ledger does not respond, or only fails', async () => {
  const bucket = await BucketServer.start();
  onTestFinished(() => bucket.close());
  bucket.hook = ({ url }, outgoing) => {
    if (url?.includes('failing')) outgoing.writeHead(503, { 'retry-after': '60' }).end();
  };
  const runs = ['silent', 'failing'].map(async (name) => {
    const env = { ...bucket.environment, SVC_LEDGER: `s3://logs/${name}` };
    const { code, stdout } = await svcHere(['doctor', '-o', 'json', '--timeout', '2s'], { env, clock: systemClock });
    const findings = JSON.parse(stdout) as { check: string; found: string }[];
    expect(code).toBe(8);
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['node', 'config', 'management key']));
    const ledger = findings.find(({ check }) => check === 'ledger');
    expect(ledger).toMatchObject({ result: 'failed', code: 'timeout' });
    return ledger?.found;
  });
  expect(await Promise.all(runs)).toEqual([
    's3://logs/silent: not checked within 1 s',
    expect.stringMatching(/^s3:\/\/logs\/failing: not checked within 1 s; .*503/),
  ]);
});
