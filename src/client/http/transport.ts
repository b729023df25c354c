// Opens and reuses connections.

import type { Duplex } from 'node:stream';
import { buildConnector, Client, type Dispatcher } from 'undici';
import type { Environment } from '../../base/system.ts';
import { type ClientCertificate, tlsOptions } from './tls-options.ts';
import { loadTunnel, type Proxy, proxyFor } from './proxy.ts';

/** A connection lent to one exchange, which alone uses it until `release`. */
export interface Lease {
  readonly dispatcher: Dispatcher;
  /** Whether an earlier exchange used the connection, so that the server may have closed it. */
  readonly isReused: boolean;
  /** The error that broke the connection, if any did. */
  brokenBy(): Error | undefined;
  /** Returns the connection. One that is not reusable is closed, even while it is still opening. */
  release(reusable: boolean): void;
}

/** Conditions for requests other than GET and HEAD. */
export interface ChangeGuard {
  /** Whether such requests fail before they are sent. */
  readonly readOnly?: boolean | undefined;
  readonly beforeChange?: (() => Promise<void>) | undefined;
}

/** The connections of one client. Closing it ends them all at once. */
export interface Transport {
  readonly guard: ChangeGuard;
  /**
   * Lends a connection to the host of an address. `fresh` opens a new one: a reused connection may be half closed, which
   * leaves unclear whether a request ran.
   * @throws SvcError `config` when the environment names a proxy or certificate authorities that cannot be used
   */
  acquire(url: URL, fresh: boolean): Lease;
  close(): Promise<void>;
}

/** A client certificate, and the one server that it is shown to: no store, proxy or collector gets it. */
export interface Identity {
  readonly origin: string;
  readonly certificate: ClientCertificate;
}

/** Opens connections directly, or through the proxy that the environment names (R24). */
export function createTransport(
  environment: Environment = {},
  guard: ChangeGuard = {},
  identity?: Identity,
): Transport {
  // The watchdog limits the time. NODE_TLS_REJECT_UNAUTHORIZED=0 would by default disable certificate checks, and an
  // impostor could receive a key (R64).
  let secure: Connector | undefined;
  let identified: Connector | undefined;
  const plain = buildConnector({ timeout: 0, rejectUnauthorized: true });
  const connector = (certificate?: ClientCertificate): Connector =>
    buildConnector({ timeout: 0, rejectUnauthorized: true, ...tlsOptions(environment, certificate) });
  const direct: Connector = (options, callback) => {
    // Plain connections need no certificate authorities.
    if (options.protocol !== 'https:') return plain(options, callback);
    if (identity !== undefined && addressOf(options).origin === identity.origin)
      return (identified ??= connector(identity.certificate))(options, callback);
    return (secure ??= connector())(options, callback);
  };
  const open = new Set<Connection>();
  return {
    guard,
    acquire(url, fresh) {
      proxyFor(url, environment);
      if (url.protocol === 'https:') tlsOptions(environment);
      const idle = fresh ? undefined : Array.from(open).findLast((one) => one.isIdleTo(url.origin));
      const lease = idle ?? new Connection(url.origin, fresh, environment, direct);
      open.add(lease);
      lease.take(() => open.delete(lease));
      return lease;
    },
    async close() {
      await Promise.all(Array.from(open, (one) => one.close()));
      open.clear();
    },
  };
}

/**
 * One connection to one origin. undici's pool is not used: it reconnects needlessly after an abandoned exchange and cannot
 * close a connection that is still opening. undici's proxy agent is not used either: it retries a proxy that hangs up
 * without a pause, and leaves half-open connections behind.
 */
class Connection implements Lease {
  readonly dispatcher: Dispatcher;
  readonly #origin: string;
  readonly #fresh: boolean;
  readonly #environment: Environment;
  readonly #direct: Connector;
  readonly #opening = new Set<Opening>();
  #givenUp = false;
  isReused = false;
  #forget: (() => void) | undefined;
  #brokenBy: Error | undefined;

  constructor(origin: string, fresh: boolean, environment: Environment, direct: Connector) {
    this.#origin = origin;
    this.#fresh = fresh;
    this.#environment = environment;
    this.#direct = direct;
    const connect = preferResponse(
      (options, callback) => this.#connect(options, callback),
      (error) => {
        this.#brokenBy = error;
      },
    );
    // Our own watchdog limits every stage exactly, so undici's coarse timers are switched off.
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
    this.#givenUp = true;
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
    if (this.#givenUp) return;
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

type WriteDone = (error?: Error | null) => void;

// A response, if any, is already in the receive buffer; this limits the wait when there is none.
const READ_MS = 1_000;

/**
 * Opens connections so that an early response is not lost. A server that refuses a long body responds and closes. The
 * next write then fails, and Node would destroy the socket before reading that response (R38).
 */
function preferResponse(connector: Connector, onBroken: (error: Error | undefined) => void): Connector {
  return (options, callback) => {
    connector(options, (...[error, socket]) => {
      if (error === null) {
        // This listener precedes undici's own, so that the error is known when undici reacts to it.
        onBroken(undefined);
        socket.on('error', onBroken);
        // Node reports a reset that arrives with the last bytes as a plain end. The remote address tells them apart: a
        // connection that was reset has none. Node caches the address, so it must not be read earlier.
        socket.once('end', () => socket.remoteAddress ?? onBroken(resetByPeer()));
        holdWriteErrors(socket);
        callback(null, socket);
      } else callback(error, null);
    });
  };
}

function resetByPeer(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

/** Delays the error of a failed write until everything received before it was read. */
function holdWriteErrors(socket: Duplex): void {
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, held(socket, done));
  if (writev) socket._writev = (chunks, done) => writev(chunks, held(socket, done));
}

function held(socket: Duplex, done: WriteDone): WriteDone {
  return (error) => {
    if (!isLostPeer(error) || socket.readableEnded || socket.destroyed) return done(error);
    const report = (): void => {
      clearTimeout(timer);
      socket.off('end', report).off('close', report);
      done(error);
    };
    const timer = setTimeout(report, READ_MS);
    socket.once('end', report).once('close', report);
  };
}

function isLostPeer(error: Error | null | undefined): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}
