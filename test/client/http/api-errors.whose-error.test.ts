import tls from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toTransportFailure } from '../../../src/client/http/transport-failure.ts';
import { type Certificate, makeCertificate, tlsServer, trust } from '../../support/certificate.ts';
import { serve } from '../../support/fault-server.ts';
import { answer, json } from '../../support/fault-steps.ts';
import { CREATE, failureOf, makeCore, READ } from './support/core.ts';

const page = (title: string): string => `<html><head><title>${title}</title></head><body>no</body></html>`;
const HTML = { 'content-type': 'text/html' };

const CERTIFICATE_HINT =
  'Set SVC_CLIENT_CERT and SVC_CLIENT_KEY, or client_cert and client_key of the profile, to the files that you were given. ' +
  'They are for the host of the base URL only, never for a store.';
const KEY_HINT =
  'Check that it is a management key of this environment and still valid; change SVC_API_KEY, or unset it and store a key.';

describe('an answer of something between', () => {
  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
  ])('a %i with a web page is not from the service, and says nothing about the key', async (status, code) => {
    const { url } = await serve([answer(status, page('Sign in'), HTML)]);
    const error = await failureOf(makeCore(url).call({ ...READ, permission: 'log:read' }));
    expect(error).toMatchObject({
      code,
      exitCode: 4,
      message: `${url.origin} refused the request (${status}): a web page instead of JSON: «Sign in»`,
      hint: 'This error is not from the service itself: check the base URL, and any proxy or gateway.',
      next: undefined,
      facts: { not_from_service: true },
    });
  });

  it.each([
    ['of the service', json({ title: 'Unauthorized' }, 401), ': Unauthorized'],
    ['without a body', answer(401), ''],
  ])('a 401 %s is about the key', async (_, step, more) => {
    const error = await failureOf(makeCore((await serve([step])).url).call(READ));
    const message = `the management key from SVC_API_KEY was not accepted (401)${more}`;
    expect(error).toMatchObject({ code: 'unauthorized', message, hint: KEY_HINT, next: ['login'] });
  });

  it.each(['/logs', '/tokens/é'])(
    'a redirect of %s to https of the same host names the base URL to use',
    async (path) => {
      const server = await serve([answer(301, '', { location: `https://127.0.0.1:8443/v1${path}?size=20` })]);
      const error = await failureOf(makeCore(new URL('v1', server.url)).call({ ...READ, path }));
      expect(error).toMatchObject({
        exitCode: 8,
        hint: 'Use https in the base URL: set SVC_BASE_URL=https://127.0.0.1:8443/v1, or store it:',
        next: ['profile', 'set', 'base_url', 'https://127.0.0.1:8443/v1'],
      });
      const other = await serve([answer(301, '', { location: 'https://elsewhere.test/logs' })]);
      expect((await failureOf(makeCore(other.url).call(READ))).next).toBeUndefined();
    },
  );

  it('a 400 of nginx for a missing client certificate says so', async () => {
    const { url } = await serve([answer(400, page('400 No required SSL certificate was sent'), HTML)]);
    const words = 'a web page instead of JSON: «400 No required SSL certificate was sent»';
    expect(await failureOf(makeCore(url).call(READ))).toMatchObject({
      code: 'rejected',
      message: `${url.origin} requires a client certificate (400): ${words}`,
      hint: CERTIFICATE_HINT,
    });
  });

  it.each([
    [
      'GET',
      READ,
      8,
      /^the response of \S+ to GET \/logs is malformed \(206\): it is only a part, and a part was not requested$/,
    ],
    [
      'POST',
      CREATE,
      9,
      /^outcome unknown: POST \/account-updater\/jobs may have taken effect, its response \(206\) could not be read: it is only a part, and a part was not requested$/,
    ],
  ])('a 206 to a %s, which asked for no part, is no success', async (_, request, exitCode, message) => {
    const server = await serve([json([], 206)]);
    const error = await failureOf(makeCore(server.url).call(request));
    expect(error).toMatchObject({ exitCode, status: 206, message: expect.stringMatching(message) });
    expect(server.ledger).toHaveLength(1);
  });
});

const HOST = 'localhost';
const YESTERDAY = -1;
const NEXT_WEEK = 7;
const CLOCK_HINT =
  "Compare this machine's clock with the right time. If it is right, whoever runs the server must renew its certificate.";
const TRUST_HINT =
  'If your network inspects TLS, trust its authority: set SVC_CERTIFICATES=system, or name a file in NODE_EXTRA_CA_CERTS.';

/** A server, and the certificate that the client trusts besides. */
type Served = readonly [server: tls.Server, trusted?: Certificate];

const SERVERS: readonly (readonly [what: string, served: () => Served, words: string, hint: string])[] = [
  [
    'an expired certificate, and the clock',
    () => trusting(makeCertificate(HOST, YESTERDAY)),
    "its TLS certificate has expired, or this machine's clock is ahead",
    CLOCK_HINT,
  ],
  [
    'a certificate that is not valid yet, and the clock',
    () => trusting(makeCertificate(HOST, 2, undefined, NEXT_WEEK)),
    "its TLS certificate is not valid yet, or this machine's clock is behind",
    CLOCK_HINT,
  ],
  [
    'a certificate for another name',
    () => trusting(makeCertificate('other.test')),
    'its TLS certificate is for another name',
    'Check the host in the address: the server at this address has another name.',
  ],
  [
    'a missing intermediate certificate',
    () => {
      const root = makeCertificate('root.test');
      return [tlsServer(makeCertificate(HOST, 2, makeCertificate('intermediate.test', 2, root))), root];
    },
    'its TLS certificate came without the intermediate certificate that signed it, or from an unknown authority',
    `Whoever runs the server should send its whole chain of certificates. ${TRUST_HINT}`,
  ],
  [
    'a certificate that is signed by itself',
    () => [tlsServer(makeCertificate(HOST))],
    'its TLS certificate is signed by itself, not by an authority',
    TRUST_HINT,
  ],
  [
    'versions of TLS that are too old',
    () => [
      limited({ ...makeCertificate(HOST), minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }),
    ],
    'it only offers versions of TLS that are too old (1.1 or earlier)',
    'Whoever runs the server, or a proxy before it, must enable TLS 1.2 or later.',
  ],
  [
    'a client certificate that is required',
    () => {
      const certificate = makeCertificate(HOST);
      return [limited({ ...certificate, requestCert: true, maxVersion: 'TLSv1.2' }), certificate];
    },
    'it refused the TLS handshake, and may require a client certificate',
    CERTIFICATE_HINT,
  ],
];

function trusting(certificate: Certificate): Served {
  return [tlsServer(certificate), certificate];
}

function limited(options: tls.TlsOptions): tls.Server {
  return tls.createServer(options).on('tlsClientError', () => undefined);
}

describe('a TLS connection that fails', () => {
  it.each(SERVERS)('a TLS connection that fails names %s; a request had no effect', async (_, served, words, hint) => {
    const [server, trusted] = served();
    const { port } = await serve([json({})], server);
    if (trusted) onTestFinished(trust(trusted));
    const error = await failureOf(makeCore(new URL(`https://${HOST}:${port}`)).call(CREATE));
    expect(error).toMatchObject({ exitCode: 8, message: `no response from https://${HOST}:${port}: ${words}`, hint });
  });

  it.each(['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'])(
    'a TLS connection that ends with %s has sent nothing',
    (code) => {
      const alert = Object.assign(new Error('alert'), { code });
      expect(toTransportFailure(alert, 'send')).toMatchObject({ kind: 'tls', sent: false });
    },
  );
});
