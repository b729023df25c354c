import { describe, expect, it, onTestFinished } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { proxyFor } from '../../../src/client/http/proxy.ts';
import { makeCertificate, tlsServer, trust } from '../../support/certificate.ts';
import { ConnectProxy, type ProxyManner } from '../../support/connect-proxy.ts';
import { type FaultServer, serve } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { CREATE, expectClean, failureOf, makeCore, only, READ } from './support/core.ts';

const PASSWORD = 'pass%20w0rd-canary';
const API = new URL('https://api.test/');
const CERTIFICATE = makeCertificate('api.test');

async function startProxy(manner: ProxyManner, targetPort?: number): Promise<ConnectProxy> {
  const proxy = await ConnectProxy.start(manner, targetPort);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Starts a TLS server as api.test, which is trusted until the test ends. */
async function secureServer(): Promise<FaultServer> {
  const server = await serve([json({})], tlsServer(CERTIFICATE));
  onTestFinished(trust(CERTIFICATE));
  return server;
}

function address(proxy: ConnectProxy): string {
  return `http://user:${PASSWORD}@127.0.0.1:${proxy.port}`;
}

describe('a proxy', () => {
  it.each(['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'])(
    'R24: named by %s is used, through a tunnel that shows it neither key nor path',
    async (variable) => {
      const server = await secureServer();
      const proxy = await startProxy('open', server.port);
      const core = makeCore(API, { environment: { [variable]: address(proxy) } });
      await core.call(READ);
      await core.call(READ);
      await core.call(CREATE);
      expect(server.ledger.map(({ method, path }) => `${method} ${path}`)).toEqual([
        'GET /logs',
        'GET /logs',
        'POST /account-updater/jobs',
      ]);
      expect(server.ledger[0]?.headers['host']).toBe('api.test');
      expect(proxy.tunnels).toBe(2);
      expect(proxy.ledger.map(({ method, path }) => `${method} ${path}`)).toEqual([
        'CONNECT api.test:443',
        'CONNECT api.test:443',
      ]);
      const [tunnel] = proxy.ledger;
      expect(Object.keys(tunnel?.headers ?? {}).toSorted()).toEqual(['connection', 'host', 'proxy-authorization']);
      expect(tunnel?.headers['proxy-authorization']).toBe(
        `Basic ${Buffer.from('user:pass w0rd-canary').toString('base64')}`,
      );
    },
  );

  it('R24: a proxy without a scheme or a user is used, and told nothing more', async () => {
    const server = await serve([json({})]);
    const proxy = await startProxy('open', server.port);
    const environment = { http_proxy: `127.0.0.1:${proxy.port}` };
    await makeCore(new URL('http://api.test:8080/'), { environment }).call(READ);
    expect(proxy.ledger[0]).toMatchObject({ method: 'CONNECT', path: 'api.test:8080' });
    expect(proxy.ledger[0]?.headers).not.toHaveProperty('proxy-authorization');
    expect(server.ledger).toHaveLength(1);
  });

  it('R24: a proxy that speaks TLS itself is used, once its certificate is trusted', async () => {
    const server = await serve([json({})]);
    const certificate = makeCertificate('localhost');
    const secure = tlsServer(certificate);
    const names: (string | false | null)[] = [];
    secure.on('secureConnection', ({ servername }) => names.push(servername));
    const proxy = await ConnectProxy.start('open', server.port, secure);
    onTestFinished(() => proxy.close());
    const environment = { http_proxy: `https://user:${PASSWORD}@localhost:${proxy.port}` };
    const core = makeCore(new URL('http://api.test/'), { environment });
    const error = await failureOf(core.call(READ));
    expect(error.message).toContain('the proxy from http_proxy has a TLS certificate that was not accepted');
    expect(server.connections).toBe(0);
    onTestFinished(trust(certificate));
    await core.call(READ);
    expect(proxy.tunnels).toBe(1);
    expect(names).toEqual(['localhost']);
    expect(server.ledger).toHaveLength(1);
  });

  it('R24: a proxy does not weaken the check of the certificate behind it', async () => {
    const server = await serve([json({})], tlsServer(CERTIFICATE));
    const proxy = await startProxy('open', server.port);
    const environment = { https_proxy: address(proxy) };
    const error = await failureOf(makeCore(API, { environment }).call(READ));
    expect(error).toMatchObject({ code: 'network', exitCode: 8, retryable: false });
    expect(error.message).toBe(
      'no response from https://api.test: its TLS certificate is signed by itself, not by an authority',
    );
    expect(server.ledger).toEqual([]);
    onTestFinished(trust(CERTIFICATE));
    const other = await failureOf(makeCore(new URL('https://other.test'), { environment }).call(READ));
    expect(other.message).toContain('its TLS certificate is for another name');
  });

  it.each<[ProxyManner, string, number]>([
    [{ status: 407, headers: 'proxy-authenticate: Basic\r\n' }, 'did not accept the user and password (407)', 1],
    [{ status: 401, headers: 'www-authenticate: Basic\r\n' }, 'did not accept the user and password (401)', 1],
    [{ status: 403 }, 'refused the tunnel (403)', 1],
    [{ status: 302, headers: 'location: http://evil.test/\r\n' }, 'refused the tunnel (302)', 1],
    [{ status: 500 }, 'refused the tunnel (500)', 5],
    [{ status: 502 }, 'refused the tunnel (502)', 5],
    ['hang-up', 'closed the connection', 5],
    ['reset', 'closed the connection', 5],
    ['garbage', 'did not respond as a proxy does', 5],
  ])('R24: a proxy that does this is told of clearly: %j', async (manner, words, attempts) => {
    const proxy = await startProxy(manner);
    for (const request of [READ, CREATE]) {
      proxy.ledger.length = 0;
      const environment = { HTTPS_PROXY: address(proxy) };
      const error = await failureOf(makeCore(API, { environment }).call(request));
      expectClean(error, 'canary', 'evil');
      expect(error).toMatchObject({ code: 'network', exitCode: 8, retryable: attempts > 1 });
      expect(error.message).toBe(`no response from https://api.test: the proxy from HTTPS_PROXY ${words}`);
      expect(error.hint).toContain('NO_PROXY');
      expect(proxy.ledger).toHaveLength(attempts);
    }
  });

  it('R24: a proxy that asks for a user and password, and was given none, is told of clearly', async () => {
    const proxy = await startProxy({ status: 407 });
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const { message } = await failureOf(makeCore(API, { environment }).call(READ));
    expect(message).toContain('the proxy from HTTPS_PROXY asks for a user and password (407)');
  });

  it('R24: a proxy that is not there is told of clearly', async () => {
    const proxy = await ConnectProxy.start('silent');
    const environment = { https_proxy: address(proxy) };
    await proxy.close();
    const refused = await failureOf(makeCore(API, { environment }).call(READ));
    expect(refused.message).toContain('the proxy from https_proxy refused the connection');
    expectClean(refused, 'canary');
    const nameless = { https_proxy: `http://user:${PASSWORD}@no-such-proxy.invalid` };
    const unknown = await failureOf(makeCore(API, { environment: nameless }).call(READ));
    expect(unknown.message).toContain('the proxy from https_proxy has a name that could not be resolved');
    expectClean(unknown, 'canary', 'no-such-proxy');
  });

  it.each(['silent', 'silent-tunnel'] as const)(
    'R14 and R24: a proxy that is %s is given up within the limit, and its connections are closed',
    async (manner) => {
      const proxy = await startProxy(manner);
      const environment = { https_proxy: address(proxy) };
      const core = makeCore(API, { environment, limits: only('connect') });
      const result = await failureOf(core.call(CREATE));
      expect(result).toMatchObject({ code: 'network', exitCode: 8 });
      expect(result.message).toContain('no connection was made within 0.1 s');
      expect(result.hint).toContain('proxy');
      expectClean(result, 'canary');
      await expect.poll(() => proxy.openConnections).toBe(0);
      // Of five attempts; on a busy machine some are over before the proxy has read it.
      expect([3, 4, 5]).toContain(proxy.ledger.length);
    },
  );

  it.each([
    `http://user:${PASSWORD}@`,
    `http://[${PASSWORD}`,
    `socks5://user:${PASSWORD}@127.0.0.1:1080`,
    `ftp://${PASSWORD}.test`,
    `http://proxy.test:${PASSWORD}`,
  ])('R24: a proxy with an unusable address (%#) is a matter of configuration, and not shown', async (value) => {
    const error = await failureOf(makeCore(API, { environment: { HTTPS_PROXY: value } }).call(READ));
    expect(error).toMatchObject({ code: 'config', exitCode: 3 });
    expect(error.message).toBe('the proxy address in HTTPS_PROXY is not a usable URL');
    expectClean(error, 'canary');
  });
});

const proxies = { http_proxy: 'http://plain.test:1', https_proxy: 'http://secure.test:2' };

function choice(url: string, environment: Record<string, string>): string | undefined {
  return proxyFor(new URL(url), environment)?.url.host;
}

describe('the choice of a proxy', () => {
  it('R24: the choice of a proxy goes by the scheme, and lower case comes first', () => {
    expect(choice('https://api.test', proxies)).toBe('secure.test:2');
    expect(choice('http://api.test', proxies)).toBe('plain.test:1');
    expect(choice('https://api.test', { http_proxy: 'http://plain.test:1' })).toBeUndefined();
    expect(choice('https://api.test', { HTTPS_PROXY: 'http://a.test', https_proxy: 'http://b.test' })).toBe('b.test');
    expect(choice('https://api.test', { HTTPS_PROXY: 'http://a.test', https_proxy: '' })).toBe('a.test');
    expect(choice('https://api.test', {})).toBeUndefined();
  });

  it.each([
    ['*', true],
    ['api.test', true],
    ['API.Test', true],
    ['.test', true],
    ['*.test', true],
    ['test', true],
    ['other.test, api.test', true],
    ['other.test api.test', true],
    ['api.test.', true],
    ['.test.', true],
    ['api.test:443', true],
    ['api.test:8443', false],
    ['pi.test', false],
    ['api.test.example', false],
    ['', false],
    [',, ,', false],
    [':443', false],
  ])('R24: no_proxy %j exempts https://api.test: %s', (list, exempt) => {
    for (const name of ['no_proxy', 'NO_PROXY'])
      expect(choice('https://api.test/x', { ...proxies, [name]: list }) === undefined).toBe(exempt);
  });

  it.each([
    ['https://[fd00::1]', 'fd00::1', true],
    ['https://[fd00::1]', '[fd00::1]', true],
    ['https://[fd00::1]', 'fd00:0:0:0:0:0:0:1', true],
    ['https://[fd00::1]', '[fd00::1]:443', true],
    ['https://[fd00::1]', '[fd00::1]:8443', false],
    ['https://[fd00::1]', 'fd00::/8', true],
    ['https://[fd00::1]', 'fd00::2', false],
    ['https://[fd00::1]', '10.0.0.0/8', false],
    ['https://10.1.2.3', '10.1.2.3', true],
    ['https://10.1.2.3', '10.0.0.0/8', true],
    ['https://10.1.2.3', '10.0.0.0/16', false],
    ['https://10.1.2.3', '10.1.2.3/99', true],
    ['https://10.1.2.3', '10.*', true],
    ['https://10.1.2.3', '10.1.*,192.168.*', true],
    ['https://10.1.2.3', '1.*', false],
    ['https://10.api.test', '10.*', false],
    ['https://api.test.', 'api.test', true],
    ['https://api.bücher.test', 'bücher.test', true],
    ['https://api.bücher.test', '.XN--bcher-kva.test', true],
    ['https://api.bücher.test', 'bucher.test', false],
    ['https://api.test', 'fd00::/8,10.0.0.0/8', false],
  ])('R24: %s is reached directly with the addresses %s in no_proxy: %s', (url, list, exempt) => {
    expect(choice(url, { ...proxies, no_proxy: list }) === undefined).toBe(exempt);
  });

  it.each(['http://localhost:1', 'http://127.0.0.1', 'http://127.9.9.9:8', 'http://[::1]:5', 'https://localhost'])(
    'R24: this machine is never reached through a proxy: %s',
    (url) => {
      expect(choice(url, { ...proxies, all_proxy: 'http://all.test' })).toBeUndefined();
    },
  );

  it('R24: a bad address that is not needed does no harm', () => {
    expect(choice('https://api.test', { http_proxy: 'nonsense://', no_proxy: '' })).toBeUndefined();
    expect(choice('https://api.test', { https_proxy: 'nonsense://', no_proxy: 'api.test' })).toBeUndefined();
    expect(() => choice('https://api.test', { https_proxy: 'nonsense://' })).toThrow(SvcError);
  });
});
