import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Clock, Environment } from '../../base/system.ts';
import { exchange } from '../../client/http/exchange.ts';
import { toTransportFailure, TransportFailure } from '../../client/http/failure.ts';
import { loadTunnel, type Proxy, proxyFor } from '../../client/http/proxy.ts';
import { machineAhead, TOLERATED_CLOCK_MS } from '../../client/http/request.ts';
import { createTransport } from '../../client/http/transport.ts';
import { displayHost, isLoopback } from '../../schema/address.ts';
import { failed, failedBy, type Finding, ok, skipped, warning } from './finding.ts';

export interface NetworkPath {
  readonly baseUrl: URL;
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly userAgent: string;
}

/** The time limit for each step, in milliseconds. */
const STEP_MS = 5_000;

/** Checks each step on the path to the service, in order, and skips the rest after a failure. */
export async function checkNetwork(path: NetworkPath): Promise<Finding[]> {
  const { proxy, finding } = proxyFinding(path);
  const findings = [finding];
  let socket: Socket | undefined;
  const steps: readonly (() => Promise<Finding[]>)[] = [
    async () => [await checkName(path, proxy)],
    async () => {
      const opened = await open(path, proxy);
      socket = opened.socket;
      return [opened.finding];
    },
    async () => [socket === undefined ? skipped('tls', 'no connection') : await checkTls(path, socket)],
    () => requestWithoutKey(path),
  ];
  try {
    for (const step of steps) {
      if (findings.some(({ result }) => result === 'failed')) break;
      findings.push(...(await within(step)));
    }
  } finally {
    socket?.destroy();
  }
  const checked = new Set(findings.map(({ check }) => check));
  const rest = ['dns', 'connect', 'tls', 'service', 'clock'].filter((name) => !checked.has(name));
  return [...findings, ...rest.map((name) => skipped(name, 'not checked after the failure above'))];
}

async function within(step: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof TransportFailure)) return [failedBy('service', error)];
    const hint = 'Check your network, then run the command again.';
    return [failedBy('service', new SvcError('network', error.message, { hint }))];
  }
}

const PROXY_VARIABLES = ['https_proxy', 'http_proxy', 'all_proxy', 'no_proxy'];

function proxyFinding({ baseUrl, env }: NetworkPath): { proxy?: Proxy | undefined; finding: Finding } {
  const set = PROXY_VARIABLES.flatMap((name) => [name, name.toUpperCase()]).filter((name) => env[name]);
  try {
    const proxy = proxyFor(baseUrl, env);
    if (proxy) return { proxy, finding: ok('proxy', `${proxy.url.host} (${proxy.variable})`) };
    const though = `, though ${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set`;
    return { finding: ok('proxy', set.length === 0 ? 'none' : `none for this host${though}`) };
  } catch (error) {
    return { finding: failedBy('proxy', error) };
  }
}

async function checkName({ baseUrl }: NetworkPath, proxy: Proxy | undefined): Promise<Finding> {
  const host = bareHost(proxy?.url ?? baseUrl);
  if (isIP(host) !== 0) return skipped('dns', `${host} is an IP address`);
  try {
    const found = await bounded(lookup(host, { all: true }));
    const addresses = found.slice(0, 3).map(({ address }) => address);
    return ok('dns', `${host} is ${addresses.join(', ')}`);
  } catch (error) {
    if (isSvcError(error)) return failedBy('dns', error);
    const code = toTransportFailure(error, 'connect').systemCode ?? 'unknown';
    const fix = proxy
      ? `Check ${proxy.variable}: its host does not resolve.`
      : "Check the base URL for a typo, and your network's DNS server.";
    return failed('dns', `${host} could not be resolved (${code})`, fix, 'network');
  }
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function bounded<T>(work: Promise<T>): Promise<T> {
  const limit = new Promise<never>((_, reject) => {
    const error = new SvcError('network', `no response within ${STEP_MS / 1000} s`, {
      hint: 'Check your network and proxy settings, then run the command again.',
    });
    setTimeout(() => reject(error), STEP_MS).unref();
  });
  return Promise.race([work, limit]);
}

async function open({ baseUrl }: NetworkPath, proxy: Proxy | undefined) {
  const port = Number(baseUrl.port || (baseUrl.protocol === 'https:' ? 443 : 80));
  const host = bareHost(baseUrl);
  try {
    const openTunnel = proxy && (await loadTunnel(proxy));
    const socket = await connected<Socket>((done) => {
      if (openTunnel) return openTunnel(`${baseUrl.hostname}:${port}`, done);
      const direct = connect({ host, port, autoSelectFamily: true });
      return direct.on('error', done).once('connect', () => done(direct));
    });
    return { socket, finding: ok('connect', `${host} port ${port}${proxy ? ', through the proxy' : ''}`) };
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
    const secured = await handshake(socket, bareHost(baseUrl));
    const { issuer, valid_to: validTo } = secured.getPeerCertificate();
    const authority = [issuer.O ?? issuer.CN ?? 'an unnamed authority'].flat().join(', ');
    const days = Math.floor((Date.parse(validTo) - clock.now()) / 86_400_000);
    const found = `${secured.getProtocol() ?? 'TLS'}, certificate of ${authority}, expires in ${days === 1 ? '1 day' : `${days} days`}`;
    if (days >= 7) return ok('tls', found);
    const fix = "Report the expiring certificate to the operator of the service, or check this machine's clock.";
    return warning('tls', found, fix);
  } catch (error) {
    return tlsFailed(error);
  }
}

/** Performs a TLS handshake on a connection, with the usual certificate checks. */
function handshake(socket: Socket, host: string): Promise<TLSSocket> {
  return connected<TLSSocket>((done) => {
    const servername = isIP(host) === 0 ? host : '';
    const tls = connectSecurely({ socket, host, servername, rejectUnauthorized: true });
    return tls.on('error', done).once('secureConnect', () => done(tls));
  });
}

function tlsFailed(error: unknown): Finding {
  const { message, systemCode } = toTransportFailure(error, 'connect');
  const aboutTime = /EXPIRED|NOT_YET_VALID/.test(systemCode ?? '');
  const fix = aboutTime
    ? "Check this machine's clock first; if it is right, the service has to fix its certificate."
    : 'If your network inspects TLS, set NODE_EXTRA_CA_CERTS to its certificate authority; otherwise do not trust this connection.';
  return failed('tls', `${message} (${systemCode ?? 'unknown'})`, fix, 'network');
}

/** Opens a connection within the time limit. Rejects with the system's error or a `TransportFailure`. */
function connected<S extends Socket>(open: (done: (result: S | Error) => void) => { destroy(): unknown }): Promise<S> {
  return new Promise((resolve, reject) => {
    const settle = (result: S | Error): void => {
      clearTimeout(timer);
      if (!(result instanceof Error)) return resolve(result);
      opening.destroy();
      reject(result);
    };
    const late = new TransportFailure('timeout', 'connect', `no response within ${STEP_MS / 1000} s`);
    const timer = setTimeout(() => settle(late), STEP_MS);
    const opening = open(settle);
  });
}

const LIMITS = { connect: STEP_MS, headers: STEP_MS, idle: STEP_MS, body: STEP_MS };

/** Sends a request without a key: any response proves that the service is reachable, and shows its clock. */
async function requestWithoutKey({ baseUrl, env, clock, signal, userAgent }: NetworkPath): Promise<Finding[]> {
  const transport = createTransport(env);
  try {
    const url = new URL(baseUrl);
    url.pathname = `${baseUrl.pathname.replace(/\/+$/, '')}/tenants/self`;
    const headers = { accept: 'application/json', 'user-agent': userAgent };
    const sentAt = clock.now();
    const answer = await exchange(transport, { method: 'GET', url, headers, limits: LIMITS, signal });
    const receivedAt = clock.now();
    answer.discard();
    const date = answer.header('date');
    return [
      serviceFinding(answer.status, answer.header('location'), url),
      date === undefined || Number.isNaN(Date.parse(date))
        ? skipped('clock', 'the service sends no date')
        : clockFinding(machineAhead(Date.parse(date), sentAt, receivedAt)),
    ];
  } finally {
    await transport.close();
  }
}

function serviceFinding(status: number, location: string | undefined, url: URL): Finding {
  const fix = 'Check the base URL: it should be the address of the API itself.';
  if (status === 401 || status === 403) return ok('service', `responds and requires a key (${status})`);
  if (status === 429) return warning('service', 'responds, but limits requests (429)', 'Wait a minute.');
  if (status >= 500) {
    const later = 'Try again later; the problem is with the service.';
    return failed('service', `responds with ${status}`, later, 'server');
  }
  if (status < 300 || status >= 400)
    return warning('service', `responds with ${status} without a key; expected 401`, fix);
  const isUrl = location !== undefined && URL.canParse(location, url.href);
  const to = isUrl ? ` to ${displayHost(new URL(location, url))}` : '';
  return failed('service', `redirects${to} (${status}); redirects are not followed`, fix, 'bad_response');
}

function clockFinding(aheadMs: number): Finding {
  if (Math.abs(aheadMs) <= TOLERATED_CLOCK_MS) return ok('clock', "matches the service's");
  const found = `${duration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's`;
  const fix =
    "Synchronize this machine's clock. svc uses the service's time, and archives record the difference, but certificates and other logs of this machine depend on it.";
  return warning('clock', found, fix);
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2) return `${Math.round(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
