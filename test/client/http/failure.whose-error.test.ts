import tls from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toTransportFailure } from '../../../src/client/http/failure.ts';
import { type Certificate, makeCertificate, tlsServer, trust } from '../../support/certificate.ts';
import { FaultServer } from '../../support/fault-server.ts';
import { answer, json } from '../../support/fault-steps.ts';
import { CREATE, failureOf, makeCore, READ, serve } from './support/core.ts';

const page = (title: string): string => `<html><head><title>${title}</title></head><body>no</body></html>`;
const HTML = { 'content-type': 'text/html' };

describe('an answer of something between', () => {
  it.each([401, 403])(
    'a %i with a web page is not from the service, and says nothing about the key',
    async (status) => {
      const server = await serve([answer(status, page('Sign in'), HTML)]);
      const error = await failureOf(makeCore(server.url).call({ ...READ, permission: 'log:read' }));
      expect(error).toMatchObject({ exitCode: 4, facts: { not_from_service: true } });
      expect(error.message).toContain('a web page instead of JSON: «Sign in»');
      expect(error.hint).toContain('not from the service itself');
      expect(error.next).toBeUndefined();
    },
  );

  it('a 401 of the service, or without a body, is about the key', async () => {
    for (const step of [json({ title: 'Unauthorized' }, 401), answer(401)]) {
      const error = await failureOf(makeCore((await serve([step])).url).call(READ));
      expect(error).toMatchObject({ code: 'unauthorized', next: ['login'] });
      expect(error.message).toContain('was not accepted (401)');
    }
  });

  it('a redirect to https of the same host names the base URL to use', async () => {
    const server = await serve([answer(301, '', { location: 'https://127.0.0.1:8443/v1/logs?size=20' })]);
    const error = await failureOf(makeCore(new URL('v1', server.url)).call(READ));
    expect(error).toMatchObject({
      exitCode: 8,
      hint: 'Use https in the base URL: set SVC_BASE_URL=https://127.0.0.1:8443/v1, or store it:',
      next: ['profile', 'set', 'base_url', 'https://127.0.0.1:8443/v1'],
    });
    const other = await serve([answer(301, '', { location: 'https://elsewhere.test/logs' })]);
    expect((await failureOf(makeCore(other.url).call(READ))).next).toBeUndefined();
  });

  it('a 400 of nginx for a missing client certificate says so', async () => {
    const server = await serve([answer(400, page('400 No required SSL certificate was sent'), HTML)]);
    const error = await failureOf(makeCore(server.url).call(READ));
    expect(error).toMatchObject({ code: 'rejected', exitCode: 6 });
    expect(error.message).toContain('requires a client certificate (400)');
    expect(error.hint).toContain('SVC_CLIENT_CERT');
  });

  it.each([
    ['GET', READ, 8],
    ['POST', CREATE, 9],
  ])('a 206 to a %s, which asked for no part, is no success', async (_, request, exitCode) => {
    const server = await serve([json([], 206)]);
    const error = await failureOf(makeCore(server.url).call(request));
    expect(error).toMatchObject({ exitCode, status: 206 });
    expect(error.message).toContain('a part was not requested');
    expect(server.ledger).toHaveLength(1);
  });
});

const HOST = 'localhost';
const YESTERDAY = -1;
const NEXT_WEEK = 7;

async function errorOf(server: tls.Server, trusted?: Certificate, request = READ) {
  const served = await FaultServer.start([json({})], server);
  onTestFinished(() => served.close());
  if (trusted) onTestFinished(trust(trusted));
  const error = await failureOf(makeCore(new URL(`https://${HOST}:${served.port}`)).call(request));
  expect(error.exitCode).toBe(8);
  return error;
}

describe('a TLS connection that fails', () => {
  it('names an expired certificate, and the clock', async () => {
    const expired = makeCertificate(HOST, YESTERDAY);
    const { message, hint } = await errorOf(tlsServer(expired), expired);
    expect(message).toContain("its TLS certificate has expired, or this machine's clock is ahead");
    expect(hint).toContain("this machine's clock");
  });

  it('names a certificate that is not valid yet, and the clock', async () => {
    const early = makeCertificate(HOST, 2, undefined, NEXT_WEEK);
    const { message, hint } = await errorOf(tlsServer(early), early);
    expect(message).toContain("its TLS certificate is not valid yet, or this machine's clock is behind");
    expect(hint).toContain("this machine's clock");
  });

  it('names a certificate for another name', async () => {
    const other = makeCertificate('other.test');
    const { message, hint } = await errorOf(tlsServer(other), other);
    expect(message).toContain('its TLS certificate is for another name');
    expect(hint).toContain('Check the host');
  });

  it('names a missing intermediate certificate', async () => {
    const root = makeCertificate('root.test');
    const intermediate = makeCertificate('intermediate.test', 2, root);
    const { message, hint } = await errorOf(tlsServer(makeCertificate(HOST, 2, intermediate)), root);
    expect(message).toContain('came without the intermediate certificate that signed it');
    expect(hint).toContain('SVC_CERTIFICATES=system');
  });

  it('names a certificate that is signed by itself', async () => {
    const { message, hint } = await errorOf(tlsServer(makeCertificate(HOST)));
    expect(message).toContain('signed by itself');
    expect(hint).toContain('SVC_CERTIFICATES=system');
  });

  it('names versions of TLS that are too old', async () => {
    const { cert, key } = makeCertificate(HOST);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    const server = tls.createServer({ cert, key, ...old }).on('tlsClientError', () => undefined);
    const { message, hint } = await errorOf(server);
    expect(message).toContain('only offers versions of TLS that are too old');
    expect(hint).toContain('TLS 1.2');
  });

  it('names a client certificate that is required, after which a request certainly had no effect', async () => {
    const alert = Object.assign(new Error('alert'), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' });
    expect(toTransportFailure(alert, 'send')).toMatchObject({ kind: 'tls', sent: false });
    const unknown = Object.assign(new Error('alert'), { code: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' });
    expect(toTransportFailure(unknown, 'send')).toMatchObject({ kind: 'tls', sent: false });
    const certificate = makeCertificate(HOST);
    const server = tls.createServer({ ...certificate, requestCert: true, maxVersion: 'TLSv1.2' });
    server.on('tlsClientError', () => undefined);
    const { message, hint } = await errorOf(server, certificate, CREATE);
    expect(message).toContain('may require a client certificate');
    expect(hint).toContain('SVC_CLIENT_CERT and SVC_CLIENT_KEY');
  });
});
