import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientCertificate } from '../../../src/client/http/tls-options.ts';
import { createTransport, type Transport } from '../../../src/client/http/transport.ts';
import { makeCertificate, tlsServer, trust } from '../../support/certificate.ts';
import { type FaultServer, serve } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { freePorts, hashedPassword, installed, serverDirectory, startServer } from '../../support/real-server.ts';
import { CREATE, failureOf, makeCore, READ } from './support/core.ts';

const ENTRIES = { data: Array.from({ length: 50 }, (_, index) => ({ message: `entry ${index}` })) };
const HOST = 'localhost';
const API = new URL('https://api.test/');

function withProgram(name: string): readonly [program: string | undefined, why: string] {
  const program = installed(name);
  return [program, program === undefined ? ', which is not installed here (skipped)' : ''];
}

/** Starts a service behind a server, whose answer to a POST is a 201. */
async function service(): Promise<FaultServer> {
  return serve(({ method }) => json(method === 'POST' ? { id: 'session-1' } : ENTRIES, method === 'POST' ? 201 : 200));
}

/** Reads a list and makes a POST through a server, and expects both answers whole. */
async function expectWhole(base: URL): Promise<void> {
  const core = makeCore(base);
  expect((await core.callAny(READ)).body?.json).toEqual(ENTRIES);
  expect(await core.callAny(CREATE)).toMatchObject({ status: 201, body: { json: { id: 'session-1' } } });
}

/** Shows a client certificate to the server at a port. */
function showing(certificate: ClientCertificate, port: number): Transport {
  return createTransport({}, {}, { origin: `https://${HOST}:${port}`, certificate });
}

async function encodingOf(url: string): Promise<string | null> {
  return (await fetch(url, { headers: { 'accept-encoding': 'gzip' } })).headers.get('content-encoding');
}

describe('a real server before the service', () => {
  const [nginx, noNginx] = withProgram('nginx');
  it.skipIf(!nginx)(`nginx compresses, redirects to https and requires a client certificate${noNginx}`, async () => {
    const behind = await service();
    const [plain = 0, redirecting = 0, secure = 0] = await freePorts(3);
    const certificate = makeCertificate(HOST);
    const directory = serverDirectory({ 'cert.pem': certificate.cert, 'key.pem': certificate.key });
    const configuration = serverDirectory({
      'nginx.conf': `daemon off; master_process off; pid ${directory}/pid; error_log stderr; events {}
http {
  access_log off; client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  server { listen 127.0.0.1:${plain}; gzip on; gzip_types application/json; gzip_min_length 1; gzip_proxied any;
    location / { proxy_pass ${behind.url.href}; } }
  server { listen 127.0.0.1:${redirecting}; location / { return 301 https://127.0.0.1:${secure}$request_uri; } }
  server { listen 127.0.0.1:${secure} ssl; ssl_certificate ${directory}/cert.pem; ssl_certificate_key ${directory}/key.pem;
    ssl_client_certificate ${directory}/cert.pem; ssl_verify_client on; location / { return 200; } }
}`,
    });
    await startServer([nginx ?? '', '-c', `${configuration}/nginx.conf`], [plain, redirecting, secure]);
    expect(await encodingOf(`http://127.0.0.1:${plain}/logs`)).toBe('gzip');
    await expectWhole(new URL(`http://127.0.0.1:${plain}`));
    const redirect = await failureOf(makeCore(new URL(`http://127.0.0.1:${redirecting}/v1`)).call(READ));
    expect(redirect.next).toEqual(['profile', 'set', 'base_url', `https://127.0.0.1:${secure}/v1`]);
    onTestFinished(trust(certificate));
    const error = await failureOf(makeCore(new URL(`https://${HOST}:${secure}`)).call(READ));
    expect(error).toMatchObject({
      exitCode: 6,
      message: expect.stringContaining('requires a client certificate (400)'),
    });
    const identified = makeCore(new URL(`https://${HOST}:${secure}`), { transport: showing(certificate, secure) });
    expect((await identified.callAny(READ)).status).toBe(200);
    const transport = showing(makeCertificate('stranger'), secure);
    const refused = await failureOf(makeCore(new URL(`https://${HOST}:${secure}`), { transport }).call(READ));
    expect(refused.message).toContain('did not accept the client certificate (400)');
  });

  const [apache, noApache] = withProgram('apache2');
  it.skipIf(!apache)(
    `Apache compresses although nobody asked, and requires a client certificate${noApache}`,
    async () => {
      const behind = await service();
      const [plain = 0, secure = 0] = await freePorts(2);
      const certificate = makeCertificate(HOST);
      const directory = serverDirectory({ 'cert.pem': certificate.cert, 'key.pem': certificate.key });
      const modules = [
        'mpm_event',
        'authz_core',
        'deflate',
        'filter',
        'env',
        'proxy',
        'proxy_http',
        'ssl',
        'socache_shmcb',
      ];
      const configuration = serverDirectory({
        'apache.conf': `ServerName ${HOST}
ServerRoot ${directory}
PidFile ${directory}/pid
ErrorLog ${directory}/error.log
${process.getuid?.() === 0 ? 'User nobody\nGroup nogroup' : ''}
${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
Mutex file:${directory}
Listen 127.0.0.1:${plain}
Listen 127.0.0.1:${secure}
<VirtualHost 127.0.0.1:${plain}>
  SetEnv force-gzip 1
  SetEnv no-gzip 0
  SetOutputFilter DEFLATE
  ProxyPass / ${behind.url.href}
</VirtualHost>
<VirtualHost 127.0.0.1:${secure}>
  SSLEngine on
  SSLCertificateFile ${directory}/cert.pem
  SSLCertificateKeyFile ${directory}/key.pem
  SSLCACertificateFile ${directory}/cert.pem
  SSLVerifyClient require
  # In TLS 1.3 the refusal follows the request, and is lost where the connection is reset first.
  SSLProtocol TLSv1.2
</VirtualHost>
`,
      });
      await startServer([apache ?? '', '-D', 'FOREGROUND', '-f', `${configuration}/apache.conf`], [plain, secure]);
      await expectWhole(new URL(`http://127.0.0.1:${plain}`));
      onTestFinished(trust(certificate));
      const error = await failureOf(makeCore(new URL(`https://${HOST}:${secure}`)).call(CREATE));
      expect(error).toMatchObject({ exitCode: 8, hint: expect.stringContaining('SVC_CLIENT_CERT') });
      const identified = makeCore(new URL(`https://${HOST}:${secure}`), { transport: showing(certificate, secure) });
      // It has nothing at this path.
      expect((await failureOf(identified.call(READ))).message).toContain('(404)');
      const transport = showing(makeCertificate('stranger'), secure);
      const refused = await failureOf(makeCore(new URL(`https://${HOST}:${secure}`), { transport }).call(CREATE));
      expect(refused).toMatchObject({
        exitCode: 8,
        message: expect.stringContaining('did not accept the client certificate'),
      });
    },
  );

  const [caddy, noCaddy] = withProgram('caddy');
  it.skipIf(!caddy)(`Caddy compresses, and asks for a password with a page${noCaddy}`, async () => {
    const behind = await service();
    const [plain = 0, guarded = 0] = await freePorts(2);
    const directory = serverDirectory({
      Caddyfile: `{
  admin off
  auto_https off
}
http://127.0.0.1:${plain} {
  encode {
    gzip
    minimum_length 1
    match {
      header Content-Type application/json*
    }
  }
  reverse_proxy 127.0.0.1:${behind.port}
}
http://127.0.0.1:${guarded} {
  header Content-Type text/html
  respond "<html><title>Sign in</title></html>" 401
}
`,
    });
    await startServer(
      [caddy ?? '', 'run', '--config', `${directory}/Caddyfile`, '--adapter', 'caddyfile'],
      [plain, guarded],
    );
    expect(await encodingOf(`http://127.0.0.1:${plain}/logs`)).toBe('gzip');
    await expectWhole(new URL(`http://127.0.0.1:${plain}`));
    const error = await failureOf(makeCore(new URL(`http://127.0.0.1:${guarded}`)).call(READ));
    expect(error).toMatchObject({ exitCode: 4, facts: { not_from_service: true } });
    expect(error.message).toContain('«Sign in»');
  });
});

describe('a real proxy on the way to the service', () => {
  const [squid, noSquid] = withProgram('squid');
  it.skipIf(!squid)(`R24: Squid opens a tunnel for the right password and not for a wrong one${noSquid}`, async () => {
    const certificate = makeCertificate('api.test');
    const behind = await serve([json(ENTRIES)], tlsServer(certificate));
    onTestFinished(trust(certificate));
    const [port = 0] = await freePorts(1);
    const directory = serverDirectory({ users: `user:${hashedPassword('right')}\n`, hosts: '127.0.0.1 api.test\n' });
    const configuration = serverDirectory({
      'squid.conf': `http_port 127.0.0.1:${port}
pid_filename none
cache_log ${directory}/cache.log
access_log none
coredump_dir ${directory}
hosts_file ${directory}/hosts
shutdown_lifetime 0 seconds
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${directory}/users
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
`,
    });
    await startServer([squid ?? '', '-N', '-f', `${configuration}/squid.conf`], [port]);
    const base = new URL(`https://api.test:${behind.port}/`);
    const through = (password: string) =>
      makeCore(base, { environment: { HTTPS_PROXY: `http://${password}127.0.0.1:${port}` } });
    expect((await through('user:right@').callAny(READ)).body?.json).toEqual(ENTRIES);
    const wrong = await failureOf(through('user:wrong@').call(READ));
    expect(wrong.message).toContain('the proxy from HTTPS_PROXY did not accept the user and password (407)');
    expect((await failureOf(through('').call(READ))).message).toContain('asks for a user and password (407)');
  });

  const [tinyproxy, noTinyproxy] = withProgram('tinyproxy');
  it.skipIf(!tinyproxy)(`R24: tinyproxy does not accept a wrong password${noTinyproxy}`, async () => {
    const [port = 0] = await freePorts(1);
    const directory = serverDirectory({
      'tinyproxy.conf': `Port ${port}\nListen 127.0.0.1\nTimeout 60\nBasicAuth user right\nAllow 127.0.0.1\n`,
    });
    await startServer([tinyproxy ?? '', '-d', '-c', `${directory}/tinyproxy.conf`], [port]);
    const environment = { HTTPS_PROXY: `http://user:wrong@127.0.0.1:${port}` };
    const wrong = await failureOf(makeCore(API, { environment }).call(READ));
    expect(wrong.message).toMatch(
      /^no response from \S+ the proxy from HTTPS_PROXY did not accept the user and password/,
    );
  });
});
