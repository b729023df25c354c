import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { openObjects } from '../../../src/client/store/open-objects.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { svcHere } from '../../support/run-here.ts';

const SETTINGS = `{"version":1,"keys":1,"salt":"${'0'.repeat(64)}","created_at":"2026-01-01T00:00:00.000Z"}\n`;

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
    result: 'ok',
    found: `${place} (SVC_LEDGER), begins with the first upload`,
  });
  fs.mkdirSync(path.join(place, 'tenant'));
  fs.writeFileSync(path.join(place, 'tenant', 'ledger.json'), SETTINGS);
  expect(await ledgerFinding({ SVC_LEDGER: place })).toMatchObject({
    result: 'ok',
    found: `${place} (SVC_LEDGER), creates no object twice`,
  });
  expect(fs.readdirSync(path.join(place, 'tenant'))).toEqual(['ledger.json']);
});

it('svc doctor fails for a bucket that replaces objects that exist', async () => {
  const bucket = await BucketServer.start();
  onTestFinished(() => bucket.close());
  const env = { ...bucket.environment, SVC_LEDGER: 's3://logs/ledger' };
  const signal = new AbortController().signal;
  const host = { env, cwd: '/', pid: 1, isAlive: () => true, clock: systemClock, signal };
  const objects = await openObjects(host, env.SVC_LEDGER, { noun: 'ledger' });
  await objects.create('tenant/ledger.json', Buffer.from(SETTINGS));
  expect(await ledgerFinding(env)).toMatchObject({ result: 'ok' });
  bucket.conditions = 'ignored';
  expect(await ledgerFinding(env)).toMatchObject({ result: 'failed', code: 'config' });
});
