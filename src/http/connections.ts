import buildConnector from 'undici/lib/core/connect.js';
import type { Environment } from '../system.ts';
import { type Proxy, proxyFor } from './proxy.ts';

/** Opens a connection and tells of it through a callback, once. */
export type Connector = buildConnector.connector;

type Callback = buildConnector.Callback;
type Options = buildConnector.Options;

/** A connection, or a step towards it, that can be given up. */
interface Opening {
  destroy(): unknown;
}

/**
 * Opens direct connections, without a time limit of its own; TLS sessions are resumed. Certificates are always checked:
 * by default NODE_TLS_REJECT_UNAUTHORIZED=0 would turn that off, and a key would go to an impostor (R64).
 */
export function openDirectly(): Connector {
  return buildConnector({ timeout: 0, rejectUnauthorized: true });
}

/**
 * Opens the connections of one line, directly or through a proxy. The library's own proxy agent is not used: it
 * asks a proxy that hangs up again and again without a pause, and leaves its half-open connections behind.
 */
export class Connections {
  readonly #environment: Environment;
  readonly #opening = new Set<Opening>();
  readonly #direct: Connector;
  #givenUp = false;

  constructor(environment: Environment, direct: Connector) {
    this.#environment = environment;
    this.#direct = direct;
  }

  /** Opens one connection. */
  readonly connect: Connector = (options, callback) => {
    const proxy = proxyFor(addressOf(options), this.#environment);
    if (proxy) void this.#throughProxy(proxy, options, callback);
    else this.#open(options, callback);
  };

  /** Gives up what is not open yet: it would hold the process up until the system's own time limit. */
  giveUp(): void {
    this.#givenUp = true;
    for (const opening of this.#opening) opening.destroy();
    this.#opening.clear();
  }

  #open(options: Options, callback: Callback): void {
    this.#track((done) => this.#direct(options, done), callback);
  }

  async #throughProxy(proxy: Proxy, options: Options, callback: Callback): Promise<void> {
    // Loaded only where there is a proxy.
    const { openTunnel } = await import('./tunnel.ts');
    if (this.#givenUp) return;
    const { hostname, port } = addressOf(options);
    const target = `${hostname}:${port || (options.protocol === 'https:' ? 443 : 80)}`;
    this.#track(
      (done) =>
        openTunnel(proxy, target, (result) =>
          result instanceof Error ? done(result, null) : done(null, result),
        ),
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

function addressOf({ protocol, host, hostname, port }: Options): URL {
  return new URL(`${protocol}//${host ?? `${hostname}:${port}`}`);
}

function isOpening(value: unknown): value is Opening {
  return typeof value === 'object' && value !== null && 'destroy' in value;
}
