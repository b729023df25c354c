import { SvcError } from '../../base/errors.ts';
import { type Clock, type Environment, systemClock } from '../../base/system.ts';
import { VERSION } from '../../base/version.ts';
import { isSafeAddress, readAddress } from '../../schema/address.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { bestEffort } from '../http/best-effort.ts';
import { type ApiKey, HttpCore } from '../http/core.ts';
import type { Trace } from '../http/exchange.ts';
import { KNOWN_RATES, Pacer, type RateLedger } from '../http/pacer.ts';
import type { ApiRequest } from '../http/request.ts';
import type { TimeLimits } from '../http/retry.ts';
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
  /** Ends every request and pause when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** The longest single pause that a rate limit may cause, in milliseconds; 90 s by default. */
  readonly maxWaitMs?: number | undefined;
  /** Whether to respect the known rate limits; true by default. */
  readonly pacing?: boolean | undefined;
  /** A ledger shared by processes with the same key; by default each process counts for itself. */
  readonly rateLedger?: RateLedger | undefined;
  /** Whether all calls but reads fail before they reach the network. */
  readonly readOnly?: boolean | undefined;
  /** Called before each request that is no read, including uploads. */
  readonly beforeChange?: (() => Promise<void>) | undefined;
  /** The environment for proxy variables; none by default. */
  readonly environment?: Environment | undefined;
  /** Shown to the host of the base URL, and to no other one. */
  readonly clientCertificate?: ClientCertificate | undefined;
  readonly limits?: TimeLimits | undefined;
  readonly clock?: Clock | undefined;
  readonly trace?: Trace | undefined;
  /** Receives a sentence for what is unusual about the service and is no error. It may come several times. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** Receives secrets from the queries of pre-signed addresses, for redaction. */
  readonly onSecret?: ((value: string) => void) | undefined;
}

/** The typed client of the service. It keeps connections open until it is closed. */
export class Client {
  /** The connections, for files that go to and from pre-signed addresses. */
  readonly transport: Transport;
  readonly clock: Clock;
  /** Ends all work of this client when aborted. */
  readonly signal: AbortSignal;
  /** The longest single pause that a rate limit may cause, in milliseconds; 90 s if undefined. */
  readonly maxWaitMs: number | undefined;
  readonly baseUrl: URL;
  /** Redacts a value in all further output. */
  readonly addSecret: (value: string) => void;
  /** Reports that the service sends log entries outside the requested time. */
  readonly onIgnoredTimes: () => void;
  readonly logs: Logs;
  readonly tenant: Tenant;
  readonly accountUpdater: AccountUpdater;
  readonly threeDs: ThreeDs;
  /** Endpoints that no resource describes. */
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
    this.transport = createTransport(options.environment, options, identity);
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
   * Sends a request of this API and gives the response in its shape.
   * @throws SvcError for every failure; the signal's reason when it aborts
   */
  send<T>(request: ApiRequest<T>): Promise<T> {
    return this.#core.call(request);
  }

  /**
   * Makes reads that only add to what a command prints, such as names. They neither fail nor delay the command: each is sent
   * once, all together take at most 2 s, and only the trace reports a failure. Reads on which money, a deletion or the use
   * of a key depends are not made this way.
   * @returns what `read` returns, or its error
   */
  bestEffort<T>(read: (endpoints: BestEffortEndpoints) => Promise<T>): Promise<T | SvcError> {
    return bestEffort({ signal: this.signal, trace: this.#trace }, (over) => {
      const core = this.#core.bestEffort(over);
      return read({
        logs: new Logs(core),
        accountUpdater: new AccountUpdater(core),
        threeDs: new ThreeDs(core),
        any: new AnyEndpoint(core),
      });
    });
  }

  /** Returns the service's time in milliseconds since the epoch, learned from its responses. */
  now(): number {
    return this.#core.serviceClock.now();
  }

  /** Returns the milliseconds by which this machine's clock is ahead of the service's; 0 where no response proves it. */
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

/** The endpoints that best-effort reads use. */
type BestEffortEndpoints = Pick<Client, 'logs' | 'accountUpdater' | 'threeDs' | 'any'>;

function safeBase(base: string | URL): URL {
  const url = readAddress(String(base));
  if (url && isSafeAddress(url) && url.username === '' && url.password === '') return url;
  throw new SvcError(
    'config',
    'the base URL must be an https address (http only on this machine), without user or password',
  );
}

function givenKeys(options: ClientOptions): (kind: KeyType) => Promise<ApiKey> {
  return async (kind) => {
    const value = kind === 'management' ? options.managementKey : options.privateKey;
    if (value) return { value, origin: `option ${kind}Key` };
    throw new SvcError('key_missing', `no ${kind} key was given`, { hint: `Give the client a ${kind}Key.` });
  };
}
