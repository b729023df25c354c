import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { SvcError } from '../../base/errors.ts';
import { countText } from '../../cli/output/number.ts';
import { type Proxy, proxyFor } from '../../client/http/proxy.ts';
import { tlsOptions } from '../../client/http/tls-options.ts';
import { exchangeFailure, tlsHint, toTransportFailure, TransportFailure } from '../../client/http/transport-failure.ts';
import { loadTunnel } from '../../client/http/tunnel.ts';
import { isLoopback } from '../../schema/address.ts';
import { DAY_MS } from '../../schema/durations.ts';
import { chainOf, chainText, isPublicAuthority, nameOf } from './chain.ts';
import { type Check, type CheckOutcome, fail, type Finding, findingsOf, skip, warn } from './check.ts';
import {
  clockOutcome,
  type KeylessResponse,
  type NetworkPath,
  requestWithoutKey,
  serviceOutcome,
  STEP_MS,
} from './keyless-request.ts';

/** A certificate that expires within fewer days gets a warning. */
const MIN_CERTIFICATE_DAYS = 7;

/** Checks each step on the path to the service, in order. Skips the steps after a failure. */
export async function checkNetwork(path: NetworkPath): Promise<Finding[]> {
  const steps = new NetworkSteps(path);
  const findings: Finding[] = [];
  try {
    for (const step of steps.checks()) {
      const hasFailed = findings.some(({ result }) => result === 'failed');
      // This check reports nothing unless it warns, so it is not reported as skipped either.
      if (hasFailed && step.name === 'tls inspection') continue;
      const tried: Check = hasFailed ? { ...step, try: () => skip('not checked after the failure above') } : step;
      findings.push(...(await findingsOf(tried)));
    }
  } finally {
    steps.end();
  }
  return findings;
}

/**
 * The checks of each step on the path to the service. Later steps use the connection that earlier steps opened. Meanwhile a
 * request without a key is under way, whose response the last steps need.
 */
class NetworkSteps {
  readonly #path: NetworkPath;
  readonly #end = new AbortController();
  #proxy: Proxy | undefined;
  #socket: Socket | undefined;
  #chain: readonly DetailedPeerCertificate[] = [];
  readonly #requested: Promise<KeylessResponse>;

  constructor(path: NetworkPath) {
    this.#path = path;
    this.#requested = requestWithoutKey({ ...path, signal: AbortSignal.any([path.signal, this.#end.signal]) });
    // The failure must not count as unhandled when an earlier step fails.
    this.#requested.catch(() => undefined);
  }

  checks(): Check[] {
    const { hostname } = this.#path.baseUrl;
    return [
      { name: 'proxy', try: () => this.#tryProxy() },
      { name: 'connect', try: () => this.#tryConnection() },
      {
        name: 'tls',
        cure: "Report the expiring certificate to the operator of the service, or check this machine's clock.",
        try: () => this.#tryTls(),
      },
      {
        name: 'tls inspection',
        cure: `Ask your network's administrators to exempt ${hostname}, unless the service has its own certificate authority.`,
        try: () => this.#tryAuthority(),
      },
      {
        name: 'service',
        cure: 'Check the base URL: it should be the address of the API itself.',
        try: async () => serviceOutcome(await this.#requested),
      },
      {
        name: 'clock',
        cure: "Synchronize this machine's clock. svc uses the service's time, and archives record the difference, but certificates and other logs of this machine depend on it.",
        try: async () => clockOutcome(await this.#requested),
      },
    ];
  }

  end(): void {
    this.#socket?.destroy();
    this.#end.abort();
  }

  #tryProxy(): string {
    const { baseUrl, env } = this.#path;
    this.#proxy = proxyFor(baseUrl, env);
    if (this.#proxy) return `${this.#proxy.url.host} (${this.#proxy.variable})`;
    const set = PROXY_VARIABLES.flatMap((name) => [name, name.toUpperCase()]).filter((name) => env[name]);
    const though = `, though ${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set`;
    return set.length === 0 ? 'none' : `none for this host${though}`;
  }

  async #tryConnection(): Promise<CheckOutcome | string> {
    const { baseUrl, env } = this.#path;
    const port = Number(baseUrl.port || (baseUrl.protocol === 'https:' ? 443 : 80));
    const host = bareHost(baseUrl);
    const proxy = this.#proxy;
    try {
      const openTunnel = proxy && (await loadTunnel(proxy, env));
      this.#socket = await connected<Socket>((done) => {
        if (openTunnel) return openTunnel(`${baseUrl.hostname}:${port}`, done);
        const direct = connect({ host, port, autoSelectFamily: true });
        return direct.on('error', done).once('connect', () => done(direct));
      });
      return `${host} port ${port}${proxy ? ', through the proxy' : ''}`;
    } catch (error) {
      const failure = exchangeFailure(error, 'connect');
      if (failure instanceof SvcError) throw failure;
      const fix = proxy
        ? `Check ${proxy.variable} with its user and password, or add the host to NO_PROXY.`
        : 'Check the base URL for a typo, your DNS server and the firewall; if your network needs a proxy, set HTTPS_PROXY.';
      return fail('network', `${host}: ${withCode(failure)}`, fix);
    }
  }

  /** Checks the certificates on the connection, and names their chain. */
  async #tryTls(): Promise<CheckOutcome | string> {
    const { baseUrl, clock } = this.#path;
    if (baseUrl.protocol !== 'https:') return skip(isLoopback(baseUrl) ? 'plain http on this machine' : 'plain http');
    if (this.#socket === undefined) return skip('no connection');
    const secured = await handshake(this.#path, this.#socket).catch((error: unknown) => {
      throw tlsFailure(error);
    });
    this.#chain = chainOf(secured);
    // The handshake accepts any certificate. Nothing was sent over this connection, and `end` closes it.
    if (!secured.authorized) throw this.#certificateError(secured.authorizationError);
    const days = Math.floor((Date.parse(this.#chain[0]?.valid_to ?? '') - clock.now()) / DAY_MS);
    const found = `${secured.getProtocol() ?? 'TLS'}, ${chainText(this.#chain)}, expires in ${countText(days, 'day')}`;
    return days >= MIN_CERTIFICATE_DAYS ? found : warn(found);
  }

  /** Returns the error for certificates that are not accepted, with their chain. */
  #certificateError(reason: unknown): SvcError {
    const error = tlsFailure({ code: reason instanceof Error && 'code' in reason ? reason.code : reason });
    const where = this.#proxy === undefined ? '' : `, through the proxy from ${this.#proxy.variable}`;
    const next = error.hint?.includes('inspects') ? ['profile', 'set', 'certificates', 'system'] : undefined;
    return error.with({ message: `${error.message}: ${chainText(this.#chain)}${where}`, next });
  }

  /** Warns if no publicly known authority issued the certificate. */
  #tryAuthority(): CheckOutcome | undefined {
    const top = this.#chain.at(-1);
    if (top === undefined || isPublicAuthority(top)) return undefined;
    const who = this.#proxy === undefined ? 'a device of your network' : `the proxy from ${this.#proxy.variable}`;
    return warn(
      `${nameOf(top.issuer)} is no public certificate authority: ${who} may be reading this connection, keys included`,
    );
  }
}

const PROXY_VARIABLES = ['https_proxy', 'http_proxy', 'all_proxy', 'no_proxy'];

/** Returns the host without the brackets that a URL puts around an IPv6 address. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
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
    const timeout = new TransportFailure('timeout', 'connect', `no response within ${STEP_MS / 1000} s`);
    const timer = setTimeout(() => settle(timeout), STEP_MS);
    const opening = open(settle);
  });
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
    const tls = connectTls({ socket, host, servername, rejectUnauthorized: false, ...options });
    return tls.on('error', done).once('secureConnect', () => done(tls));
  });
}

function tlsFailure(error: unknown): SvcError {
  const failure = toTransportFailure(error, 'connect');
  return new SvcError('network', withCode(failure), { hint: tlsHint(failure.systemCode) });
}

function withCode({ message, systemCode }: TransportFailure): string {
  return systemCode === undefined ? message : `${message} (${systemCode})`;
}
