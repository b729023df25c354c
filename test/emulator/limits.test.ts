import { expect, it } from 'vitest';
import { findKey } from '../../src/emulator/keys.ts';
import { RateLimits } from '../../src/emulator/limits.ts';
import { MANAGEMENT, PRIVATE, sandbox } from './harness.ts';

const management = findKey('sandbox-management-key')!;
const privateKey = findKey('sandbox-private-key')!;

it('R18: rate limits allow 10 Account Updater requests in 10 seconds, for each key by itself', async () => {
  const on = await sandbox({ limits: 'on' });
  const statuses = async (count: number, headers: Record<string, string>) => {
    const seen = [];
    for (let n = 0; n < count; n += 1) seen.push((await on.call('/account-updater/jobs', { headers })).status);
    return seen;
  };
  expect(await statuses(11, PRIVATE)).toEqual([...Array<number>(10).fill(200), 429]);
  expect(await statuses(1, { 'svc-api-key': 'sandbox-private-key-read-only' })).toEqual([200]);
  const refused = await on.call('/account-updater/jobs', { headers: PRIVATE });
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(await refused.json()).toMatchObject({ title: 'Too Many Requests', status: 429 });
  on.clock.ms += 9_999;
  expect(await statuses(1, PRIVATE)).toEqual([429]);
  on.clock.ms += 1;
  expect(await statuses(1, PRIVATE)).toEqual([200]);
});

it('rate limits allow 50 requests in 10 seconds to all keys of a test tenant together', () => {
  const limits = new RateLimits();
  for (let n = 0; n < 41; n += 1) expect(limits.check(management, '/logs', 0)).toBeUndefined();
  for (let n = 0; n < 9; n += 1) expect(limits.check(privateKey, '/account-updater/jobs', 1)).toBeUndefined();
  expect(limits.check(management, '/logs', 2)).toMatchObject({ until: 10_000 });
  expect(limits.check(management, '/logs', 10_000)).toBeUndefined();
});

it('rate limits shut a management key out for a minute after 200 requests in one', () => {
  const limits = new RateLimits();
  let now = 0;
  for (let n = 0; n < 200; n += 1) {
    expect(limits.check(management, '/logs', now)).toBeUndefined();
    now += 250;
  }
  expect(limits.check(management, '/logs', now)).toMatchObject({ until: now + 60_000 });
  expect(limits.check(management, '/logs', now + 59_999)).toMatchObject({ until: now + 60_000 });
  expect(limits.check(management, '/logs', now + 60_000)).toBeUndefined();
});

it('rate limits are off unless asked for', async () => {
  const on = await sandbox();
  for (let n = 0; n < 60; n += 1) expect((await on.call('/logs?size=1', { headers: MANAGEMENT })).status).toBe(200);
});
