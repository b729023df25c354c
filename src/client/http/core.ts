// Calls endpoints of the service: adds the key, keeps to the rate limits, repeats attempts and explains failures.

import { setMaxListeners } from 'node:events';
import { isSvcError } from '../../base/errors.ts';
import { exactText } from '../../base/json/exact.ts';
import { formsOf } from '../../base/security/redact.ts';
import type { Clock } from '../../base/system.ts';
import type { KeyType } from '../../schema/tenant.ts';
import {
  abortedError,
  type CallFacts,
  noResponseError,
  redirectError,
  refusalError,
  unreadableError,
} from './api-errors.ts';
import { type Effect, isRead, originOf, tookEffect } from './effect.ts';
import { exchange, type ExchangeRequest } from './exchange.ts';
import { requestIdOf } from './foreign-text.ts';
import type { PacedRequest, Pacer } from './pacer.ts';
import { readProblem } from './problem.ts';
import { type ApiRequest, buildUrl } from './request.ts';
import { type AnyResponse, readAnyResponse, type ReadResponse, readResponse, readWhole } from './response.ts';
import { isTransient, type RetryableFailure, retryAfterMs, RetryQuota, withRetry } from './retry.ts';
import { ServiceClock } from './service-clock.ts';
import { type Trace, traced } from './trace.ts';
import { TransportFailure } from './transport-failure.ts';
import type { Transport } from './transport.ts';
import { API_LIMITS, type TimeLimits } from './watchdog.ts';

/** A key and its origin, for messages. */
export interface ApiKey {
  readonly value: string;
  readonly origin: string;
}

export interface CoreOptions {
  readonly baseUrl: URL;
  readonly key: (kind: KeyType) => Promise<ApiKey>;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly pacer: Pacer;
  readonly userAgent: string;
  readonly random?: (() => number) | undefined;
  /** The maximum pause for a rate limit, in milliseconds. */
  readonly maxWaitMs?: number | undefined;
  readonly limits?: TimeLimits | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly trace?: Trace | undefined;
  /** Whether to send each request only once, and not to delay other requests after a refusal. */
  readonly isBestEffort?: boolean | undefined;
  readonly onWarning?: ((text: string) => void) | undefined;
}

const KEY_HEADER = 'svc-api-key';
/** The status of a partial body. No request to the service asks for a part. */
const PARTIAL = 206;
/** The maximum number of members that one warning names. */
const MAX_NAMED_MEMBERS = 5;
const NOT_UTF8 = 'a response contains bytes that are not UTF-8; each is shown as U+FFFD';

/** The response to an attempt, or the failure of an attempt without a response. */
type Outcome = ReadResponse | { readonly failure: TransportFailure };

/** Sends all requests of a client to the service. */
export class HttpCore {
  readonly serviceClock: ServiceClock;
  readonly #options: CoreOptions;
  readonly #quota = new RetryQuota();
  readonly #hiders = new Map<string, CallFacts['hide']>();
  readonly #namedMembers: Set<string>;

  constructor(
    options: CoreOptions,
    serviceClock = new ServiceClock(options.clock),
    namedMembers: Set<string> = new Set(),
  ) {
    this.#options = options;
    this.#namedMembers = namedMembers;
    // Without this, Node warns of a leak when many requests listen to this signal.
    if (options.signal) setMaxListeners(0, options.signal);
    this.serviceClock = serviceClock;
  }

  /**
   * Returns a core for optional reads, which sends each read once. The reads end when `over` aborts. A refusal does not delay
   * other requests, and pauses are not traced.
   */
  bestEffort(over: AbortSignal): HttpCore {
    const { signal = over, trace } = this.#options;
    const withoutPauses: Trace = (event) => (event.kind === 'wait' ? undefined : trace?.(event));
    const signals = AbortSignal.any([signal, over]);
    return new HttpCore(
      { ...this.#options, signal: signals, trace: withoutPauses, isBestEffort: true },
      this.serviceClock,
      this.#namedMembers,
    );
  }

  /**
   * Calls an endpoint, and returns its response in the shape of the request.
   * @throws SvcError for every failure; the signal's reason when it aborts
   */
  async call<T>(request: ApiRequest<T>): Promise<T> {
    return (await this.callWithText(request)).value;
  }

  /** Like `call`, but also returns the text of the response, and the bytes of a response that is not UTF-8. */
  async callWithText<T>(request: ApiRequest<T>): Promise<{ value: T; text: string; bytes: Buffer | undefined }> {
    const succeeding = this.#succeed(request);
    // Loads the shape while the request is under way.
    const loading = new Promise(setImmediate).then(() =>
      typeof request.shape === 'function' ? request.shape() : request.shape,
    );
    // If the request fails, nobody awaits the shape, so a failure to load the shape must not be unhandled.
    loading.catch(() => undefined);
    const { facts, response } = await succeeding;
    const value = readResponse(facts, await loading, response, (members) => this.#warnOfTypes(members));
    return { value, text: response.text, bytes: response.bytes };
  }

  /**
   * Like `call`, for an endpoint whose response has no known shape.
   * @throws SvcError for every failure, also for a response that is neither JSON nor empty
   */
  async callAny(request: Omit<ApiRequest<unknown>, 'shape'>): Promise<AnyResponse> {
    const { facts, response } = await this.#succeed(request);
    return readAnyResponse(facts, response);
  }

  /** Repeats attempts until one succeeds. */
  async #succeed(request: ApiRequest<unknown>): Promise<{ facts: CallFacts; response: ReadResponse }> {
    const { baseUrl, isBestEffort = false } = this.#options;
    const key = await this.#options.key(request.key);
    const url = buildUrl(baseUrl, request.path, request.query);
    const facts: CallFacts = { request, url, keyOrigin: key.origin, hide: this.#hiderOf(key.value) };
    const outgoing = this.#outgoing(facts, key.value);
    const response = await withRetry((index) => this.#attempt(facts, outgoing, index), {
      ...this.#options,
      attempts: isBestEffort ? 1 : request.attempts,
      quota: this.#quota,
      onWait: (ms, { error }) => this.#traceRetry(ms, error),
    });
    this.#quota.refill();
    return { facts, response };
  }

  #traceRetry(ms: number, error: Error): void {
    const isLimit = isSvcError(error) && error.status === 429;
    const noResponse = isSvcError(error, 'network') && error.status === undefined ? error.message : undefined;
    this.#options.trace?.({ kind: 'wait', why: isLimit ? 'rate limit' : 'retry', ms, noResponse });
  }

  /** Warns once of each member that has another type than documented. */
  #warnOfTypes(members: readonly string[]): void {
    const newNames = members.filter((name) => !this.#namedMembers.has(name));
    if (newNames.length === 0) return;
    for (const name of newNames) this.#namedMembers.add(name);
    const names =
      newNames.slice(0, MAX_NAMED_MEMBERS).join(', ') + (newNames.length > MAX_NAMED_MEMBERS ? ' and others' : '');
    this.#options.onWarning?.(`members of another type than documented, shown as the service sent them: ${names}`);
  }

  #hiderOf(key: string): CallFacts['hide'] {
    const hide = this.#hiders.get(key) ?? hiderOf(key);
    this.#hiders.set(key, hide);
    return hide;
  }

  /** Makes one attempt. Returns its success, or a failure that may be repeated. @throws SvcError for any other failure */
  async #attempt(
    facts: CallFacts,
    outgoing: ExchangeRequest,
    index: number,
  ): Promise<{ value: ReadResponse } | RetryableFailure> {
    if (index > 0) await facts.request.beforeRepeat?.();
    const outcome = await this.#send(facts, outgoing, index);
    const effect = effectOf(outgoing.method, outcome);
    const mayRepeat = effect === 'no' && isTransient(outcome);
    if ('failure' in outcome) {
      const error = noResponseError(facts, outcome.failure, effect);
      if (mayRepeat) return { error };
      throw error;
    }
    if (outcome.status === PARTIAL) throw partialError(facts, outcome);
    if (outcome.status < 300) return { value: outcome };
    const error = statusError(facts, outcome, effect);
    const requestedMs = this.#requestedPause(facts, outcome);
    // The service would refuse other requests with this key too, so delays them even if this request is given up.
    if (outcome.status === 429 && this.#options.isBestEffort !== true)
      this.#options.pacer.hold(pacedBy(facts.request, outgoing), requestedMs ?? 0);
    if (mayRepeat) return { error, requestedMs };
    throw error;
  }

  #requestedPause({ request }: CallFacts, response: ReadResponse): number | undefined {
    const requestedMs = retryAfterMs(response.header('retry-after'), this.serviceClock.now());
    if (requestedMs !== undefined || response.status !== 429) return requestedMs;
    return this.#options.pacer.blockMs(request);
  }

  /** Waits for the pacer, then sends once. Rejects only with the signal's reason, or for a failure of this machine. */
  async #send(facts: CallFacts, outgoing: ExchangeRequest, attempt: number): Promise<Outcome> {
    const { clock, pacer, signal, trace } = this.#options;
    const ended = await pacer.take(pacedBy(facts.request, outgoing), signal, (ms) =>
      trace?.({ kind: 'wait', why: 'pacing', ms }),
    );
    let sent = false;
    const onSent = (): void => {
      sent = true;
    };
    const exchangeNow = (): Promise<ReadResponse> => this.#exchange(facts, { ...outgoing, onSent });
    try {
      return await traced(outgoing, { clock, trace, attempt }, exchangeNow);
    } catch (error) {
      if (error instanceof TransportFailure) return { failure: error };
      throw sent ? abortedError(facts, error) : error;
    } finally {
      ended();
    }
  }

  async #exchange({ hide }: CallFacts, outgoing: ExchangeRequest): Promise<ReadResponse> {
    const { clock, transport, onWarning } = this.#options;
    const sentAt = clock.now();
    const response = await exchange(transport, outgoing);
    this.serviceClock.learn(response.header('date'), sentAt);
    const read = await readWhole(response, hide);
    if (read.bytes) onWarning?.(NOT_UTF8);
    return read;
  }

  #outgoing({ request, url }: CallFacts, key: string): ExchangeRequest {
    const { userAgent, limits = API_LIMITS, signal } = this.#options;
    const body = request.body === undefined ? undefined : exactText(request.body);
    const headers = {
      accept: 'application/json',
      'accept-encoding': request.method === 'GET' ? 'gzip' : 'identity',
      'user-agent': userAgent,
      [KEY_HEADER]: key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const fresh = !isRead(request.method);
    return { method: request.method, url, headers, body, limits, signal, fresh };
  }
}

/** A group of related endpoints. */
export class Endpoints {
  protected readonly core: HttpCore;

  constructor(core: HttpCore) {
    this.core = core;
  }
}

function pacedBy({ key, path }: ApiRequest<unknown>, { headers }: ExchangeRequest): PacedRequest {
  return { key, path, secret: headers[KEY_HEADER] };
}

/** Returns a function that removes the key from a text. Texts must not be cut before, which could leave a part of the key. */
function hiderOf(key: string): (text: string) => string {
  const forms = key === '' ? [] : [key, ...formsOf(key)];
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, '(the key)'), text);
}

/** Returns whether a request took effect, by its response or its failure. */
function effectOf(method: string, outcome: Outcome): Effect {
  if ('failure' in outcome) return tookEffect({ method, share: outcome.failure.sent ? 'all' : 'none' });
  const response = { status: outcome.status, origin: originOf('service', outcome) };
  return tookEffect({ method, share: 'all', response });
}

function partialError(facts: CallFacts, response: ReadResponse): Error {
  const details = { status: response.status, requestId: requestIdOf(response.header) };
  return unreadableError(facts, 'it is only a part, and a part was not requested', details);
}

/** Returns the error for a response with a status from 300 up. */
function statusError(facts: CallFacts, { status, text, header }: ReadResponse, effect: Effect): Error {
  const problem = readProblem(text, header('content-type'));
  const requestId = requestIdOf(header) ?? problem.requestId;
  return status < 400
    ? redirectError(facts, status, { location: header('location'), requestId, effect })
    : refusalError(facts, status, { ...problem, requestId }, effect);
}
