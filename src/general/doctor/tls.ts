import { X509Certificate } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import { connect, type DetailedPeerCertificate, rootCertificates, type TLSSocket } from 'node:tls';
import { tlsOptions } from '../../client/http/tls-options.ts';
import { tlsHint, toTransportFailure } from '../../client/http/failure.ts';
import type { Proxy } from '../../client/http/proxy.ts';
import { isLoopback } from '../../schema/address.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { bareHost, connected, type NetworkPath } from './connection.ts';
import { failed, type Finding, ok, skipped, warning } from './finding.ts';

/** Checks the certificates on a connection, and names their chain and who may be reading along. */
export async function checkTls(path: NetworkPath, proxy: Proxy | undefined, socket: Socket): Promise<Finding[]> {
  const { baseUrl, clock } = path;
  if (baseUrl.protocol !== 'https:')
    return [skipped('tls', isLoopback(baseUrl) ? 'plain http on this machine' : 'plain http')];
  let secured: TLSSocket;
  try {
    secured = await handshake(path, socket);
  } catch (error) {
    return [tlsFailed(error)];
  }
  const chain = chainOf(secured);
  // Nothing was sent over this connection, and the caller ends it.
  if (!secured.authorized) return [refused(secured.authorizationError, chain, proxy)];
  const [leaf] = chain;
  const days = Math.floor((Date.parse(leaf?.valid_to ?? '') - clock.now()) / DAY_MS);
  const left = `expires in ${days === 1 ? '1 day' : `${days} days`}`;
  const found = `${secured.getProtocol() ?? 'TLS'}, ${chainText(chain)}, ${left}`;
  const fix = "Report the expiring certificate to the operator of the service, or check this machine's clock.";
  return [days >= 7 ? ok('tls', found) : warning('tls', found, fix), ...inspection(chain, baseUrl, proxy)];
}

/**
 * Performs a TLS handshake on a connection, and reports a certificate that is not accepted as the socket's
 * `authorizationError`: an aborted handshake would not show the chain.
 */
function handshake({ baseUrl, env, certificate }: NetworkPath, socket: Socket): Promise<TLSSocket> {
  const host = bareHost(baseUrl);
  const options = tlsOptions(env, certificate);
  return connected<TLSSocket>((done) => {
    const servername = isIP(host) === 0 ? host : '';
    const tls = connect({ socket, host, servername, rejectUnauthorized: false, ...options });
    return tls.on('error', done).once('secureConnect', () => done(tls));
  });
}

/** Returns the certificates that the server sent, its own first, and the authority above them where it is known. */
function chainOf(socket: TLSSocket): DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = [];
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (next?.raw !== undefined && chain.every(({ raw }) => raw !== next?.raw)) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

type Name = DetailedPeerCertificate['subject'];

function nameOf(name: Partial<Name> | undefined): string {
  return [name?.CN ?? name?.O ?? name?.OU ?? 'an unnamed certificate'].flat().join(', ');
}

/** Names each certificate of a chain, and the authority that issued the last one. */
function chainText(chain: readonly DetailedPeerCertificate[]): string {
  const names = chain.map(({ subject }) => nameOf(subject));
  const issuer = nameOf(chain.at(-1)?.issuer);
  if (names.length === 1 && names[0] === issuer) return `self-signed certificate of ${issuer}`;
  return `certificate of ${[...names, ...(names.at(-1) === issuer ? [] : [issuer])].join(', issued by ')}`;
}

/** Returns a warning if no publicly known authority issued the certificate. */
function inspection(chain: readonly DetailedPeerCertificate[], { hostname }: URL, proxy: Proxy | undefined): Finding[] {
  const known = new Set(rootCertificates.map((text) => new X509Certificate(text).fingerprint256));
  const top = chain.at(-1);
  if (top === undefined || known.has(top.fingerprint256)) return [];
  const who = proxy === undefined ? 'a device of your network' : `the proxy from ${proxy.variable}`;
  const found = `${nameOf(top.issuer)} is no public certificate authority: ${who} may be reading this connection, keys included`;
  const fix = `Ask your network's administrators to exempt ${hostname}, unless the service has its own certificate authority.`;
  return [warning('tls inspection', found, fix)];
}

/** Returns the finding for certificates that are not accepted. */
function refused(code: unknown, chain: readonly DetailedPeerCertificate[], proxy: Proxy | undefined): Finding {
  const finding = tlsFailed({ code: code instanceof Error && 'code' in code ? code.code : code });
  const where = proxy === undefined ? '' : `, through the proxy from ${proxy.variable}`;
  const found = `${finding.found}: ${chainText(chain)}${where}`;
  if (!finding.fix?.includes('inspects')) return { ...finding, found };
  return { ...finding, found, next: ['profile', 'set', 'certificates', 'system'] };
}

function tlsFailed(error: unknown): Finding {
  const { message, systemCode } = toTransportFailure(error, 'connect');
  return failed('tls', `${message} (${systemCode ?? 'unknown'})`, tlsHint(systemCode), 'network');
}
