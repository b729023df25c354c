import fs from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import { openStore } from '../../../src/client/store/open-store.ts';
import { LIMIT_MS } from '../../../src/general/doctor/check.ts';
import { BucketServer } from '../../support/bucket-server.ts';
import { FakeClock } from '../../support/clock.ts';
import { refuseLinks } from '../../support/refuse-links.ts';
import { svcHere } from '../../support/run-here.ts';
import { until } from '../../support/until.ts';
import { temporaryDirectory } from '../../support/directory.ts';

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
  const place = temporaryDirectory();
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

it('svc doctor says that the embedded sandbox does not use the ledger that is set', async () => {
  const place = temporaryDirectory();
  expect(await ledgerFinding({ SVC_LEDGER: place, SVC_PROFILE: 'sandbox' })).toMatchObject({ result: 'skipped' });
  expect(fs.readdirSync(place)).toEqual([]);
});

it('svc doctor fails for a bucket that replaces objects that exist', async () => {
  const bucket = await BucketServer.start();
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
  const env = { ...bucket.environment, SVC_LEDGER: 's3://logs/ledger' };
  for (const _ of [1, 2]) expect(await ledgerFinding(env)).toMatchObject({ result: 'warning' });
  change(bucket);
  for (const _ of [1, 2]) expect(await ledgerFinding(env)).toMatchObject({ result: 'failed', code: 'config' });
});

it.each(['EIO', 'EPERM', 'ENOSYS', 'ENOTSUP'])(
  'svc doctor fails for a directory of a ledger whose hard links are refused with %s',
  async (code) => {
    const place = temporaryDirectory();
    refuseLinks(place, code);
    const found = expect.stringContaining('has no hard links');
    expect(await ledgerFinding({ SVC_LEDGER: place })).toMatchObject({ result: 'failed', code: 'config', found });
  },
);

it.each([
  ['does not respond', 'silent', /^s3:\/\/logs\/silent: not checked within 8 s$/],
  ['only fails', 'failing', /^s3:\/\/logs\/failing: not checked within 8 s; .*503/],
])('svc doctor shows all findings where the bucket of the ledger %s', async (_what, name, found) => {
  const bucket = await BucketServer.start();
  const asked = vi.fn<() => void>();
  bucket.hook = (_, outgoing) => {
    asked();
    if (name === 'failing') outgoing.writeHead(503, { 'retry-after': '60' }).end();
  };
  const end = holdTimers(LIMIT_MS);
  const clock = new FakeClock({ auto: false });
  const env = { ...bucket.environment, SVC_LEDGER: `s3://logs/${name}` };
  const run = svcHere(['doctor', '-o', 'json'], { env, clock });
  await until(() => asked.mock.calls.length > 0 && (name === 'silent' || clock.slept.some((ms) => ms >= 60_000)));
  end();
  const { code, stdout } = await run;
  expect(code).toBe(8);
  const findings = JSON.parse(stdout) as { check: string }[];
  expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['node', 'config', 'management key']));
  const ofLedger = { check: 'ledger', result: 'failed', code: 'timeout', found: expect.stringMatching(found) };
  expect(findings).toContainEqual(expect.objectContaining(ofLedger));
});

/** Keeps timers of this length from running out. Returns what lets all of them run out at once. */
function holdTimers(length: number): () => void {
  const held: (() => void)[] = [];
  const { setTimeout: start } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((act: () => void, ms?: number) => {
    if (ms === length) held.push(act);
    return start(act, ms === length ? 2 ** 31 - 1 : ms);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return () => held.forEach((act) => act());
}
