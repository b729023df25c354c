import Client from 'undici/lib/dispatcher/client.js';
import type { Dispatcher } from 'undici';
import type { Environment } from '../system.ts';
import { answerFirst } from './answer-first.ts';
import { Connections, type Connector, openDirectly } from './connections.ts';
import { proxyFor } from './proxy.ts';

/** What one exchange is sent on. Nobody else uses it until it is given back. */
export interface Line {
  readonly dispatcher: Dispatcher;
  /** Whether an exchange went over it before: then its other end may be closed already. */
  readonly isReused: boolean;
  /** Gives the line back. One whose exchange did not end properly is closed, also if it is not open yet. */
  release(reusable: boolean): void;
}

/** The connections of one client. Closing it ends them all at once. */
export interface Transport {
  /** Whether only GET and HEAD can be sent. */
  readonly readOnly: boolean;
  /**
   * A line to the host of an address. `fresh` never reuses a connection: a request that must not run twice is not
   * put on one that may be half dead.
   * @throws SvcError `config` when the environment names a proxy that cannot be used
   */
  line(url: URL, fresh: boolean): Line;
  close(): Promise<void>;
}

/** Opens connections directly, or through the proxy that the environment names (R24). */
export function createTransport(environment: Environment = {}, readOnly = false): Transport {
  const direct = openDirectly();
  const open = new Set<OneLine>();
  return {
    readOnly,
    line(url, fresh) {
      proxyFor(url, environment);
      const idle = fresh ? undefined : Array.from(open).findLast((line) => line.isIdleTo(url.origin));
      const line = idle ?? new OneLine(url.origin, fresh, new Connections(environment, direct));
      open.add(line);
      line.take(() => open.delete(line));
      return line;
    },
    async close() {
      await Promise.all(Array.from(open, (line) => line.close()));
      open.clear();
    },
  };
}

/**
 * One connection at a time to one origin. The library's pool is not used: after an exchange was given up it connects
 * anew for nothing, and it cannot end a connection that is still being opened.
 */
class OneLine implements Line {
  readonly dispatcher: Dispatcher;
  readonly #origin: string;
  readonly #fresh: boolean;
  readonly #connections: Connections;
  isReused = false;
  #forget: (() => void) | undefined;

  constructor(origin: string, fresh: boolean, connections: Connections) {
    this.#origin = origin;
    this.#fresh = fresh;
    this.#connections = connections;
    const connect: Connector = answerFirst(connections.connect);
    // Our own watchdog bounds every stage exactly; the library's coarse timers stay out of the way.
    this.dispatcher = new Client(origin, {
      connect,
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: fresh ? 0 : 1,
    });
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
    this.#connections.giveUp();
    await this.dispatcher.destroy();
  }
}
