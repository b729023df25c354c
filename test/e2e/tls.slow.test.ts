import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Certificate, makeCertificate, tlsServer } from '../support/certificate.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { FaultServer } from '../support/fault-server.ts';
import { json } from '../support/fault-steps.ts';
import { Home } from '../support/svc.ts';

const JOB = { id: 'j1', tenant_id: '0f5c4a9e-4d0e-4f5b-8a52-6b0f6f0c2a11', status: 'completed' };

let home: Home;
let api: FaultServer;
/** The address that job `j1` of the service gives for its results. */
let store = '';

beforeAll(async () => {
  home = new Home();
  const body = JSON.stringify({ event: { id: 'e1', type: 't' } });
  const entry = { received_at: '2026-01-01T00:00:00Z', id: 'e1', type: 't', headers: {}, body };
  writeFileSync(home.file('events.jsonl'), `${JSON.stringify(entry)}\n`);
  api = await FaultServer.start(({ path }) =>
    path.startsWith('/logs')
      ? json({ data: [], pagination: { total_items: 0, page_size: 100, next: null } })
      : json({ ...JOB, download_url: store }),
  );
});
afterAll(() => api.close());

const DAY_BEFORE_YESTERDAY = -1;

/** Three certificates that no client should accept. All but the first have a trusted issuer. */
const BAD: Readonly<Record<string, { readonly certificate: Certificate; readonly trusted: boolean }>> = {
  'signed by itself': { certificate: makeCertificate('localhost'), trusted: false },
  expired: { certificate: makeCertificate('localhost', DAY_BEFORE_YESTERDAY), trusted: true },
  'of another host': { certificate: makeCertificate('other.test'), trusted: true },
};

/** Every kind of connection: a command line that opens it, and the variables that lead it to a port. */
const WAYS: Readonly<Record<string, (port: number) => readonly [argv: string, env: Record<string, string>]>> = {
  API: (port) => ['logs', { SVC_BASE_URL: `https://localhost:${port}` }],
  store: (port) => {
    store = `https://localhost:${port}/results?signature=x`;
    return ['au download j1 --out results.csv', {}];
  },
  bucket: (port) => [
    'logs verify s3://bucket',
    { AWS_ENDPOINT_URL_S3: `https://localhost:${port}`, AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' },
  ],
  collector: (port) => [`logs tail --to otlp+https://localhost:${port} --for 1s`, {}],
  forward: (port) => [`events replay events.jsonl --forward-to https://localhost:${port}`, {}],
  proxy: (port) => ['logs', { SVC_BASE_URL: 'https://api.test', HTTPS_PROXY: `https://localhost:${port}` }],
};

describe('a certificate that nobody should accept', () => {
  const cases = Object.keys(BAD).flatMap((bad) => Object.keys(WAYS).map((way) => [way, bad] as const));

  it.each(cases)(
    'R04 and R64: a certificate that nobody should accept gets nothing, whatever the environment says: %s, %s',
    async (way, bad) => {
      const { certificate, trusted } = BAD[bad] ?? { certificate: makeCertificate('x'), trusted: false };
      const impostor =
        way === 'proxy'
          ? await ConnectProxy.start('open', api.port, tlsServer(certificate))
          : await FaultServer.start([json({})], tlsServer(certificate));
      onTestFinished(() => impostor.close());
      const authority = home.file(`authority-${way}.pem`);
      writeFileSync(authority, certificate.cert);
      const [argv, more] = WAYS[way]?.(impostor.port) ?? ['', {}];
      const env = {
        SVC_BASE_URL: api.url.href,
        SVC_API_KEY: 'canary',
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        ...(trusted && { NODE_EXTRA_CA_CERTS: authority }),
        ...more,
      };
      const { code, stdout, stderr } = await home.svc(argv.split(' '), { env });
      expect(code, stderr).toBeGreaterThan(0);
      // Node warns about the variable in lines that begin with a parenthesis.
      const own = `${stdout}${stderr}`.split('\n').filter((line) => !line.startsWith('('));
      expect(own.join('\n')).toMatch(/certificate|TLS/);
      expect(impostor.ledger).toEqual([]);
    },
  );
});
