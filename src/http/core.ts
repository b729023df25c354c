import { setMaxListeners } from 'node:events';
import { isSvcError, SvcError } from '../errors.ts';
import type { Clock } from '../system.ts';
import { exchange, type ExchangeRequest, type Trace } from './exchange.ts';
import {
  type CallFacts,
  networkError,
  readProblem,
  redirectError,
  refusalError,
  unclearError,
} from './refusal.ts';
import {
  type ApiRequest,
  buildUrl,
  type KeyType,
  type Pacer,
  repeatableOf,
  ServiceClock,
  type Shape,
} from './request.ts';
import {
  type AnyResponse,
  readAnyResponse,
  type ReadResponse,
  readResponse,
  requestIdOf,
} from './response.ts';
import {
  API_LIMITS,
  isUnclear,
  mayRetry,
  type RetryableFailure,
  retryAfterMs,
  RetryQuota,
  type TimeLimits,
  withRetry,
} from './retry.ts';
import { TransportFailure } from './transport-failure.ts';
import type { Transport } from './transport.ts';

/** A key and where it came from, for messages. */
export interface ApiKey {
  readonly value: string;
  readonly origin: string;
}

/** What the core is made of. */
export interface CoreOptions extends SenderOptions {
  readonly baseUrl: URL;
  readonly key: (kind: KeyType) => Promise<ApiKey>;
  readonly random?: (() => number) | undefined;
  /** Longest single pause that a rate limit may ask for, in milliseconds. */
  readonly maxWaitMs?: number | undefined;
}

/** The one way to the service's endpoints: key, time limits, retries, pacing, and errors in plain words. */
export class HttpCore {
  readonly serviceClock: ServiceClock;
  readonly #options: CoreOptions;
  readonly #sender: Sender;
  readonly #quota = new RetryQuota();

  constructor(options: CoreOptions) {
    this.#options = options;
    this.serviceClock = new ServiceClock(options.clock);
    this.#sender = new Sender(options, this.serviceClock);
  }

  /**
   * Calls an endpoint and gives its answer in the request's shape.
   * @throws SvcError for every failure; the signal's reason when it aborts
   */
  async call<T>(request: ApiRequest<T>): Promise<T> {
    return (await this.callWithText(request)).value;
  }

  /** The same, with the text that the value came in. */
  async callWithText<T>(request: ApiRequest<T>): Promise<{ value: T; text: string }> {
    const loading = shapeOf(request);
    // A request that fails never looks at it.
    loading.catch(() => undefined);
    const { facts, answer } = await this.#answered(request);
    return { value: readResponse(facts, await loading, answer), text: answer.text };
  }

  /**
   * Calls an endpoint whose answer has no known shape, in every other respect like `call`.
   * @throws SvcError for every failure, also for an answer that is neither JSON nor empty
   */
  async callAny(request: Omit<ApiRequest<unknown>, 'shape'>): Promise<AnyResponse> {
    const { facts, answer } = await this.#answered(request);
    return readAnyResponse(facts, answer);
  }

  async #answered(request: ApiRequest<unknown>): Promise<{ facts: CallFacts; answer: ReadResponse }> {
    const { clock, signal, random, maxWaitMs, pacer, trace } = this.#options;
    const key = await this.#options.key(request.key);
    const url = buildUrl(this.#options.baseUrl, request.path, request.query);
    const facts: CallFacts = { request, url, keyOrigin: key.origin, hide: hiderOf(key.value) };
    const policy = { clock, signal, random, maxWaitMs, attempts: request.attempts, quota: this.#quota };
    const answer = await withRetry((index) => this.#attempt(facts, key.value, index), {
      ...policy,
      onWait: (ms, failure) => {
        const isLimit = isSvcError(failure.error) && failure.error.status === 429;
        // Whatever else is sent with this key would be refused as well.
        if (isLimit) pacer.hold(request.key, request.path, ms);
        trace?.({ kind: 'wait', why: isLimit ? 'rate limit' : 'retry', ms });
      },
    });
    this.#quota.refill();
    return { facts, answer };
  }

  async #attempt(
    facts: CallFacts,
    key: string,
    index: number,
  ): Promise<{ value: ReadResponse } | RetryableFailure> {
    const outcome = await this.#sender.send(facts, key, index);
    if ('text' in outcome && outcome.status < 300) return { value: outcome };
    const error = failedError(facts, outcome);
    if (!mayRetry(outcome, repeatableOf(facts.request))) throw error;
    return { error, askedMs: 'text' in outcome ? this.#askedPause(facts, outcome) : undefined };
  }

  #askedPause({ request }: CallFacts, answer: ReadResponse): number | undefined {
    const asked = retryAfterMs(answer.header('retry-after'), this.serviceClock.now());
    if (asked !== undefined || answer.status !== 429) return asked;
    return this.#options.pacer.blockMs(request.key, request.path);
  }
}

async function shapeOf<T>({ shape }: ApiRequest<T>): Promise<Shape<T> | undefined> {
  return typeof shape === 'function' ? shape() : shape;
}

/** Takes the key out of a text. */
function hiderOf(key: string): (text: string) => string {
  return (text) => (key === '' ? text : text.replaceAll(key, '(the key)'));
}

/** The error for an attempt that is not to be repeated. */
function failedError(facts: CallFacts, outcome: ReadResponse | { failure: TransportFailure }): SvcError {
  const repeatable = repeatableOf(facts.request);
  if ('failure' in outcome) {
    const { failure } = outcome;
    return isUnclear(outcome, repeatable)
      ? unclearError(facts, failure.message)
      : networkError(facts, failure);
  }
  const problem = readProblem(outcome.text, outcome.header('content-type'));
  const requestId = requestIdOf(outcome) ?? problem.requestId;
  if (outcome.status < 400)
    return redirectError(facts, outcome.status, outcome.header('location'), requestId);
  if (isUnclear(outcome, repeatable)) {
    return unclearError(
      facts,
      `the service answered ${outcome.status}${problem.summary ? `: ${problem.summary}` : ''}`,
      outcome.status,
      requestId,
    );
  }
  return refusalError(facts, outcome.status, { ...problem, requestId });
}

/** What to throw when the signal ends a request that was sent: it may have taken effect, and must say so (R20). */
function abortedError(facts: CallFacts, reason: unknown): unknown {
  if (repeatableOf(facts.request) === 'always' || !(reason instanceof SvcError)) return reason;
  const unclear = unclearError(facts, reason.message);
  if (reason.code === 'timeout') return unclear;
  return new SvcError(reason.code, `${reason.message}; ${unclear.message}`, { hint: unclear.hint });
}

/** What is needed to send a request once. */
export interface SenderOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly pacer: Pacer;
  readonly userAgent: string;
  readonly limits?: TimeLimits | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly trace?: Trace | undefined;
}

/** How one sending ended: with an answer of any status, or without. */
export type Sent = ReadResponse | { readonly failure: TransportFailure };

const MAX_BODY = 64 * 1024 * 1024;
const MAX_ERROR_BODY = 64 * 1024;

/** Sends requests, each once: paced, traced, its answer read. */
class Sender {
  readonly #options: SenderOptions;
  readonly #serviceClock: ServiceClock;

  constructor(options: SenderOptions, serviceClock: ServiceClock) {
    this.#options = options;
    // Many requests may wait on it at once; that is no leak.
    if (options.signal) setMaxListeners(0, options.signal);
    this.#serviceClock = serviceClock;
  }

  /** Sends once. Rejects only with what the signal gave as its reason, or for a proxy that cannot be used. */
  async send(facts: CallFacts, key: string, attempt: number): Promise<Sent> {
    const { clock, pacer, signal, trace } = this.#options;
    const { request, url } = facts;
    const { method } = request;
    const outgoing = this.#outgoing(facts, key);
    const ended = await pacer.take(request.key, request.path, signal, (ms) =>
      trace?.({ kind: 'wait', why: 'pacing', ms }),
    );
    const started = clock.now();
    trace?.({ kind: 'request', method, url, attempt });
    try {
      const answer = await this.#exchange(facts, outgoing);
      const { status } = answer;
      const ms = clock.now() - started;
      trace?.({ kind: 'answer', method, url, status, ms, requestId: requestIdOf(answer) });
      return answer;
    } catch (error) {
      if (!(error instanceof TransportFailure)) throw error;
      trace?.({ kind: 'failure', method, url, reason: error.message, ms: clock.now() - started });
      return { failure: error };
    } finally {
      ended();
    }
  }

  async #exchange(facts: CallFacts, outgoing: ExchangeRequest): Promise<ReadResponse> {
    let sent = false;
    try {
      return await this.#readAnswer(facts, { ...outgoing, onSent: () => (sent = true) });
    } catch (error) {
      throw sent && !(error instanceof TransportFailure) ? abortedError(facts, error) : error;
    }
  }

  #outgoing({ request, url }: CallFacts, key: string): ExchangeRequest {
    const { userAgent, limits = API_LIMITS, signal } = this.#options;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      'svc-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const fresh = repeatableOf(request) === 'unsent';
    const { method, key: keyKind } = request;
    return { method, url, headers, keyKind, body, limits, signal, fresh };
  }

  async #readAnswer({ hide }: CallFacts, outgoing: ExchangeRequest): Promise<ReadResponse> {
    const answer = await exchange(this.#options.transport, outgoing);
    this.#serviceClock.learn(answer.header('date'));
    const { status } = answer;
    const isError = status >= 300;
    const { bytes, complete } = await (isError ? answer.readPartial(MAX_ERROR_BODY) : answer.read(MAX_BODY));
    const text = textOf(bytes);
    const header = (name: string): string | undefined => {
      const value = answer.header(name);
      return value === undefined ? undefined : hide(value);
    };
    // Something on the way may echo what it was sent, the key too.
    const allHeaders = (): [string, string][] => answer.headers().map(([name, value]) => [name, hide(value)]);
    return { status, text: isError ? hide(text) : text, complete, header, headers: allHeaders };
  }
}

function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
