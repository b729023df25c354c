import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely, type PeerCertificate, type TLSSocket } from 'node:tls';
import { isSvcError, SvcError } from '../errors.ts';
import { loadTunnel, type Proxy, proxyFor } from '../http/proxy.ts';
import { toTransportFailure, TransportFailure } from '../http/failure.ts';
import { isLoopback } from '../security/address.ts';
import type { Clock, Environment } from '../system.ts';
import { failed, failedBy, type Finding, ok, skipped, timeUp, warning } from './finding.ts';
import { requestWithoutKey } from './service.ts';

/** What the checks of the network path need. */
export interface NetworkPath {
  readonly baseUrl: URL;
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly userAgent: string;
}

/** How long each step may take, in milliseconds. */
const STEP_MS = 5_000;

const NAMES = ['https_proxy', 'http_proxy', 'all_proxy', 'no_proxy'];

/** Checks each step on the path to the service, in order. After a failure the rest is skipped. */
export async function checkNetwork(path: NetworkPath): Promise<Finding[]> {
  const { proxy, finding } = proxyFinding(path);
  const findings = [finding];
  const rest = ['dns', 'connect', 'tls', 'service', 'clock'];
  let socket: Socket | undefined;
  const steps: readonly (() => Promise<Finding[]>)[] = [
    async () => [await checkName(path, proxy)],
    async () => {
      const opened = await open(path, proxy);
      if (!('socket' in opened)) return [opened.finding];
      ({ socket } = opened);
      return [opened.finding];
    },
    async () => [socket === undefined ? skipped('tls', 'no connection') : await checkTls(path, socket)],
    async () => requestWithoutKey(path),
  ];
  try {
    for (const step of steps) {
      if (findings.some(({ result }) => result === 'failed')) break;
      findings.push(...(await within(step)));
    }
  } finally {
    socket?.destroy();
  }
  const reported = new Set(findings.map(({ check }) => check));
  return [
    ...findings,
    ...rest
      .filter((name) => !reported.has(name))
      .map((name) => skipped(name, 'not checked after the failure above')),
  ];
}

function proxyFinding({ baseUrl, env }: NetworkPath): { proxy?: Proxy | undefined; finding: Finding } {
  const set = NAMES.flatMap((name) => [name, name.toUpperCase()]).filter((name) => env[name]);
  try {
    const proxy = proxyFor(baseUrl, env);
    if (proxy) return { proxy, finding: ok('proxy', `${proxy.url.host} (${proxy.variable})`) };
    const why =
      set.length === 0
        ? 'none'
        : `none for this host, though ${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set`;
    return { finding: ok('proxy', why) };
  } catch (error) {
    return { finding: failedBy('proxy', error) };
  }
}

async function checkName({ baseUrl }: NetworkPath, proxy: Proxy | undefined): Promise<Finding> {
  const host = (proxy?.url ?? baseUrl).hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return skipped('dns', `${host} is an IP address`);
  try {
    const found = await bounded(lookup(host, { all: true }));
    return ok(
      'dns',
      `${host} is ${found
        .map(({ address }) => address)
        .slice(0, 3)
        .join(', ')}`,
    );
  } catch (error) {
    if (isSvcError(error)) return failedBy('dns', error);
    const code = toTransportFailure(error, 'connect').systemCode ?? 'unknown';
    const fix = proxy
      ? `Check ${proxy.variable}: its host does not resolve.`
      : "Check the base URL for a typo, and your network's DNS server.";
    return failed('dns', `${host} could not be resolved (${code})`, fix, 'network');
  }
}

async function open(
  path: NetworkPath,
  proxy: Proxy | undefined,
): Promise<{ socket: Socket; finding: Finding } | { finding: Finding }> {
  const { baseUrl } = path;
  const port = Number(baseUrl.port || (baseUrl.protocol === 'https:' ? 443 : 80));
  const host = baseUrl.hostname.replace(/^\[|\]$/g, '');
  try {
    const socket = proxy
      ? await throughProxy(proxy, `${baseUrl.hostname}:${port}`, STEP_MS)
      : await connectTo(host, port, STEP_MS);
    const by = proxy ? `, through the proxy` : '';
    return { socket, finding: ok('connect', `${host} port ${port}${by}`) };
  } catch (error) {
    return { finding: connectFailed(error, proxy) };
  }
}

function connectFailed(error: unknown, proxy: Proxy | undefined): Finding {
  const failure = error instanceof TransportFailure ? error : toTransportFailure(error, 'connect');
  const code = failure.systemCode === undefined ? '' : ` (${failure.systemCode})`;
  const fix = proxy
    ? `Check ${proxy.variable} with its user and password, or add the host to NO_PROXY.`
    : 'Check the base URL and the firewall; if your network needs a proxy, set HTTPS_PROXY.';
  return failed('connect', failure.message + code, fix, 'network');
}

async function checkTls({ baseUrl, clock }: NetworkPath, socket: Socket): Promise<Finding> {
  if (baseUrl.protocol !== 'https:')
    return skipped('tls', isLoopback(baseUrl) ? 'plain http on this machine' : 'plain http');
  try {
    const { protocol, issuer, validTo } = await handshake(socket, baseUrl.hostname, STEP_MS);
    const days = Math.floor((validTo - clock.now()) / 86_400_000);
    const found = `${protocol}, certificate of ${issuer}, expires in ${days} days`;
    return days < 7
      ? warning(
          'tls',
          found,
          "Tell the operator of the service that its certificate expires soon, or check this machine's clock.",
        )
      : ok('tls', found);
  } catch (error) {
    return tlsFailed(error);
  }
}

function tlsFailed(error: unknown): Finding {
  const { message, systemCode } = toTransportFailure(error, 'connect');
  const aboutTime = /EXPIRED|NOT_YET_VALID/.test(systemCode ?? '');
  const fix = aboutTime
    ? "Check this machine's clock first; if it is right, the service has to fix its certificate."
    : 'If your network inspects TLS, set NODE_EXTRA_CA_CERTS to its certificate authority; otherwise do not trust this connection.';
  return failed('tls', `${message} (${systemCode ?? 'unknown'})`, fix, 'network');
}

async function within(step: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await step();
  } catch (error) {
    return [failedBy('service', error instanceof SvcError ? error : toSvcError(error))];
  }
}

function toSvcError(error: unknown): unknown {
  if (!(error instanceof TransportFailure)) return error;
  return new SvcError('network', error.message, { hint: 'Check your network, then run the command again.' });
}

function bounded<T>(work: Promise<T>): Promise<T> {
  const limit = new Promise<never>((_, reject) => {
    setTimeout(() => reject(timeUp(STEP_MS / 1000)), STEP_MS).unref();
  });
  return Promise.race([work, limit]);
}

/** The result of a TLS handshake. `validTo` in milliseconds since the epoch. */
export interface Handshake {
  readonly protocol: string;
  readonly issuer: string;
  readonly validTo: number;
}

/** Opens a connection, with a timeout of `ms`. Rejects with the system's error or a `TransportFailure`. */
function connectTo(host: string, port: number, ms: number): Promise<Socket> {
  return connectedWithin(ms, (done) => {
    const socket = connect({ host, port, autoSelectFamily: true });
    socket.on('error', done).once('connect', () => done(socket));
    return socket;
  });
}

/** Opens a tunnel through a proxy to `target` (host and port), with a timeout of `ms`. */
async function throughProxy(proxy: Proxy, target: string, ms: number): Promise<Socket> {
  const openTunnel = await loadTunnel(proxy);
  return connectedWithin(ms, (done) => openTunnel(target, done));
}

/** Performs a TLS handshake on a connection, with the usual certificate checks. */
async function handshake(socket: Socket, host: string, ms: number): Promise<Handshake> {
  const name = host.replace(/^\[|\]$/g, '');
  const secured = await connectedWithin<TLSSocket>(ms, (done) => {
    const servername = isIP(name) === 0 ? name : '';
    const tls = connectSecurely({ socket, host: name, servername, rejectUnauthorized: true });
    tls.on('error', done).once('secureConnect', () => done(tls));
    return tls;
  });
  const certificate = secured.getPeerCertificate();
  return {
    protocol: secured.getProtocol() ?? 'TLS',
    issuer: issuerOf(certificate),
    validTo: Date.parse(certificate.valid_to),
  };
}

function issuerOf({ issuer }: PeerCertificate): string {
  const { O: organization, CN: name } = issuer;
  return [organization ?? name ?? 'an unnamed authority'].flat().join(', ');
}

function connectedWithin<S extends Socket>(
  ms: number,
  open: (done: (result: S | Error) => void) => { destroy(): unknown },
): Promise<S> {
  return new Promise((resolve, reject) => {
    const settle = (result: S | Error): void => {
      clearTimeout(timer);
      if (!(result instanceof Error)) return resolve(result);
      opening.destroy();
      reject(result);
    };
    const timer = setTimeout(
      () => settle(new TransportFailure('timeout', 'connect', `no response within ${ms / 1000} s`)),
      ms,
    );
    const opening = open(settle);
  });
}
