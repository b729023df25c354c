import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/system.ts';
import type { Finding } from '../../../src/general/doctor/check.ts';
import { makeCertificate, tlsServer } from '../../support/certificate.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';
import { serve } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { errorIn, type HereResult, succeeded, svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const authority = makeCertificate('Example Corp Inspection');
const shown = makeCertificate('api.test', 20, authority);

/** A proxy that inspects TLS: it presents a certificate for the service that its own authority issued. */
async function inspectingProxy() {
  const server = await serve([json({}, 401)], tlsServer({ ...shown, cert: shown.cert + authority.cert }));
  const proxy = await ConnectProxy.start('open', server.port);
  onTestFinished(() => proxy.close());
  const home = temporaryDirectory();
  return { server, proxy, env: { https_proxy: `http://127.0.0.1:${proxy.port}`, SVC_CONFIG_DIR: home } };
}

/** Replaces what this version of Node knows of the system's authorities; undefined as before Node 22.15. */
function systemAuthorities(certificates: readonly string[] | undefined): void {
  const before = Object.getOwnPropertyDescriptor(tls, 'getCACertificates');
  const read = certificates && ((type: string) => (type === 'system' ? certificates : tls.rootCertificates));
  Object.defineProperty(tls, 'getCACertificates', { value: read, configurable: true, writable: true });
  onTestFinished(() => {
    Reflect.deleteProperty(tls, 'getCACertificates');
    if (before) Object.defineProperty(tls, 'getCACertificates', before);
  });
}

function svc(line: string, env: Record<string, string>): Promise<HereResult> {
  return svcHere(line.split(' '), { baseUrl: new URL('https://api.test/'), env, clock: systemClock });
}

async function doctor(env: Record<string, string>): Promise<{ code: number; on: Record<string, Finding> }> {
  const { code, stdout } = await svc('doctor -o json', env);
  const findings = JSON.parse(stdout) as Finding[];
  return { code, on: Object.fromEntries(findings.map((finding) => [finding.check, finding])) };
}

describe('svc doctor and a proxy that inspects TLS', () => {
  it('svc doctor names the chain that a proxy presents, and how to trust it', async () => {
    const { server, proxy, env } = await inspectingProxy();
    const { code, on } = await doctor(env);
    expect(code).toBe(8);
    expect(on['connect']?.found).toBe('api.test port 443, through the proxy');
    expect([...new Set(proxy.ledger.map(({ path }) => path))]).toEqual(['api.test:443']);
    expect(on['tls']).toMatchObject({
      result: 'failed',
      found: expect.stringContaining(
        ': certificate of api.test, issued by Example Corp Inspection, through the proxy from https_proxy',
      ),
      fix: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
      next: 'svc profile set certificates system',
    });
    expect(server.ledger).toEqual([]);
  });

  it('with certificates system svc trusts what the system trusts, and svc doctor warns of who reads along', async () => {
    const { server, env } = await inspectingProxy();
    systemAuthorities([authority.cert]);
    succeeded(await svc('profile set certificates system', env));
    expect(JSON.parse((await svc('profile show', env)).stdout)).toMatchObject({ certificates: 'system' });
    const { on } = await doctor(env);
    expect(on['tls']?.found).toMatch(
      /^TLSv1\.3, certificate of api\.test, issued by Example Corp Inspection, expires in 1[89] days$/,
    );
    expect(on['tls inspection']).toMatchObject({
      result: 'warning',
      found: expect.stringMatching(
        /^Example Corp Inspection is no public .* the proxy from https_proxy may be reading/,
      ),
    });
    expect(on['service']).toMatchObject({ result: 'ok' });
    expect(server.ledger.length).toBeGreaterThan(1);
    succeeded(await svc('profile set certificates --unset', env));
    const before = server.ledger.length;
    expect(errorIn(await svc('logs --timeout 5s', env))).toMatchObject({ exit_code: 8 });
    expect(server.ledger).toHaveLength(before);
  });

  it('a version of Node that cannot read the system’s authorities stores nothing and sends nothing', async () => {
    const { server, env } = await inspectingProxy();
    systemAuthorities(undefined);
    const refused = { exit_code: 3, hint: expect.stringContaining('Node 22.15') };
    expect(errorIn(await svc('profile set certificates system', env))).toMatchObject(refused);
    expect(() => readFileSync(join(env['SVC_CONFIG_DIR'] ?? '', 'config.json'))).toThrow('ENOENT');
    expect(errorIn(await svc('logs', { ...env, SVC_CERTIFICATES: 'system' }))).toMatchObject(refused);
    expect(errorIn(await svc('logs', { ...env, SVC_CERTIFICATES: 'all' }))).toMatchObject({ exit_code: 3 });
    expect(server.ledger).toEqual([]);
  });
});
