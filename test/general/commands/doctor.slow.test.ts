import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import type { Finding } from '../../../src/general/doctor/check.ts';
import { makeCertificate, tlsServer, trust } from '../../support/certificate.ts';
import { ConnectProxy, type ProxyManner } from '../../support/connect-proxy.ts';
import { serve } from '../../support/fault-server.ts';
import { answer, json, silence } from '../../support/fault-steps.ts';
import { type HereOptions, KEY, startSandboxHere, svcHere } from '../../support/run-here.ts';
import { finished, Home } from '../../support/svc.ts';
import { temporaryDirectory } from '../../support/directory.ts';

interface Seen {
  readonly code: number;
  readonly stderr: string;
  /** The findings by the names of their checks. */
  readonly on: Readonly<Record<string, Finding>>;
  readonly all: readonly Finding[];
}

/** Runs `svc doctor` and returns its findings. The clock is the system's unless `options` has another. */
async function seen(options: HereOptions, argv: readonly string[] = []): Promise<Seen> {
  const { code, stdout, stderr } = await svcHere([...argv, 'doctor', '-o', 'json'], { clock: systemClock, ...options });
  // The first row is the verdict about all findings.
  const [, ...all] = JSON.parse(stdout) as Finding[];
  expect(stdout + stderr).not.toContain(KEY);
  for (const { result, fix, code: failure } of all) {
    expect(fix !== null).toBe(result === 'failed' || result === 'warning');
    expect(failure !== null).toBe(result === 'failed');
  }
  return { code, stderr, all, on: Object.fromEntries(all.map((finding) => [finding.check, finding])) };
}

function directory(): string {
  const path = temporaryDirectory();
  onTestFinished(() => {
    chmodSync(path, 0o700);
  });
  return path;
}

function configWith(text: string, mode = 0o600): Record<string, string> {
  const path = directory();
  writeFileSync(join(path, 'config.json'), text);
  chmodSync(join(path, 'config.json'), mode);
  return { SVC_CONFIG_DIR: path };
}

async function proxied(manner: ProxyManner): Promise<{ options: HereOptions; proxy: ConnectProxy }> {
  const proxy = await ConnectProxy.start(manner);
  onTestFinished(() => proxy.close());
  const https_proxy = `http://user:proxy-canary-1@127.0.0.1:${proxy.port}`;
  return { proxy, options: { baseUrl: new URL('https://api.test/v1'), env: { https_proxy } } };
}

it('svc doctor finds no problems in the sandbox, and with valid keys', async () => {
  expect(await seen({}, ['--sandbox'])).toMatchObject({
    code: 0,
    stderr: 'nothing failed; no service was contacted\nno problems found\n',
  });
  const { code, stderr, on } = await seen(await startSandboxHere());
  expect([code, stderr]).toEqual([0, expect.stringMatching(/no problems found\n$/)]);
  expect(on['management key']?.found).toContain('accepted for the TEST tenant "Sandbox"');
  expect(on).toMatchObject({
    service: { result: 'ok', found: 'responds and requires a key (401)' },
    clock: { result: 'ok' },
    'log:read': { result: 'ok' },
    'account-updater:job:read': { result: 'ok' },
  });
});

it('svc doctor works without keys and without a base URL, and points to the sandbox and to login', async () => {
  const { code, on } = await seen({});
  expect(code).toBe(3);
  expect(on['base URL']).toMatchObject({
    result: 'failed',
    fix: expect.stringContaining('sandbox'),
    next: 'svc login',
  });
  expect(on['management key']).toMatchObject({ fix: expect.stringContaining('sandbox'), next: 'svc login' });
  expect(on['network']).toMatchObject({ result: 'skipped' });
});

it.each([26, -26])('svc doctor tells a clock that is %i h off, as a warning', async (hours) => {
  const now = (): number => Date.now() + hours * 3_600_000;
  const { code, on } = await seen({ ...(await startSandboxHere()), clock: { ...systemClock, now } });
  // A wrong clock also makes certificates look invalid, but a sandbox on this machine has none.
  expect(on['clock']).toMatchObject({
    result: 'warning',
    found: `26 h ${hours > 0 ? 'ahead of' : 'behind'} the service's`,
  });
  expect(code).toBe(0);
});

it('svc doctor warns of a clock that differs by more than two seconds, and not of a smaller difference', async () => {
  const sandbox = await startSandboxHere();
  const clockAt = async (ms: number) => {
    const { on } = await seen({ ...sandbox, clock: { ...systemClock, now: () => Date.now() + ms } });
    return on['clock'];
  };
  expect(await clockAt(900)).toMatchObject({ result: 'ok', found: "matches the service's" });
  expect(await clockAt(20_000)).toMatchObject({
    result: 'warning',
    found: expect.stringMatching(/^(?:19|20) s ahead of the service's$/),
    fix: expect.stringContaining('archives record the difference'),
  });
});

it('svc doctor reports a refused key, a key of the other type, and one that lacks a permission', async () => {
  const { baseUrl, env } = await startSandboxHere();
  const refused = await seen({ baseUrl, env: { ...env, SVC_MANAGEMENT_API_KEY: 'no-such-key-1' } });
  expect(refused.code).toBe(4);
  expect(refused.on['management key']?.found).toContain('not accepted (401)');
  // A key that 'svc login' stores would not be used while the variable is set.
  expect(refused.on['management key']?.fix).toContain('change SVC_MANAGEMENT_API_KEY, or unset it');
  expect(refused.on['log:read']).toMatchObject({ result: 'skipped' });
  const other = await seen({ baseUrl, env: { ...env, SVC_PRIVATE_API_KEY: 'sandbox-management-key' } });
  expect(other.on['private key']?.found).toContain('is a management key, not a private key');
  expect(other.on['private key']?.fix).toBe(
    'Set SVC_MANAGEMENT_API_KEY to it, and SVC_PRIVATE_API_KEY to a private key.',
  );
  const weak = await seen({ baseUrl, env: { ...env, SVC_PRIVATE_API_KEY: 'sandbox-private-key-3ds-only' } });
  expect(weak.code).toBe(0);
  expect(weak.on['account-updater:job:read']).toMatchObject({
    result: 'warning',
    fix: expect.stringContaining('give the private key the permission account-updater:job:read'),
  });
});

it('svc doctor reports a name that cannot be resolved, once', async () => {
  const { code, on, all } = await seen({ baseUrl: new URL('https://no-such-host.invalid/') });
  expect(code).toBe(8);
  expect(on['connect']).toMatchObject({ result: 'failed', found: expect.stringContaining('could not be resolved') });
  expect(all.filter(({ result }) => result === 'failed')).toHaveLength(1);
  expect(on['tls']).toMatchObject({ result: 'skipped' });
});

it('svc doctor reports a self-signed certificate, and accepts it once it is trusted', async () => {
  const certificate = makeCertificate('localhost', 20);
  const server = await serve([json({}, 401)], tlsServer(certificate));
  const baseUrl = new URL(`https://localhost:${server.port}/`);
  const { code, on } = await seen({ baseUrl });
  expect(code).toBe(8);
  expect(on['tls']).toMatchObject({
    result: 'failed',
    found: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT'),
    fix: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  });
  onTestFinished(trust(certificate));
  const trusted = await seen({ baseUrl });
  expect(trusted.on['tls']?.found).toMatch(/^TLSv1\.3, self-signed certificate of localhost, expires in 1[89] days$/);
  expect(trusted.on['service']).toMatchObject({ result: 'ok' });
});

it('svc doctor reports a proxy that wants a password, without showing the one it has', async () => {
  const { options } = await proxied({ status: 407 });
  const { code, on, all } = await seen(options);
  expect(code).toBe(8);
  expect(on['proxy']).toMatchObject({ result: 'ok', found: expect.stringContaining('(https_proxy)') });
  expect(on['connect']).toMatchObject({
    result: 'failed',
    found: expect.stringContaining('(407)'),
    fix: expect.stringContaining('https_proxy'),
  });
  expect(JSON.stringify(all)).not.toContain('proxy-canary');
});

it('svc doctor reports an invalid proxy address', async () => {
  const env = { https_proxy: 'http://[bad' };
  const { on } = await seen({ baseUrl: new URL('https://api.test/'), env });
  expect(on['proxy']).toMatchObject({ result: 'failed', code: 'config' });
});

it('R19: svc doctor ends at once when it is interrupted', async () => {
  const { proxy } = await proxied('silent');
  const home = new Home();
  const env = { https_proxy: `http://127.0.0.1:${proxy.port}`, SVC_BASE_URL: 'https://api.test' };
  const child = home.start(['doctor'], { env });
  const ending = finished(child);
  while (proxy.ledger.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGINT');
  expect((await ending).code).toBe(130);
});

it('R14: svc doctor ends in bounded time with a proxy that does not respond', async () => {
  const { options } = await proxied('silent');
  const { code, on } = await seen(options);
  expect(code).toBe(8);
  expect(on['connect']?.found).toContain('no response within 3 s');
});

it('R14: svc doctor ends in bounded time with a service that does not respond', async () => {
  const server = await serve([silence('request')]);
  expect((await seen({ baseUrl: server.url })).code).toBe(8);
});

it.each([
  [
    answer(302, '', { location: 'https://elsewhere.example/x?sig=canary-sig' }),
    'failed',
    'redirects to https://elsewhere.example (302)',
  ],
  [answer(503), 'failed', 'responds with 503'],
  [answer(404, '<html>'), 'warning', 'responds with 404 without a key; expected 401'],
  [answer(401), 'ok', 'responds and requires a key (401)'],
] as const)('svc doctor judges the response of the service', async (step, result, words) => {
  const server = await serve([step]);
  const { on } = await seen({ baseUrl: server.url });
  expect(on['service']).toMatchObject({ result, found: expect.stringContaining(words) });
  expect(server.ledger.filter(({ headers }) => !('svc-api-key' in headers))).toHaveLength(1);
});

it('svc doctor only warns of a 404 where it has no key to check the service with', async () => {
  const server = await serve([answer(404, '<html>')]);
  const { on } = await seen({ baseUrl: server.url, env: { SVC_API_KEY: '' } });
  expect(on['service']).toMatchObject({ result: 'warning', found: expect.stringContaining('404 without a key') });
});

it('R87: svc doctor asks for another base URL, and allows nothing, when the base URL has a path too much', async () => {
  const { baseUrl, env } = await startSandboxHere();
  const { code, on } = await seen({ baseUrl: new URL('/v1', baseUrl), env });
  expect(code).toBe(5);
  for (const check of ['management key', 'private key'])
    expect(on[check]).toMatchObject({ result: 'failed', code: 'not_found', fix: expect.stringContaining('base URL') });
  for (const check of ['log:read', '3ds:session:read']) expect(on[check]).toMatchObject({ result: 'skipped' });
});

it('svc doctor fails only the permission whose read gets an undocumented response', async () => {
  const types = json([{ display_name: 'Card', value: 'card' }]);
  const server = await serve(({ path }) => (path.endsWith('/logs/entity-types') ? types : answer(404, '<html>')));
  const { on } = await seen({ baseUrl: server.url, env: { SVC_API_KEY: '', SVC_MANAGEMENT_API_KEY: KEY } });
  expect(on['service']).toMatchObject({ result: 'warning' });
  expect(on['log:read']).toMatchObject({ result: 'ok' });
  expect(on['tenant:read']).toMatchObject({
    result: 'failed',
    code: 'not_found',
    fix: expect.stringContaining('base URL'),
    next: null,
  });
});

it('svc doctor continues with a damaged config, an invalid variable and a missing profile', async () => {
  const sandbox = await startSandboxHere();
  const damaged = await seen({ ...sandbox, env: { ...sandbox.env, ...configWith('{"version": 1,') } });
  expect(damaged.code).toBe(3);
  expect(damaged.on['config']?.found).toMatch(/config\.json is damaged at line 1/);
  expect(damaged.on['management key']).toMatchObject({ result: 'ok' });
  const wrong = await seen({ ...sandbox, env: { ...sandbox.env, SVC_TIME: 'soon' } });
  expect(wrong.on['settings']?.found).toContain('SVC_TIME');
  const absent = await seen({ ...sandbox, env: { ...sandbox.env, SVC_PROFILE: 'absent' } });
  expect(absent.on['settings']?.found).toContain('unknown profile');
  expect(absent.on['service']).toMatchObject({ result: 'ok' });
});

it('svc doctor reports a config file that others could read, and that it is private now', async () => {
  const env = configWith('{"version": 1, "profiles": {}}', 0o644);
  const { on } = await seen({ env }, []);
  expect(on['config']).toMatchObject({ result: 'warning', found: expect.stringContaining('0644') });
  expect((await seen({ env })).on['config']?.found).toContain('(0600, 0 profiles)');
});

it('svc doctor reports a key file that others can read, by its mode', async () => {
  const file = join(directory(), 'key');
  writeFileSync(file, 'some-key-0123');
  chmodSync(file, 0o640);
  const env = { SVC_PRIVATE_API_KEY_FILE: file };
  expect((await seen({ env })).on['key file']).toMatchObject({
    result: 'warning',
    found: expect.stringContaining('(SVC_PRIVATE_API_KEY_FILE) can be read by others (0640)'),
    fix: expect.stringContaining('chmod 600'),
  });
  chmodSync(file, 0o600);
  expect((await seen({ env })).on['key file']).toMatchObject({ result: 'ok' });
});

it('svc doctor reports directories that cannot be written and a missing file of authorities, and leaves nothing behind', async () => {
  const place = directory();
  writeFileSync(join(place, 'file'), '');
  mkdirSync(join(place, 'cache'));
  const { on } = await seen({
    env: {
      SVC_STATE_DIR: join(place, 'file', 'state'),
      SVC_CACHE_DIR: join(place, 'cache'),
      NODE_EXTRA_CA_CERTS: join(place, 'absent.pem'),
    },
  });
  expect(on['state directory']).toMatchObject({ result: 'failed', fix: expect.stringContaining('SVC_STATE_DIR') });
  expect(on['cache directory']).toMatchObject({ result: 'ok' });
  expect(on['certificate authorities']?.found).toContain('does not exist');
  expect(readdirSync(join(place, 'cache'))).toEqual([]);
});

it('svc doctor writes one sentence for each finding for a screen reader', async () => {
  const { stdout } = await svcHere(['doctor', '-o', 'table', '--plain'], {});
  expect(stdout).toMatch(/^base URL: failed: not set\. Fix: Set SVC_BASE_URL/m);
  expect(stdout).toMatch(/^log:read: skipped: not checked: there is no key$/m);
});

it('svc doctor says how each check ended in a word, not by color alone, within 80 columns', async () => {
  const { stdout } = await svcHere(['doctor', '-o', 'table', '--color', 'always'], {
    baseUrl: new URL('https://no-such-host.invalid/'),
    clock: systemClock,
  });
  const plain = stripVTControlCharacters(stdout);
  expect(plain).toMatch(/^ok {4}node {3,}\d/m);
  expect(plain).toMatch(/^FAIL {2}connect {3,}no-such-host/m);
  expect(plain).toMatch(/^ {10,}→ Check the base URL/m);
  // A path is never broken, so that it can be copied.
  expect(plain.split('\n').filter((line) => line.replace(/\/\S+$/, '').length > 80)).toEqual([]);
});
