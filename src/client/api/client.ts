import { SvcError } from '../../base/errors.ts';
import { type Clock, type Environment, systemClock } from '../../base/system.ts';
import { VERSION } from '../../base/version.ts';
import { isSafeAddress, readAddress } from '../../schema/address.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { type ApiKey, HttpCore } from '../http/core.ts';
import type { Trace } from '../http/exchange.ts';
import { KNOWN_RATES, Pacer, type RateLedger } from '../http/pacer.ts';
import type { ApiRequest } from '../http/request.ts';
import type { TimeLimits } from '../http/retry.ts';
import { createTransport, type Transport } from '../http/transport.ts';
import { AnyEndpoint } from './any-endpoint.ts';
import { Logs } from './logs.ts';
import { AccountUpdater, Tenant, ThreeDs } from './resources.ts';

/** How to reach the service. Only `baseUrl` and the keys of the endpoints that are used must be given. */
export interface ClientOptions {
  /** https, or http on this machine. */
  readonly baseUrl: string | URL;
  /** For logs and the tenant. */
  readonly managementKey?: string | undefined;
  /** For 3-D Secure and the Account Updater. */
  readonly privateKey?: string | undefined;
  /** Finds a key when it is first needed, in place of the two above. */
  readonly key?: ((kind: KeyType) => Promise<ApiKey>) | undefined;
  /** Ends every request and pause when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Longest single pause that a rate limit may ask for, in milliseconds; 90 s by default. */
  readonly maxWaitMs?: number | undefined;
  /** False sends as fast as the caller asks; by default the known rate limits are kept. */
  readonly pacing?: boolean | undefined;
  /** Where requests are counted, for processes that share a key; by default each process counts for itself. */
  readonly rateLedger?: RateLedger | undefined;
  /** Send nothing but reads: any other call fails before it reaches the network. */
  readonly readOnly?: boolean | undefined;
  /** Runs before each request that is no read, the uploads of files too. */
  readonly beforeChange?: (() => Promise<void>) | undefined;
  /** Where proxy variables are read from; none by default. */
  readonly environment?: Environment | undefined;
  readonly limits?: TimeLimits | undefined;
  readonly clock?: Clock | undefined;
  readonly trace?: Trace | undefined;
  /** Gets what must not be shown: all that the queries of pre-signed addresses contain. */
  readonly onSecret?: ((value: string) => void) | undefined;
}

/** The typed client of the service. Close it when done: it keeps connections open. */
export class Client {
  /** The connections, for files that go to and from pre-signed addresses. */
  readonly transport: Transport;
  readonly clock: Clock;
  /** Ends all work of this client when it aborts. */
  readonly signal: AbortSignal;
  /** Longest single pause that a rate limit may ask for, in milliseconds; 90 s when not given. */
  readonly maxWaitMs: number | undefined;
  readonly baseUrl: URL;
  /** Hides a value in all that is shown from now on. */
  readonly addSecret: (value: string) => void;
  readonly logs: Logs;
  readonly tenant: Tenant;
  readonly accountUpdater: AccountUpdater;
  readonly threeDs: ThreeDs;
  /** Endpoints that no resource describes. */
  readonly any: AnyEndpoint;
  readonly #core: HttpCore;
  readonly #closing = new AbortController();

  constructor(options: ClientOptions) {
    const clock = options.clock ?? systemClock;
    this.clock = clock;
    this.signal = options.signal ?? new AbortController().signal;
    this.maxWaitMs = options.maxWaitMs;
    this.baseUrl = safeBase(options.baseUrl);
    this.addSecret = options.onSecret ?? ((): void => undefined);
    this.transport = createTransport(options.environment, options);
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

  /** The service's time in milliseconds since the epoch, as its responses show it. */
  now(): number {
    return this.#core.serviceClock.now();
  }

  /** Ends all connections, and what still waits for its turn. */
  close(): Promise<void> {
    this.#closing.abort(new SvcError('local', 'the client was closed'));
    return this.transport.close();
  }
}

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
