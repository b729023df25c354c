// The typed client of the service.

import { SvcError } from '../../base/errors.ts';
import { type Clock, type Environment, systemClock } from '../../base/system.ts';
import { VERSION } from '../../base/version.ts';
import { isSafeAddress, readAddress } from '../../schema/address.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { bestEffort } from '../http/best-effort.ts';
import { type ApiKey, HttpCore } from '../http/core.ts';
import type { Trace } from '../http/trace.ts';
import { KNOWN_RATES, Pacer, type RateLedger } from '../http/pacer.ts';
import type { ApiRequest } from '../http/request.ts';
import type { TimeLimits } from '../http/watchdog.ts';
import type { ClientCertificate } from '../http/tls-options.ts';
import { createTransport, type Transport } from '../http/transport.ts';
import { AnyEndpoint } from './any-endpoint.ts';
import { Logs } from './logs.ts';
import { AccountUpdater, Tenant, ThreeDs } from './resources.ts';

/** The options of a client. Only `baseUrl` and the keys for the endpoints in use are required. */
export interface ClientOptions {
  /** https, or http on this machine. */
  readonly baseUrl: string | URL;
  /** The key for logs and the tenant. */
  readonly managementKey?: string | undefined;
  /** The key for 3-D Secure and the Account Updater. */
  readonly privateKey?: string | undefined;
  /** Finds a key on first use; replaces the two options above. */
  readonly key?: ((kind: KeyType) => Promise<ApiKey>) | undefined;
  /** Ends every request and pause when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** The longest single pause that a rate limit may cause, in milliseconds; 90 s by default. */
  readonly maxWaitMs?: number | undefined;
  /** Whether to respect the known rate limits; true by default. */
  readonly pacing?: boolean | undefined;
  /** A ledger shared by processes with the same key; by default each process counts for itself. */
  readonly rateLedger?: RateLedger | undefined;
  /** Whether all calls but reads fail before they reach the network. */
  readonly readOnly?: boolean | undefined;
  /** Called before each request that may change something, and before each upload. */
  readonly beforeChange?: (() => Promise<void>) | undefined;
  /** The environment for proxy variables; none by default. */
  readonly environment?: Environment | undefined;
  /** The client certificate for the host of the base URL. No other host receives it. */
  readonly clientCertificate?: ClientCertificate | undefined;
  readonly limits?: TimeLimits | undefined;
  readonly clock?: Clock | undefined;
  readonly trace?: Trace | undefined;
  /** Receives warnings about unusual responses. The same warning may come several times. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** Receives secrets from the queries of pre-signed addresses, for redaction. */
  readonly onSecret?: ((value: string) => void) | undefined;
}

/** The typed client of the service. Keeps connections open until `close`. */
export class Client {
  /** The connections, also used for files at pre-signed addresses. */
  readonly transport: Transport;
  readonly clock: Clock;
  /** Ends all work of this client when aborted. */
  readonly signal: AbortSignal;
  /** The longest single pause that a rate limit may cause, in milliseconds; 90 s if undefined. */
  readonly maxWaitMs: number | undefined;
  readonly baseUrl: URL;
  /** Redacts a value in all further output. */
  readonly addSecret: (value: string) => void;
  /** Warns that the service sends log entries outside the requested time. */
  readonly onIgnoredTimes: () => void;
  readonly logs: Logs;
  readonly tenant: Tenant;
  readonly accountUpdater: AccountUpdater;
  readonly threeDs: ThreeDs;
  /** Endpoints without a typed method. */
  readonly any: AnyEndpoint;
  readonly #core: HttpCore;
  readonly #trace: Trace | undefined;
  readonly #closing = new AbortController();

  constructor(options: ClientOptions) {
    const clock = options.clock ?? systemClock;
    this.clock = clock;
    this.signal = options.signal ?? new AbortController().signal;
    this.maxWaitMs = options.maxWaitMs;
    this.baseUrl = safeBase(options.baseUrl);
    this.addSecret = options.onSecret ?? ((): void => undefined);
    this.onIgnoredTimes = () => options.onWarning?.(IGNORED_TIMES);
    this.#trace = options.trace;
    const { clientCertificate: certificate } = options;
    const identity = certificate && { origin: this.baseUrl.origin, certificate };
    const { readOnly, beforeChange } = options;
    this.transport = createTransport(options.environment, { readOnly, beforeChange }, identity);
    this.#core = new HttpCore({
      baseUrl: this.baseUrl,
      key: options.key ?? givenKeys(options),
      transport: this.transport,
      clock,
      pacer: new Pacer(options.pacing === false ? [] : KNOWN_RATES, clock, options.rateLedger, options.maxWaitMs),
      userAgent: `svc/${VERSION}`,
      limits: options.limits,
      maxWaitMs: options.maxWaitMs,
      signal: AbortSignal.any([this.signal, this.#closing.signal]),
      trace: options.trace,
      onWarning: options.onWarning,
    });
    this.logs = new Logs(this.#core);
    this.tenant = new Tenant(this.#core);
    this.accountUpdater = new AccountUpdater(this.#core);
    this.threeDs = new ThreeDs(this.#core);
    this.any = new AnyEndpoint(this.#core);
  }

  /**
   * Sends a request of this API and returns the checked response.
   * @throws SvcError for every failure; the signal's reason when aborted
   */
  send<T>(request: ApiRequest<T>): Promise<T> {
    return this.#core.call(request);
  }

  /**
   * Makes optional reads, such as of names for a table. They neither fail nor delay the command: each is sent once, all
   * together take at most 2 s, and only the trace reports a failure. Not for reads on which money, a deletion or the use of
   * a key depends.
   * @returns what `read` returns, or its error
   */
  bestEffort<T>(read: (endpoints: BestEffortEndpoints) => Promise<T>): Promise<T | SvcError> {
    return bestEffort({ signal: this.signal, trace: this.#trace }, (timeLimit) => {
      const core = this.#core.bestEffort(timeLimit);
      return read({
        logs: new Logs(core),
        accountUpdater: new AccountUpdater(core),
        threeDs: new ThreeDs(core),
        any: new AnyEndpoint(core),
      });
    });
  }

  /** Returns the service's time in epoch milliseconds, known from its responses. */
  now(): number {
    return this.#core.serviceClock.now();
  }

  /** Returns the milliseconds by which this machine's clock is ahead of the service's; 0 if no response proves a difference. */
  machineAhead(): number {
    return this.#core.serviceClock.machineAhead;
  }

  /** Closes all connections and ends waiting requests. */
  close(): Promise<void> {
    this.#closing.abort(new SvcError('local', 'the client was closed'));
    return this.transport.close();
  }
}

const IGNORED_TIMES =
  'the service, or a cache before it, ignores start_date and end_date: svc reads more pages and leaves out what is outside the requested time';

type BestEffortEndpoints = Pick<Client, 'logs' | 'accountUpdater' | 'threeDs' | 'any'>;

function safeBase(base: string | URL): URL {
  const url = readAddress(String(base));
  if (url && isSafeAddress(url) && url.username === '' && url.password === '' && !url.href.includes('?')) return url;
  throw new SvcError(
    'config',
    'the base URL must be an https address (http only on this machine), without user, password or query',
  );
}

function givenKeys(options: ClientOptions): (kind: KeyType) => Promise<ApiKey> {
  return async (kind) => {
    const value = kind === 'management' ? options.managementKey : options.privateKey;
    if (!value)
      throw new SvcError('key_missing', `no ${kind} key was given`, { hint: `Give the client a ${kind}Key.` });
    if (!/^[!-~]+$/.test(value))
      throw new SvcError('config', `the option ${kind}Key contains a character that no key contains`);
    return { value, origin: `option ${kind}Key` };
  };
}
