import type { Duplex } from 'node:stream';
import { buildConnector, Client, type Dispatcher } from 'undici';
import type { Environment } from '../../base/system.ts';
import { loadTunnel, type Proxy, proxyFor } from './proxy.ts';

/** What one exchange is sent on. Nobody else uses it until it is given back. */
export interface Lease {
  readonly dispatcher: Dispatcher;
  /** Whether an exchange went over it before: then its other end may be closed already. */
  readonly isReused: boolean;
  /** The error that broke the connection, if any did. */
  brokenBy(): Error | undefined;
  /** Gives it back. One whose exchange did not end properly is closed, also if it is not open yet. */
  release(reusable: boolean): void;
}

/** What stands before requests that are neither GET nor HEAD. */
export interface ChangeGuard {
  /** They cannot be sent. */
  readonly readOnly?: boolean | undefined;
  readonly beforeChange?: (() => Promise<void>) | undefined;
}

/** The connections of one client. Closing it ends them all at once. */
export interface Transport {
  readonly guard: ChangeGuard;
  /**
   * A lease of a connection to the host of an address. `fresh` never reuses a connection: a request that must not run twice is not
   * put on one that may be half dead.
   * @throws SvcError `config` when the environment names a proxy that cannot be used
   */
  acquire(url: URL, fresh: boolean): Lease;
  close(): Promise<void>;
}

/** Opens connections directly, or through the proxy that the environment names (R24). */
export function createTransport(environment: Environment = {}, guard: ChangeGuard = {}): Transport {
  // Without a time limit of its own. By default NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the check of certificates off,
  // and a key would go to an impostor (R64).
  const direct = buildConnector({ timeout: 0, rejectUnauthorized: true });
  const open = new Set<PooledConnection>();
  return {
    guard,
    acquire(url, fresh) {
      proxyFor(url, environment);
      const idle = fresh ? undefined : Array.from(open).findLast((one) => one.isIdleTo(url.origin));
      const lease = idle ?? new PooledConnection(url.origin, fresh, environment, direct);
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
 * One connection at a time to one origin. The library's pool is not used: after an exchange was given up it connects
 * again for nothing, and it cannot end a connection that is still being opened. Nor is its proxy agent: it asks a proxy
 * that hangs up again and again without a pause, and leaves its half-open connections behind.
 */
class PooledConnection implements Lease {
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
    // Our own watchdog bounds every stage exactly; the library's coarse timers stay out of the way.
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
    // What is not open yet would hold the process up until the system's own time limit.
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
    const openTunnel = await loadTunnel(proxy);
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

// The response, if there is one, lies in the receive buffer already: this bounds the wait for nothing.
const READ_MS = 1_000;

/**
 * Opens connections so that an early response is not lost. A server that refuses a long body says so and closes; the
 * next write then fails, and Node would drop the socket with the response unread in it (R38).
 */
function preferResponse(connector: Connector, onBroken: (error: Error | undefined) => void): Connector {
  return (options, callback) => {
    connector(options, (...[error, socket]) => {
      if (error === null) {
        // Ahead of undici's own listener, so that the error is known when undici acts on it.
        onBroken(undefined);
        socket.on('error', onBroken);
        // A reset that comes with the last bytes is reported as a plain end. Only the system knows: a connection that was
        // ended still has another side, one that was reset has none. (Asked once; an earlier answer would be kept.)
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

/** Reports a failed write only once what had been received before it was read. */
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
