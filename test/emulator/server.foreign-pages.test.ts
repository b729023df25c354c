import { expect, it } from 'vitest';
import { keyTypeOf } from '../../src/emulator/keys.ts';
import { API_ROUTES } from '../../src/emulator/routes/api.ts';
import { isCrossSite, isForThisMachine, isLoopbackHost } from '../../src/schema/address.ts';
import { MANAGEMENT, PRIVATE, raw, sandbox } from './harness.ts';

const FOREIGN_PAGES = [
  { 'sec-fetch-site': 'cross-site' },
  { origin: 'https://evil.example' },
  { origin: 'http://evil.localhost:4010' },
  { origin: 'http://localhost.evil.example' },
  { origin: 'null' },
  { origin: 'http://127.0.0.1', 'sec-fetch-site': 'cross-site' },
];

it.each(['localhost', 'LocalHost', '127.0.0.1', '127.255.255.255', '[::1]', '::1'])(
  'R04: this machine is %s',
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

it.each([
  '',
  'evil.localhost',
  'localhost.',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '127.0.0.256',
  '127.1',
  '128.0.0.1',
  '0.0.0.0',
  '[::]',
  '[::ffff:127.0.0.1]',
  '10.0.0.1',
])('R04: this machine is not %j', (host) => expect(isLoopbackHost(host)).toBe(false));

it('R67: this machine is what a Host header may name, with any port, or a name that is allowed', () => {
  for (const host of ['localhost:1', '127.0.0.1:4010', '[::1]:4010', 'LOCALHOST', 'box:4010', 'Box'])
    expect([host, isForThisMachine({ host }, ['box'])]).toEqual([host, true]);
  for (const host of [undefined, '', 'evil.example', 'evil.example:4010', 'localhost@evil.example', 'box.evil'])
    expect([host, isForThisMachine({ host }, ['box'])]).toEqual([host, false]);
});

it('R67: this machine is where a page may come from that sends a request', () => {
  expect(isCrossSite({})).toBe(false);
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'https://[::1]:8443', 'http://box:1'])
    expect([origin, isCrossSite({ origin, 'sec-fetch-site': 'same-site' }, ['box'])]).toEqual([origin, false]);
  for (const headers of FOREIGN_PAGES) expect([headers, isCrossSite(headers, ['box'])]).toEqual([headers, true]);
});

it('R67: the sandbox refuses every path, keys or not, under a name that is not its own', async () => {
  const running = await sandbox();
  const { url } = running;
  const paths = [...API_ROUTES.map(({ path }) => path), '/acs/challenge/x/y', '/store/results/x', '/nothing'];
  for (const path of paths)
    for (const host of ['evil.example', 'evil.localhost:4010', 'localhost.evil.example']) {
      const headers = { ...MANAGEMENT, host };
      expect([path, host, (await raw(url + path, { method: 'GET', headers })).status]).toEqual([path, host, 403]);
    }
  expect(running.ledger().every(({ status }) => status === 403)).toBe(true);
  const foreign = await raw(`${url}/logs`, { method: 'GET', headers: { ...MANAGEMENT, host: 'evil.example' } });
  expect(foreign.body).toContain('--allow-host');
});

it('R67: the sandbox may be reached under a name that was allowed', async () => {
  const { url } = await sandbox({ allowHosts: ['svc-sandbox'] });
  const headers = { ...MANAGEMENT, host: 'svc-sandbox:4010' };
  expect((await raw(`${url}/tenants/self`, { method: 'GET', headers })).status).toBe(200);
});

it.each(FOREIGN_PAGES)('R67: the sandbox refuses what a page of another site asks with a key: %j', async (page) => {
  const { url, call } = await sandbox();
  for (const { method, path, permission } of API_ROUTES) {
    const headers = { ...(keyTypeOf(permission) === 'private' ? PRIVATE : MANAGEMENT), ...page, 'content-length': 0 };
    expect([method, path, (await raw(url + path, { method, headers })).status]).toEqual([method, path, 403]);
  }
  const { body } = await raw(`${url}/logs`, { method: 'GET', headers: { ...MANAGEMENT, ...page } });
  expect(body).toContain('another site');
  expect((await call('/tenants/self', { headers: MANAGEMENT })).status).toBe(200);
});

it.each(FOREIGN_PAGES)(
  'R67: the sandbox lets a page of another site lead to its pages, frame them, and post to them: %j',
  async (page) => {
    const { url } = await sandbox();
    for (const method of ['GET', 'POST'])
      for (const path of ['/acs/challenge/x/y', '/acs/method/x/y']) {
        const headers = { ...page, 'content-length': 0 };
        const answer = await raw(url + path, { method, headers });
        expect([method, path, answer.status, answer.body.includes('No such page')]).toEqual([method, path, 404, true]);
      }
  },
);
