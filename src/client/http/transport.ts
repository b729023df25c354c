// Opens and reuses connections.

import { buildConnector, Client, type Dispatcher } from 'undici';
import type { Environment } from '../../base/system.ts';
import { keepEarlyResponse } from './early-response.ts';
import { type Proxy, proxyFor } from './proxy.ts';
import { type ClientCertificate, tlsOptions } from './tls-options.ts';
import { loadTunnel } from './tunnel.ts';

/** A connection that a single exchange uses until `release`. */
export interface Lease {
  readonly dispatcher: Dispatcher;
  /** Whether an earlier exchange used the connection, so that the server may have closed it. */
  readonly isReused: boolean;
  /** Returns the error that broke the connection, if any. */
  brokenBy(): Error | undefined;
  /** Ends the use of the connection, and closes it unless it is reusable. */
  release(reusable: boolean): void;
}

/** Conditions for requests other than GET and HEAD. */
export interface ChangeGuard {
  /** Whether such requests fail before they are sent. */
  readonly readOnly?: boolean | undefined;
  readonly beforeChange?: (() => Promise<void>) | undefined;
}

export interface Transport {
  readonly guard: ChangeGuard;
  /**
   * Returns a connection to the host of an address; a new one if `fresh`. The server may have closed a reused connection, which
   * leaves unknown whether it received a request.
   * @throws SvcError `config` for a proxy or certificate authorities that cannot be used
   */
  acquire(url: URL, fresh: boolean): Lease;
  /** Closes all connections at once, also while they are in use. */
  close(): Promise<void>;
}

/** A client certificate for a single server. No store, proxy or collector gets it. */
export interface Identity {
  readonly origin: string;
  readonly certificate: ClientCertificate;
}

/** Returns a transport that connects directly, or through the proxy that the environment names (R24). */
export function createTransport(
  environment: Environment = {},
  guard: ChangeGuard = {},
  identity?: Identity,
): Transport {
  const direct = directConnector(environment, identity);
  const open = new Set<Connection>();
  return {
    guard,
    acquire(url, fresh) {
      proxyFor(url, environment);
      if (url.protocol === 'https:') tlsOptions(environment);
      const idle = fresh ? undefined : Array.from(open).findLast((connection) => connection.isIdleTo(url.origin));
      const lease = idle ?? new Connection(url.origin, fresh, environment, direct);
      open.add(lease);
      lease.take(() => open.delete(lease));
      return lease;
    },
    async close() {
      await Promise.all(Array.from(open, (connection) => connection.close()));
      open.clear();
    },
  };
}

function connector(tls: ReturnType<typeof tlsOptions>): Connector {
  // By default, NODE_TLS_REJECT_UNAUTHORIZED=0 would disable certificate checks, and an impostor could get a key (R64).
  return buildConnector({ timeout: 0, rejectUnauthorized: true, ...tls });
}

/** Returns a connector without a proxy. Loads certificates only for the first connection that needs them. */
function directConnector(environment: Environment, identity: Identity | undefined): Connector {
  const plain = connector({});
  let secure: Connector | undefined;
  let identified: Connector | undefined;
  return (options, callback) => {
    if (options.protocol !== 'https:') return plain(options, callback);
    if (identity === undefined || addressOf(options).origin !== identity.origin)
      return (secure ??= connector(tlsOptions(environment)))(options, callback);
    return (identified ??= connector(tlsOptions(environment, identity.certificate)))(options, callback);
  };
}

/**
 * A connection to one server. svc does not use undici's pool, which reconnects after an abandoned exchange and cannot close a
 * connection that is still opening, nor undici's proxy agent, which retries a proxy that hangs up without a pause and leaves
 * half-open connections.
 */
class Connection implements Lease {
  readonly dispatcher: Dispatcher;
  readonly #origin: string;
  readonly #fresh: boolean;
  readonly #environment: Environment;
  readonly #direct: Connector;
  readonly #opening = new Set<Opening>();
  #isClosed = false;
  isReused = false;
  /** Removes the connection from its transport; undefined while the connection is idle. */
  #forget: (() => void) | undefined;
  #brokenBy: Error | undefined;

  constructor(origin: string, fresh: boolean, environment: Environment, direct: Connector) {
    this.#origin = origin;
    this.#fresh = fresh;
    this.#environment = environment;
    this.#direct = direct;
    const connect = keepEarlyResponse(
      (options, callback) => this.#connect(options, callback),
      (error) => {
        this.#brokenBy = error;
      },
    );
    // The watchdog limits the time of every stage, so undici's own timers are off.
    this.dispatcher = new Client(origin, { connect, headersTimeout: 0, bodyTimeout: 0, pipelining: fresh ? 0 : 1 });
  }

  brokenBy(): Error | undefined {
    return this.#brokenBy;
  }

  isIdleTo(origin: string): boolean {
    return this.#forget === undefined && this.#origin === origin;
  }

  take(forget: () => void): void {
    this.#forget = forget;
  }

  release(reusable: boolean): void {
    const forget = this.#forget;
    this.#forget = undefined;
    this.isReused = true;
    if (forget === undefined || (reusable && !this.#fresh)) return;
    forget();
    void this.close();
  }

  async close(): Promise<void> {
    // A connection that is still opening would keep the process alive until the system gives up.
    this.#isClosed = true;
    for (const opening of this.#opening) opening.destroy();
    this.#opening.clear();
    await this.dispatcher.destroy();
  }

  #connect(options: Options, callback: Callback): void {
    const proxy = proxyFor(addressOf(options), this.#environment);
    if (proxy) void this.#throughProxy(proxy, options, callback);
    else this.#open(options, callback);
  }

  #open(options: Options, callback: Callback): void {
    this.#track((done) => this.#direct(options, done), callback);
  }

  async #throughProxy(proxy: Proxy, options: Options, callback: Callback): Promise<void> {
    const openTunnel = await loadTunnel(proxy, this.#environment);
    if (this.#isClosed) return;
    const { hostname, port } = addressOf(options);
    const target = `${hostname}:${port || (options.protocol === 'https:' ? 443 : 80)}`;
    this.#track(
      (done) => openTunnel(target, (result) => (result instanceof Error ? done(result, null) : done(null, result))),
      (...[error, socket]) => {
        if (error !== null) callback(error, null);
        else if (options.protocol === 'https:') this.#open({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
    );
  }

  /** Keeps what `open` returns until it is done, so that `close` can destroy it. */
  #track(open: (done: Callback) => unknown, callback: Callback): void {
    const opening = open((...result) => {
      if (isOpening(opening)) this.#opening.delete(opening);
      callback(...result);
    });
    if (isOpening(opening)) this.#opening.add(opening);
  }
}

type Connector = buildConnector.connector;
type Callback = buildConnector.Callback;
type Options = buildConnector.Options;
type Opening = { destroy(): unknown };

function addressOf({ protocol, host, hostname, port }: Options): URL {
  return new URL(`${protocol}//${host ?? `${hostname}:${port}`}`);
}

function isOpening(value: unknown): value is Opening {
  return typeof value === 'object' && value !== null && 'destroy' in value;
}
