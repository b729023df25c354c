import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { SvcError } from '../../base/errors.ts';
import { exchange } from '../../client/http/exchange.ts';
import { exchangeFailure, tlsHint, TransportFailure } from '../../client/http/failure.ts';
import { loadTunnel, type Proxy, proxyFor } from '../../client/http/proxy.ts';
import { machineAhead, TOLERATED_CLOCK_MS } from '../../client/http/request.ts';
import { createTransport } from '../../client/http/transport.ts';
import { displayHost } from '../../schema/address.ts';
import { ALL_STEPS_MS, bareHost, connected, type NetworkPath, STEP_MS } from './connection.ts';
import { checkTls } from './tls.ts';
import { failed, failedBy, type Finding, ok, skipped, warning } from './finding.ts';

/**
 * Checks each step on the path to the service, in order, and skips the rest after a failure. The request without a key needs
 * no other step, so it is sent at once.
 */
export async function checkNetwork(path: NetworkPath): Promise<Finding[]> {
  const { proxy, finding } = proxyFinding(path);
  const findings = [finding];
  let socket: Socket | undefined;
  const over = new AbortController();
  const requested =
    finding.result === 'failed'
      ? undefined
      : within(() => requestWithoutKey({ ...path, signal: AbortSignal.any([path.signal, over.signal]) }));
  // Its outcome does not count where an earlier step fails.
  requested?.catch(() => undefined);
  const lateAt = path.clock.now() + ALL_STEPS_MS;
  const steps: readonly (() => Promise<Finding[]>)[] = [
    async () => [await checkName(path, proxy)],
    async () => {
      const opened = await open(path, proxy);
      socket = opened.socket;
      return [opened.finding];
    },
    async () => (socket === undefined ? [skipped('tls', 'no connection')] : await checkTls(path, proxy, socket)),
    async () => (await requested) ?? [],
  ];
  try {
    for (const step of steps) {
      if (findings.some(({ result }) => result === 'failed')) break;
      if (path.clock.now() > lateAt) {
        const late = `not reached within ${ALL_STEPS_MS / 1000} s`;
        findings.push(failed('service', late, 'Run the command again when the network is faster.', 'network'));
        break;
      }
      findings.push(...(await within(step)));
    }
  } finally {
    socket?.destroy();
    over.abort();
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
    const isTls = error.kind === 'tls';
    const hint = isTls ? tlsHint(error.systemCode) : 'Check your network, then run the command again.';
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
    const failure = exchangeFailure(error, 'connect');
    if (failure instanceof SvcError) return failedBy('dns', failure);
    const code = failure.systemCode ?? 'unknown';
    const fix = proxy
      ? `Check ${proxy.variable}: its host does not resolve.`
      : "Check the base URL for a typo, and your network's DNS server.";
    return failed('dns', `${host} could not be resolved (${code})`, fix, 'network');
  }
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

async function open({ baseUrl, env }: NetworkPath, proxy: Proxy | undefined) {
  const port = Number(baseUrl.port || (baseUrl.protocol === 'https:' ? 443 : 80));
  const host = bareHost(baseUrl);
  try {
    const openTunnel = proxy && (await loadTunnel(proxy, env));
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
  const failure = exchangeFailure(error, 'connect');
  if (failure instanceof SvcError) return failedBy('connect', failure);
  const code = failure.systemCode === undefined ? '' : ` (${failure.systemCode})`;
  const fix = proxy
    ? `Check ${proxy.variable} with its user and password, or add the host to NO_PROXY.`
    : 'Check the base URL and the firewall; if your network needs a proxy, set HTTPS_PROXY.';
  return failed('connect', failure.message + code, fix, 'network');
}

const LIMITS = { connect: STEP_MS, headers: STEP_MS, idle: STEP_MS, body: STEP_MS };

/** Sends a request without a key: any response proves that the service is reachable, and shows its clock. */
async function requestWithoutKey(path: NetworkPath): Promise<Finding[]> {
  const { baseUrl, env, clock, signal, userAgent, certificate } = path;
  const transport = createTransport(env, {}, certificate && { origin: baseUrl.origin, certificate });
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
