import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import tls, { type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Finding } from '../../../src/general/doctor/check.ts';
import { type Certificate, makeCertificate, trust } from '../../support/certificate.ts';
import { FakeClock } from '../../support/clock.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';
import { type Script, serve } from '../../support/fault-server.ts';
import { hangUp, json } from '../../support/fault-steps.ts';
import { errorIn, type HereResult, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const JOB = { id: 'j1', tenant_id: '0f5c4a9e-4d0e-4f5b-8a52-6b0f6f0c2a11', status: 'completed' };

const authority = makeCertificate('Example Authority', 20);
const certificate = makeCertificate('operator.test', 20, authority);
const other = makeCertificate('other.test', 20, authority);
const shown = makeCertificate('localhost', 20, authority);
const home = temporaryDirectory();
const files = { cert: join(home, 'client.pem'), key: join(home, 'client.key') };
let untrust: () => void;

beforeAll(() => {
  untrust = trust(authority);
});
afterAll(() => {
  untrust();
});
beforeEach(() => store(certificate));

/** Stores a certificate and its key in the files of this test. */
function store({ cert, key }: Pick<Certificate, 'cert' | 'key'>): void {
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  chmodSync(files.key, 0o600);
}

const EMPTY = json({ data: [], pagination: { total_items: 0, page_size: 100, next: null } });

/** A server over TLS that requires a certificate, and notes of each connection whose it was shown. */
async function serveAsking(script: Script = () => EMPTY, options: tls.TlsOptions = {}) {
  const names: (string | undefined)[] = [];
  const required = { requestCert: true, rejectUnauthorized: true, ca: authority.cert };
  const server = tls.createServer({ cert: shown.cert, key: shown.key, ...required, ...options });
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket: TLSSocket) => {
    names.push([socket.getPeerCertificate().subject?.CN].flat()[0]);
  });
  const faulty = await serve(script, server);
  return { names, ledger: faulty.ledger, port: faulty.port, url: new URL(`https://localhost:${faulty.port}`) };
}

const VARIABLES = { SVC_CLIENT_CERT: files.cert, SVC_CLIENT_KEY: files.key };
/** Before TLS 1.3, a server refuses in the handshake, and the reason is never lost with a connection that is reset. */
const OLDER = { maxVersion: 'TLSv1.2' } as const;
/** What a server does that asks for a certificate, and serves those who have none too. */
const ASKING = { rejectUnauthorized: false };

function svc(line: string, baseUrl: URL, env: Record<string, string> = VARIABLES): Promise<HereResult> {
  return svcHere(line.split(' '), { baseUrl, env, home, clock: new FakeClock({ start: Date.now(), runs: true }) });
}

describe('a service that requires a client certificate', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('svc shows it the certificate of the variables over %s', async (version) => {
    const { url, names } = await serveAsking(undefined, { minVersion: version, maxVersion: version });
    const { code, stderr } = await svc('logs', url);
    expect({ code, names }, stderr).toEqual({ code: 0, names: ['operator.test'] });
  });

  it('without a certificate svc ends with 8 and names the settings', async () => {
    const { url, ledger } = await serveAsking(undefined, OLDER);
    const error = errorIn(await svc('logs -o json', url, {}));
    expect(error).toMatchObject({
      exit_code: 8,
      message: expect.stringContaining('may require a client certificate'),
      hint: expect.stringMatching(/SVC_CLIENT_CERT and SVC_CLIENT_KEY, or client_cert and client_key/),
    });
    expect(ledger).toEqual([]);
  });

  it('svc and its doctor name the settings when a server closes the connection after the handshake without a reason', async () => {
    const { url } = await serveAsking([hangUp()], ASKING);
    const settings = expect.stringContaining('SVC_CLIENT_CERT and SVC_CLIENT_KEY');
    expect(errorIn(await svc('logs -o json', url, {}))).toMatchObject({ exit_code: 8, hint: settings });
    expect((await findings(url, {}))['service']).toMatchObject({ result: 'failed', fix: settings });
  });

  it('R24: through a proxy only the service sees the certificate', async () => {
    const api = makeCertificate('api.test', 20, authority);
    const { port, names } = await serveAsking(undefined, { cert: api.cert, key: api.key });
    const proxyNames: unknown[] = [];
    const own = tls.createServer({
      cert: shown.cert,
      key: shown.key,
      requestCert: true,
      ...ASKING,
      ca: authority.cert,
    });
    own.on('secureConnection', (socket: TLSSocket) => proxyNames.push(socket.getPeerCertificate().subject?.CN));
    const proxy = await ConnectProxy.start('open', port, own);
    onTestFinished(() => proxy.close());
    const env = { ...VARIABLES, https_proxy: `https://localhost:${proxy.port}` };
    const { code, stderr } = await svc('logs', new URL('https://api.test'), env);
    expect({ code, names, proxyNames }, stderr).toEqual({ code: 0, names: ['operator.test'], proxyNames: [undefined] });
  });
});

describe('servers that are not the service', () => {
  it('R03: a store, a bucket and a collector that ask for a certificate never see it', async () => {
    const elsewhere = await serveAsking([json({})], ASKING);
    const results = `${elsewhere.url.href}results.csv?signature=x`;
    const { url, names } = await serveAsking(({ path }) =>
      path.startsWith('/logs') ? EMPTY : json({ ...JOB, download_url: results }),
    );
    await svc('au download j1 --out results.csv', url);
    const bucket = {
      AWS_ENDPOINT_URL_S3: elsewhere.url.href,
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
    };
    await svc('logs verify s3://bucket', url, { ...VARIABLES, ...bucket });
    await svc(`logs tail --to otlp+${elsewhere.url.href} --for 100ms`, url);
    const paths = elsewhere.ledger.map(({ path }) => path);
    expect(paths.some((path) => path.startsWith('/results.csv'))).toBe(true);
    expect(paths.some((path) => path.startsWith('/bucket'))).toBe(true);
    expect(paths).toContain('/v1/logs');
    expect(new Set(elsewhere.names)).toEqual(new Set([undefined]));
    expect(new Set(names)).toEqual(new Set(['operator.test']));
  });

  it('R02: the certificate of a profile is not shown to another base URL than that of the profile', async () => {
    const service = await serveAsking();
    const stranger = await serveAsking(undefined, ASKING);
    for (const setting of [`base_url ${service.url.href}`, `client_cert ${files.cert}`, `client_key ${files.key}`])
      expect(await svc(`profile set ${setting} --profile prod`, service.url, {})).toMatchObject({ code: 0 });
    const profile = { SVC_PROFILE: 'prod' };
    expect(await svc('logs', service.url, profile)).toMatchObject({ code: 0 });
    expect(await svc('logs', stranger.url, profile)).toMatchObject({ code: 0 });
    expect([service.names, stranger.names]).toEqual([['operator.test'], [undefined]]);
  });
});

describe('files that cannot be used', () => {
  it.each([
    ['a key that others can read', 'logs', () => chmodSync(files.key, 0o640), 'can be read by others (0640)'],
    ['no key', 'logs', () => rmSync(files.key), 'does not exist'],
    [
      'a certificate in place of the key',
      'logs',
      () => store({ ...certificate, key: certificate.cert }),
      'no private key',
    ],
    [
      'a key in place of the certificate',
      'logs',
      () => store({ ...certificate, cert: certificate.key }),
      'no certificate',
    ],
    ['the key of another certificate', 'logs', () => store({ ...certificate, key: other.key }), 'does not belong to'],
    ['a key that others can read', 'profile set client_key client.key', () => chmodSync(files.key, 0o604), '(0604)'],
    ['no certificate', 'profile set client_cert none.pem', () => undefined, 'does not exist'],
  ])('R08: with %s svc %s ends with 3 and sends nothing', async (_, line, damage, message) => {
    const { url, ledger, names } = await serveAsking(undefined, ASKING);
    damage();
    const result = await svc(`${line} -o json`, url);
    expect(errorIn(result)).toMatchObject({ exit_code: 3, message: expect.stringContaining(message) });
    expect([ledger, names]).toEqual([[], []]);
    expect(result.stdout + result.stderr).not.toContain('-----BEGIN');
  });

  it('a certificate without its key ends with 3, and so does a variable that has the key itself, which is not shown', async () => {
    const { url, ledger } = await serveAsking(undefined, ASKING);
    const alone = errorIn(await svc('logs -o json', url, { SVC_CLIENT_CERT: files.cert }));
    expect(alone).toMatchObject({ exit_code: 3, next: 'svc profile set client_key <file>' });
    const inPlace = await svc('logs -o json', url, { ...VARIABLES, SVC_CLIENT_KEY: certificate.key });
    expect(errorIn(inPlace)).toMatchObject({ exit_code: 3, message: expect.stringContaining('SVC_CLIENT_KEY') });
    expect(inPlace.stderr).not.toContain('BEGIN');
    const typed = await svcHere(['profile', 'set', 'client_key', certificate.key], { home });
    expect(typed.code).toBe(2);
    expect(typed.stderr).not.toContain('BEGIN');
    expect(ledger).toEqual([]);
  });
});

async function findings(url: URL, env?: Record<string, string>): Promise<Record<string, Finding>> {
  const { stdout } = await svc('doctor -o json', url, env);
  return Object.fromEntries((JSON.parse(stdout) as Finding[]).map((finding) => [finding.check, finding]));
}

describe('svc doctor', () => {
  it('svc doctor shows the certificate, and checks the service with it', async () => {
    const { url, names } = await serveAsking();
    const on = await findings(url);
    const left = expect.stringMatching(/client\.pem, expires in 1[89] days$/);
    expect(on['client certificate']).toMatchObject({ result: 'ok', found: left });
    expect(on['service']?.found).toContain('responds');
    expect(new Set(names)).toEqual(new Set(['operator.test']));
  });

  it('svc doctor names what is wrong with the certificate, and which settings are missing', async () => {
    const { url } = await serveAsking(undefined, OLDER);
    chmodSync(files.key, 0o644);
    expect((await findings(url))['client certificate']).toMatchObject({ result: 'failed', code: 'config' });
    store(makeCertificate('operator.test', 5, authority));
    expect((await findings(url))['client certificate']).toMatchObject({ result: 'warning' });
    store(makeCertificate('operator.test', 1, authority, -5));
    expect((await findings(url))['client certificate']).toMatchObject({ result: 'failed', code: 'config' });
    const none = await findings(url, {});
    expect(none['client certificate']).toBeUndefined();
    expect(none['tls']).toMatchObject({ result: 'failed', fix: expect.stringContaining('SVC_CLIENT_CERT') });
  });
});

it('--curl names the files of the certificate for a request to the service', async () => {
  const { stdout } = await svc('tenant show --curl', new URL('https://api.test'));
  expect(stdout).toContain(`--cert '${files.cert}'`);
  expect(stdout).toContain(`--key '${files.key}'`);
});
