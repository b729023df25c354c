// Sends a request of the API: key, pace, retries, time limits and errors.

import { isUtf8 } from 'node:buffer';
import { setMaxListeners } from 'node:events';
import { isSvcError } from '../../base/errors.ts';
import { exactText } from '../../base/json/exact.ts';
import { formsOf } from '../../base/security/redact.ts';
import type { Clock } from '../../base/system.ts';
import type { KeyType } from '../../schema/tenant.ts';
import { type Effect, isRead } from './effect.ts';
import { decoded } from './encoding.ts';
import { exchange, type ExchangeRequest, type Trace, traced } from './exchange.ts';
import { abortedError, type CallFacts, effectOf, noResponseError, redirectError, refusalError, unreadableError } from './api-errors.ts';
import { TransportFailure } from './transport-failure.ts';
import type { PacedRequest, Pacer } from './pacer.ts';
import { type ApiRequest, buildUrl, ServiceClock } from './request.ts';
import {
  type AnyResponse,
  readAnyResponse,
  readProblem,
  type ReadResponse,
  readResponse,
  requestIdOf,
} from './response.ts';
import {
  API_LIMITS,
  isTransient,
  type RetryableFailure,
  retryAfterMs,
  RetryQuota,
  type TimeLimits,
  withRetry,
} from './retry.ts';
import type { Transport } from './transport.ts';

/** A key and its origin, for messages. */
export interface ApiKey {
  readonly value: string;
  readonly origin: string;
}

/** The dependencies and settings of the core. */
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
  /** Receives a sentence about an unusual but successful response. */
  readonly onWarning?: ((text: string) => void) | undefined;
}

const KEY_HEADER = 'svc-api-key';
/** The status of a partial body, which no request of the API asks for. */
const PARTIAL = 206;
const MAX_BODY = 64 * 1024 * 1024;
const MAX_ERROR_BODY = 64 * 1024;
/** How many members of another type one warning names. */
const MAX_NAMED_MEMBERS = 5;
const NOT_UTF8 = 'a response contains bytes that are not UTF-8; each is shown as U+FFFD';
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Sends all requests to the service, with key, time limits, retries and pacing, and reports errors in plain words. */
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
   * Returns a core for optional reads. Sends each read once, until `over` aborts. A refusal does not delay other requests, and
   * pauses are not reported.
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
   * Calls an endpoint and gives its response in the request's shape.
   * @throws SvcError for every failure; the signal's reason when it aborts
   */
  async call<T>(request: ApiRequest<T>): Promise<T> {
    return (await this.callWithText(request)).value;
  }

  /** Like `call`, but also returns the text of the response, and the bytes of a response that is not UTF-8. */
  async callWithText<T>(request: ApiRequest<T>): Promise<{ value: T; text: string; bytes: Buffer | undefined }> {
    const succeeding = this.#succeed(request);
    // The shape loads while the request is under way.
    const loading = new Promise(setImmediate).then(() =>
      typeof request.shape === 'function' ? request.shape() : request.shape,
    );
    // Nobody awaits the shape of a failed request, so a failure to load the shape must not be unhandled.
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

  async #succeed(request: ApiRequest<unknown>): Promise<{ facts: CallFacts; response: ReadResponse; key: string }> {
    const { trace, baseUrl } = this.#options;
    const key = await this.#options.key(request.key);
    const url = buildUrl(baseUrl, request.path, request.query);
    const facts: CallFacts = { request, url, keyOrigin: key.origin, hide: this.#hiderOf(key.value) };
    const outgoing = this.#outgoing(facts, key.value);
    const response = await withRetry((index) => this.#attempt(facts, outgoing, index), {
      ...this.#options,
      attempts: this.#options.isBestEffort === true ? 1 : request.attempts,
      quota: this.#quota,
      onWait: (ms, { error }) => {
        const isLimit = isSvcError(error) && error.status === 429;
        const noResponse = isSvcError(error, 'network') && error.status === undefined ? error.message : undefined;
        trace?.({ kind: 'wait', why: isLimit ? 'rate limit' : 'retry', ms, noResponse });
      },
    });
    this.#quota.refill();
    return { facts, response, key: key.value };
  }

  /** Warns of members that have another type than documented, of each member once. */
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

  async #attempt(
    facts: CallFacts,
    outgoing: ExchangeRequest,
    index: number,
  ): Promise<{ value: ReadResponse } | RetryableFailure> {
    if (index > 0) await facts.request.beforeRepeat?.();
    const outcome = await this.#send(facts, outgoing, index);
    const effect = effectOf(facts, outcome);
    const mayRepeat = isTransient(outcome) && effect === 'no';
    if ('failure' in outcome) {
      const error = noResponseError(facts, outcome.failure, effect);
      if (mayRepeat) return { error };
      throw error;
    }
    if (outcome.status === PARTIAL) throw partialError(facts, outcome);
    if (outcome.status < 300) return { value: outcome };
    const error = failedError(facts, outcome, effect);
    const askedMs = this.#askedPause(facts, outcome);
    // The service would refuse other requests with this key too, so delays them even if this request is given up.
    if (outcome.status === 429 && this.#options.isBestEffort !== true)
      this.#options.pacer.hold(pacedBy(facts.request, outgoing), askedMs ?? 0);
    if (mayRepeat) return { error, askedMs };
    throw error;
  }

  #askedPause({ request }: CallFacts, response: ReadResponse): number | undefined {
    const requestedMs = retryAfterMs(response.header('retry-after'), this.serviceClock.now());
    if (requestedMs !== undefined || response.status !== 429) return requestedMs;
    return this.#options.pacer.blockMs(request);
  }

  /** Sends once, paced and traced. Rejects only with the signal's reason, or for an unusable proxy. */
  async #send(
    facts: CallFacts,
    outgoing: ExchangeRequest,
    attempt: number,
  ): Promise<ReadResponse | { readonly failure: TransportFailure }> {
    const { clock, pacer, signal, trace } = this.#options;
    const ended = await pacer.take(pacedBy(facts.request, outgoing), signal, (ms) =>
      trace?.({ kind: 'wait', why: 'pacing', ms }),
    );
    let sent = false;
    const onSent = (): void => {
      sent = true;
    };
    const work = (): Promise<ReadResponse> => this.#read(facts, { ...outgoing, onSent });
    try {
      return await traced(outgoing, { clock, trace, attempt }, requestIdOf, work);
    } catch (error) {
      if (error instanceof TransportFailure) return { failure: error };
      throw sent ? abortedError(facts, error) : error;
    } finally {
      ended();
    }
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

  async #read({ hide }: CallFacts, outgoing: ExchangeRequest): Promise<ReadResponse> {
    const sentAt = this.#options.clock.now();
    const response = await exchange(this.#options.transport, outgoing);
    this.serviceClock.learn(response.header('date'), sentAt);
    const { status } = response;
    const isError = status >= 300;
    const limit = isError ? MAX_ERROR_BODY : MAX_BODY;
    const body = await response.read(limit);
    if (body.failure && !isError) throw body.failure;
    const encoding = response.header('content-encoding');
    const plain =
      encoding === undefined
        ? { bytes: body.bytes, complete: true }
        : await decoded(body.bytes, encoding, { limit, isPartial: isError });
    const { bytes, complete } = 'problem' in plain ? { bytes: Buffer.alloc(0), complete: false } : plain;
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
    const isDamaged = !isError && !isUtf8(bytes);
    if (isDamaged) this.#options.onWarning?.(NOT_UTF8);
    return {
      status,
      bytes: isDamaged ? bytes.subarray(bytes.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0) : undefined,
      text: isError ? hide(text) : text,
      complete: complete && body.complete,
      unreadable: 'problem' in plain ? plain.problem : undefined,
      // A server on the way may echo the request, including the key.
      header: (name) => {
        const value = response.header(name);
        return value === undefined ? undefined : hide(value);
      },
      headers: () => response.headers().map(([name, value]) => [name, hide(value)]),
    };
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

/** Returns a function that removes the key from a text. Must run before the text is cut, which could leave a part of the key. */
function hiderOf(key: string): (text: string) => string {
  const forms = key === '' ? [] : [key, ...formsOf(key)];
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, '(the key)'), text);
}

function partialError(facts: CallFacts, response: ReadResponse): Error {
  const details = { status: response.status, requestId: requestIdOf(response) };
  return unreadableError(facts, 'it is only a part, and a part was not requested', details);
}

function failedError(facts: CallFacts, { status, text, header }: ReadResponse, effect: Effect): Error {
  const problem = readProblem(text, header('content-type'));
  const requestId = requestIdOf({ header }) ?? problem.requestId;
  return status < 400
    ? redirectError(facts, status, { location: header('location'), requestId, effect })
    : refusalError(facts, status, { ...problem, requestId }, effect);
}
